/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer's entry points, as the loaders call them, and its beginning and end. ocl-icd calls
 * clGetLayerInfo and clInitLayer; the Khronos loader skips, without a word, a layer that has no
 * clInitLayerWithProperties. Only the entries that are hooked are filled in: a loader takes the
 * next layer's, or its own, for those that are NULL.
 */
#include "runtime/opencl/opencl_internal.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* As the loaders declare them. */
int32_t clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *size_out);
int32_t clInitLayer(uint32_t n, const struct opencl_dispatch *target, uint32_t *n_out,
		    const struct opencl_dispatch **ours_out);
int32_t clInitLayerWithProperties(uint32_t n, const struct opencl_dispatch *target, uint32_t *n_out,
				  const struct opencl_dispatch **ours_out,
				  const uint64_t *properties);
int32_t clDeinitLayer(void);

static const struct runtime runtime_opencl = {
	.name = "opencl",
	.size = sizeof(struct runtime),
	.capabilities = RUNTIME_ORDERED_SAVE | RUNTIME_TRACKS_WRITES,
	.drain = drain,
	.store_get = memory_store_get,
	.store_put = memory_store_put,
	.save = memory_save,
	.restore = memory_restore,
	.compare = memory_compare,
	.hash = memory_hash,
	.track = written_track,
	.changed = written_changed,
	.launch = record_launch,
	.times = record_times,
	.op_release = record_release,
};
/* The same for kernels that do not remember writes. */
static struct runtime runtime_plain;

const struct runtime *runtime_opencl_callbacks(void)
{
	if (written_is_supported())
		return &runtime_opencl;
	runtime_plain = runtime_opencl;
	runtime_plain.capabilities &= ~(uint32_t)RUNTIME_TRACKS_WRITES;
	runtime_plain.track = NULL;
	runtime_plain.changed = NULL;
	return &runtime_plain;
}

static void forked(void)
{
	/* The engine's threads, locks and counters are the parent's. */
	atomic_store(&layer.attached, false);
}

static void (*on_start)(void);

void runtime_opencl_on_start(void (*start)(void))
{
	on_start = start;
}

int runtime_opencl_attach(struct replay *engine, const struct runtime_opencl_options *options,
			  struct error *err)
{
	static bool registered;

	if (layer_is_on())
		return error_set(err, RC_BUSY, "the OpenCL layer has an engine already");
	layer.engine = engine;
	layer.options = *options;
	layer.callbacks = options->callbacks ? options->callbacks : runtime_opencl_callbacks();
	if (!registered && pthread_atfork(NULL, NULL, forked))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	registered = true;
	atomic_store(&layer.attached, true);
	return 0;
}

void runtime_opencl_detach(void)
{
	if (!layer_is_on())
		return;
	rules_apply_context("exit", NULL);
	atomic_store(&layer.attached, false);
}

static void fill(struct opencl_dispatch *t)
{
	hooks_objects(t);
	hooks_kernels(t);
	hooks_dispatch(t);
	hooks_transfer(t);
	hooks_host(t);
}

const struct opencl_dispatch *layer_take(const struct opencl_dispatch *target, uint32_t n)
{
	static struct opencl_dispatch ours;
	static atomic_bool is_taken;
	void **entries = (void **)(void *)&ours;
	void *const *theirs = (void *const *)(const void *)target;

	if (!layer_is_on() || atomic_exchange(&is_taken, true))
		return NULL;
	memcpy(&layer.next, target, (n < OPENCL_N_ENTRIES ? n : OPENCL_N_ENTRIES) * sizeof(void *));
	fill(&ours);
	/* What the loader does not have cannot be called, and is nothing to stand in front of. */
	for (uint32_t i = 0; i < OPENCL_N_ENTRIES; i++)
		if (i >= n || !theirs[i])
			entries[i] = NULL;
	return &ours;
}

/* ---- entry points ---- */

EXPORT int32_t clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *size_out)
{
	static const char name[] = "retally";
	static const uint32_t version = OPENCL_LAYER_API_VERSION_100;
	const void *from;
	size_t n;

	switch (what) {
	case OPENCL_LAYER_API_VERSION:
		from = &version;
		n = sizeof(version);
		break;
	case OPENCL_LAYER_NAME:
		from = name;
		n = sizeof(name);
		break;
	default:
		return OPENCL_INVALID_VALUE;
	}
	if (value && size < n)
		return OPENCL_INVALID_VALUE;
	if (value)
		memcpy(value, from, n);
	if (size_out)
		*size_out = n;
	return OPENCL_SUCCESS;
}

EXPORT int32_t clInitLayer(uint32_t n, const struct opencl_dispatch *target, uint32_t *n_out,
			   const struct opencl_dispatch **ours_out)
{
	static const struct opencl_dispatch none;
	const struct opencl_dispatch *ours;

	if (!target || !n_out || !ours_out)
		return OPENCL_INVALID_VALUE;
	*n_out = OPENCL_N_ENTRIES;
	*ours_out = &none;
	if (!layer_is_on() && on_start)
		on_start();
	ours = layer_take(target, n);
	if (!ours)
		return OPENCL_SUCCESS;
	*ours_out = ours;
	/* The vendor's library, which is loaded by now or will be at the first call, ends before
	 * this handler would if it registered later; ours must come first. */
	atexit(runtime_opencl_detach);
	return OPENCL_SUCCESS;
}

EXPORT int32_t clInitLayerWithProperties(uint32_t n, const struct opencl_dispatch *target,
					 uint32_t *n_out, const struct opencl_dispatch **ours_out,
					 const uint64_t *properties)
{
	(void)properties;
	return clInitLayer(n, target, n_out, ours_out);
}

EXPORT int32_t clDeinitLayer(void)
{
	runtime_opencl_detach();
	return OPENCL_SUCCESS;
}
