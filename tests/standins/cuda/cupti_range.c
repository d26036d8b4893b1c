/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The range profiler of the stand-in CUPTI. A pass counts only what was scheduled into it, from the
 * device's own sums at push and at pop; ranges of one name in several passes are one range.
 * Automatic ranges, one around each launch of a kernel, which waits for its kernel, are told by the
 * driver.
 */
#include "cupti.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEVELS 4

struct cupti_range_profiler {
	struct cupti_range_profiler *next; /* of those that are enabled */
	struct CUctx_st *context;
	/* For how many ranges the size of an image was asked last, 0: never. The real one crashes
	 * without, and goes by it, not by the size that it is given. */
	size_t asked;
	bool configured, started, stopped, decoded;
	bool broken;                   /* a stop failed: all that is left is to disable it */
	bool automatic, was_automatic; /* now; ever: then no range can be pushed any more */
	bool spoilt;                   /* a graph was launched in a pass of automatic ranges */
	struct config_image config;
	uint8_t *data;
	size_t data_size, max_ranges;
	/* Ranges that the image has room for: more are forgotten without a word. */
	size_t image_room;
	unsigned n_levels, depth;
	uint32_t pass; /* that runs or ran last, from 1; 0: none yet */
	size_t n, pushed, dropped;
	struct data_range *ranges;
	uint64_t begin[RAWS];
	struct data_range *open; /* the innermost; NULL: dropped */
};

static struct {
	pthread_mutex_t lock;
	bool initialised;
	struct cupti_range_profiler *profilers;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define CUPTI(name, params)              \
	STANDIN_API int name(params *p); \
	STANDIN_API int name(params *p)

static struct cupti_range_profiler *known(const struct cupti_range_profiler *profiler)
{
	struct cupti_range_profiler *r;

	pthread_mutex_lock(&state.lock);
	for (r = state.profilers; r && r != profiler;)
		r = r->next;
	pthread_mutex_unlock(&state.lock);
	return r;
}

/* What every call of an enabled profiler must satisfy. */
static int enabled(const char *function, const struct cupti_range_profiler *r)
{
	if (!known(r))
		return refuse(CUPTI_INVALID_PARAMETER, "%s: no profiler object", function);
	if (!driver() || driver()->current() != r->context)
		return refuse(RESULT_INVALID_CONTEXT, "%s: another context is current", function);
	return 0;
}

CUPTI(cuptiProfilerInitialize, struct cupti_profiler_initialize)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_profiler_initialize, reserved));

	if (rc)
		return rc;
	if (!driver())
		return CUPTI_UNKNOWN;
	state.initialised = true;
	return 0;
}

CUPTI(cuptiDeviceGetChipName, struct cupti_chip_name)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_chip_name, chip));

	if (rc)
		return rc;
	if (!state.initialised)
		return refuse(RESULT_NOT_INITIALIZED, "%s before cuptiProfilerInitialize",
			      __func__);
	if (p->device >= (size_t)standin_devices())
		return RESULT_INVALID_DEVICE;
	p->chip = STANDIN_CHIP;
	return 0;
}

CUPTI(cuptiProfilerDeviceSupported, struct cupti_device_supported)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_device_supported, api));

	if (rc)
		return rc;
	if (!state.initialised)
		return refuse(RESULT_NOT_INITIALIZED, "%s before cuptiProfilerInitialize",
			      __func__);
	if (p->device < 0 || p->device >= standin_devices() || p->api)
		return RESULT_INVALID_DEVICE;
	p->architecture = p->sli = p->vgpu = p->confidential = p->cmp = p->wsl = 3;
	if (standin_fault("vgpu", NULL))
		p->vgpu = 2;
	p->supported = p->vgpu;
	return 0;
}

CUPTI(cuptiProfilerGetCounterAvailability, struct cupti_availability)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_availability, image));

	if (rc)
		return rc;
	if (!state.initialised)
		return refuse(RESULT_NOT_INITIALIZED, "%s before cuptiProfilerInitialize",
			      __func__);
	if (!p->context || !driver()->alive(p->context))
		return refuse(RESULT_INVALID_CONTEXT, "%s: no context", __func__);
	pthread_mutex_lock(&state.lock);
	for (const struct cupti_range_profiler *r = state.profilers; r; r = r->next)
		if (r->context == p->context)
			rc = RESULT_INVALID_OPERATION;
	pthread_mutex_unlock(&state.lock);
	if (rc)
		return refuse(rc, "%s in a session", __func__);
	if (!p->image) {
		p->image_size = 8;
		return 0;
	}
	if (p->image_size < 8)
		return refuse(RESULT_SIZE_NOT_SUFFICIENT, "%s: %zu bytes", __func__, p->image_size);
	memcpy(p->image, "SDAVAILS", 8);
	return 0;
}

CUPTI(cuptiRangeProfilerEnable, struct cupti_range_enable)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_range_enable, profiler));
	struct cupti_range_profiler *r;

	if (rc)
		return rc;
	if (!state.initialised)
		return refuse(RESULT_NOT_INITIALIZED, "%s before cuptiProfilerInitialize",
			      __func__);
	if (!p->context || !driver()->alive(p->context))
		return refuse(RESULT_INVALID_CONTEXT, "%s: no context", __func__);
	if (standin_fault("privilege", NULL))
		return CUPTI_INSUFFICIENT_PRIVILEGES;
	if (standin_fault("mig", NULL))
		return RESULT_MIG;
	if (standin_fault("mps", NULL))
		return CUPTI_NOT_SUPPORTED;
	if (standin_fault("busy", NULL))
		return RESULT_HARDWARE_BUSY;
	r = calloc(1, sizeof(*r));
	if (!r)
		return RESULT_OUT_OF_MEMORY;
	r->context = p->context;
	pthread_mutex_lock(&state.lock);
	for (const struct cupti_range_profiler *k = state.profilers; k; k = k->next)
		if (k->context == r->context)
			rc = RESULT_INVALID_OPERATION;
	if (!rc) {
		r->next = state.profilers;
		state.profilers = r;
	}
	pthread_mutex_unlock(&state.lock);
	if (rc) {
		free(r);
		return refuse(rc, "%s: the context has a profiler", __func__);
	}
	p->profiler = r;
	return 0;
}

CUPTI(cuptiRangeProfilerDisable, struct cupti_range_profiler_only)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_range_profiler_only, profiler));
	struct cupti_range_profiler *r = p->profiler;

	if (rc)
		return rc;
	if (!known(r))
		return refuse(CUPTI_INVALID_PARAMETER, "%s: no profiler object", __func__);
	if (r->started && !r->broken)
		refuse(RESULT_INVALID_OPERATION, "%s in a pass", __func__);
	pthread_mutex_lock(&state.lock);
	for (struct cupti_range_profiler **at = &state.profilers; *at; at = &(*at)->next)
		if (*at == r) {
			*at = r->next;
			break;
		}
	pthread_mutex_unlock(&state.lock);
	free(r->ranges);
	free(r);
	return 0;
}

/* ---- the counter data image ---- */

/* Grows with the number of names, as the real one does. */
static size_t image_size(size_t ranges, size_t names)
{
	return sizeof(struct data_image) + ranges * (sizeof(struct data_range) + 64 * names);
}

CUPTI(cuptiRangeProfilerGetCounterDataSize, struct cupti_range_data_size)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_range_data_size, data_size));
	const char *suffix;

	rc = rc ? rc : enabled(__func__, p->profiler);
	if (rc)
		return rc;
	if (!p->max_ranges || p->max_nodes < p->max_ranges || !p->n)
		return refuse(CUPTI_INVALID_PARAMETER, "%s: %zu ranges, %u nodes, %zu names",
			      __func__, p->max_ranges, p->max_nodes, p->n);
	for (size_t i = 0; i < p->n; i++)
		if (!metric_find(p->names[i], &suffix))
			return refuse(CUPTI_INVALID_PARAMETER, "%s: '%s'", __func__, p->names[i]);
	p->data_size = image_size(p->max_ranges, p->n);
	p->profiler->asked = p->max_ranges;
	return 0;
}

CUPTI(cuptiRangeProfilerCounterDataImageInitialize, struct cupti_range_data_initialize)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_range_data_initialize, data));
	struct data_image d = {.magic = DATA_MAGIC};

	rc = rc ? rc : enabled(__func__, p->profiler);
	if (rc)
		return rc;
	if (!p->data || p->data_size < image_size(1, 1))
		return refuse(RESULT_SIZE_NOT_SUFFICIENT, "%s: %zu bytes", __func__, p->data_size);
	if (!p->profiler->asked)
		return refuse(RESULT_INVALID_OPERATION, "%s before the size was asked for",
			      __func__);
	if (p->data_size < image_size(p->profiler->asked, 1))
		return CUPTI_UNKNOWN;
	if (p->profiler->started)
		return refuse(RESULT_INVALID_OPERATION, "%s in a pass", __func__);
	d.room = (uint32_t)p->profiler->asked;
	d.size = p->data_size;
	memcpy(p->data, &d, sizeof(d));
	return 0;
}

CUPTI(cuptiRangeProfilerGetCounterDataInfo, struct cupti_range_data_info)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_range_data_info, n_ranges));
	struct data_image d;

	if (rc)
		return rc;
	if (!p->data || p->data_size < sizeof(d))
		return refuse(RESULT_SIZE_NOT_SUFFICIENT, "%s: %zu bytes", __func__, p->data_size);
	memcpy(&d, p->data, sizeof(d));
	if (memcmp(d.magic, DATA_MAGIC, 8) || d.size != p->data_size)
		return refuse(CUPTI_INVALID_PARAMETER, "%s: no counter data image", __func__);
	p->n_ranges = d.n;
	return 0;
}

/* ---- ranges ---- */

static void range_begin(struct cupti_range_profiler *r, const char *name)
{
	r->pushed++;
	r->open = NULL;
	for (size_t i = 0; i < r->n && !r->open; i++)
		if (!strcmp(r->ranges[i].name, name))
			r->open = &r->ranges[i];
	if (!r->open && r->n < r->max_ranges && r->n < r->image_room) {
		r->open = &r->ranges[r->n++];
		strncpy(r->open->name, name, sizeof(r->open->name) - 1);
		for (int i = 0; i < RAWS; i++)
			r->open->counted[i] = (double)NAN;
	}
	if (!r->open && r->n < r->max_ranges)
		return; /* forgotten without a word */
	r->dropped += !r->open;
	driver()->wait_idle(r->context);
	driver()->raw(r->context, r->begin);
	if (driver()->cold())
		standin_count("ranges with a cold L2", 1);
}

static void range_end(struct cupti_range_profiler *r)
{
	uint64_t end[RAWS];

	driver()->wait_idle(r->context);
	driver()->raw(r->context, end);
	for (int i = 0; r->open && i < RAWS; i++)
		if (r->config.pass_of[i] == r->pass)
			r->open->counted[i] = (double)(end[i] - r->begin[i]);
	r->open = NULL;
}

static void launching(struct CUctx_st *context, bool graph, bool after)
{
	struct cupti_range_profiler *r;
	char name[24];

	pthread_mutex_lock(&state.lock);
	for (r = state.profilers; r && r->context != context;)
		r = r->next;
	pthread_mutex_unlock(&state.lock);
	if (!r || !r->started || !r->automatic)
		return;
	r->spoilt |= graph;
	snprintf(name, sizeof(name), "%zu", r->pushed);
	if (!graph && after)
		range_end(r);
	else if (!graph)
		range_begin(r, name);
}

/* ---- passes ---- */

CUPTI(cuptiRangeProfilerSetConfig, struct cupti_range_config)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_range_config, target_level));
	struct cupti_range_profiler *r = p->profiler;
	struct config_image c;
	struct data_image d;

	rc = rc ? rc : enabled(__func__, r);
	if (rc)
		return rc;
	if (r->started)
		return refuse(RESULT_INVALID_OPERATION, "%s in a pass", __func__);
	if (p->config_size < sizeof(c) || !p->config)
		return refuse(RESULT_SIZE_NOT_SUFFICIENT, "%s: configuration of %zu bytes",
			      __func__, p->config_size);
	memcpy(&c, p->config, sizeof(c));
	if (memcmp(c.magic, CONFIG_MAGIC, 8) || c.check != config_check(&c))
		return refuse(CUPTI_INVALID_PARAMETER, "%s: no configuration image", __func__);
	if (p->data_size < image_size(p->max_ranges ? p->max_ranges : 1, 1) || !p->data)
		return refuse(RESULT_SIZE_NOT_SUFFICIENT, "%s: %zu bytes for %zu ranges", __func__,
			      p->data_size, p->max_ranges);
	memcpy(&d, p->data, sizeof(d));
	if (memcmp(d.magic, DATA_MAGIC, 8) || d.size != p->data_size)
		return refuse(CUPTI_INVALID_PARAMETER, "%s: no initialised counter data", __func__);
	if ((p->range != CUPTI_RANGE_USER && p->range != CUPTI_RANGE_AUTO) ||
	    p->replay != CUPTI_REPLAY_USER || !p->max_ranges || !p->n_levels ||
	    p->n_levels > LEVELS || p->min_level != 1 || p->pass || p->target_level > 1)
		return refuse(CUPTI_INVALID_PARAMETER, "%s: ranges, levels or pass", __func__);
	r->config = c;
	r->data = p->data;
	r->data_size = p->data_size;
	r->max_ranges = p->max_ranges;
	r->image_room = d.room;
	r->n_levels = p->n_levels;
	r->automatic = p->range == CUPTI_RANGE_AUTO;
	r->was_automatic |= r->automatic;
	driver()->launching = launching;
	free(r->ranges);
	r->ranges = calloc(r->max_ranges, sizeof(*r->ranges));
	if (!r->ranges)
		return RESULT_OUT_OF_MEMORY;
	r->pass = 0;
	r->n = r->pushed = r->dropped = 0;
	r->configured = true;
	r->decoded = r->stopped = false;
	return 0;
}

CUPTI(cuptiRangeProfilerStart, struct cupti_range_profiler_only)
{
	unsigned ms = 0;
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_range_profiler_only, profiler));
	struct cupti_range_profiler *r = p->profiler;

	rc = rc ? rc : enabled(__func__, r);
	if (rc)
		return rc;
	if (!r->configured || r->started)
		return refuse(RESULT_INVALID_OPERATION, "%s: %s", __func__,
			      r->started ? "started already" : "no configuration");
	if (standin_fault("slow", &ms))
		usleep(1000 * ms);
	if (r->pass == r->config.passes)
		return refuse(RESULT_INVALID_OPERATION, "%s: all passes were submitted", __func__);
	if (standin_fault("start", NULL))
		return CUPTI_UNKNOWN;
	r->pass++;
	r->pushed = r->dropped = 0;
	r->depth = 0;
	r->spoilt = false;
	r->started = true;
	r->stopped = false;
	return 0;
}

CUPTI(cuptiRangeProfilerPushRange, struct cupti_range_push)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_range_push, name));
	struct cupti_range_profiler *r = p->profiler;

	rc = rc ? rc : enabled(__func__, r);
	if (rc)
		return rc;
	if (r->was_automatic)
		return refuse(CUPTI_INVALID_PARAMETER, "%s: ranges are automatic", __func__);
	if (!r->started || r->depth == r->n_levels || !p->name)
		return refuse(RESULT_INVALID_OPERATION, "%s: %s", __func__,
			      r->started ? "too deep, or without a name" : "not in a pass");
	r->depth++;
	range_begin(r, p->name);
	return 0;
}

CUPTI(cuptiRangeProfilerPopRange, struct cupti_range_profiler_only)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_range_profiler_only, profiler));
	struct cupti_range_profiler *r = p->profiler;

	rc = rc ? rc : enabled(__func__, r);
	if (rc)
		return rc;
	if (r->automatic || !r->started || !r->depth)
		return refuse(RESULT_INVALID_OPERATION, "%s: %s", __func__,
			      r->automatic ? "ranges are automatic"
			      : r->started ? "no range is open"
					   : "not in a pass");
	r->depth--;
	range_end(r);
	return 0;
}

CUPTI(cuptiRangeProfilerStop, struct cupti_range_stop)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_range_stop, all_passes));
	struct cupti_range_profiler *r = p->profiler;

	rc = rc ? rc : enabled(__func__, r);
	if (rc)
		return rc;
	if (!r->started || r->depth)
		return refuse(RESULT_INVALID_OPERATION, "%s: %s", __func__,
			      r->started ? "a range is open" : "not in a pass");
	if (r->spoilt || standin_fault("stop", NULL)) {
		r->broken = true;
		return CUPTI_UNKNOWN;
	}
	r->started = false;
	r->stopped = true;
	p->pass = r->pass;
	p->target_level = 1;
	p->all_passes = r->pass == r->config.passes;
	standin_count("passes", 1);
	standin_count(r->automatic ? "automatic ranges" : "ranges", r->pushed);
	return 0;
}

CUPTI(cuptiRangeProfilerDecodeData, struct cupti_range_decode)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_range_decode, dropped));
	struct cupti_range_profiler *r = p->profiler;
	struct data_image d = {.magic = DATA_MAGIC};

	rc = rc ? rc : enabled(__func__, r);
	if (rc)
		return rc;
	if (r->started || !r->stopped)
		return refuse(RESULT_INVALID_OPERATION, "%s before the pass was stopped", __func__);
	if (standin_fault("decode", NULL))
		return CUPTI_UNKNOWN;
	driver()->wait_idle(r->context);
	d.size = r->data_size;
	d.room = (uint32_t)r->max_ranges;
	d.n = (uint32_t)r->n;
	memcpy(r->data, &d, sizeof(d));
	memcpy(r->data + sizeof(d), r->ranges, r->n * sizeof(*r->ranges));
	p->dropped = r->dropped;
	return 0;
}
