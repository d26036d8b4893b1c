/* SPDX-License-Identifier: Apache-2.0 */
/* Counting on an NVIDIA device: see cuda_device.h. */
#include "source/cuda/cuda_device.h"

#include "source/cuda/cuda_groups.h"
#include "source/cuda/cuda_turns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a profiler object was last asked: the bytes of counter data for n ranges of a group. */
struct sized {
	const struct cuda_group *group; /* NULL: nothing yet */
	uint32_t n;
	size_t size;
};

struct cuda_device {
	const struct cuda_native *native;
	const struct cuda_target *t;
	struct cuda_groups groups;
	struct cupti_range_profiler *profiler; /* NULL: another process may have the counters */
	bool turn;                             /* taken */
	double *values;                        /* room for the largest group */
	/* The pass in hand. */
	const struct cuda_group *group;
	uint32_t part; /* from 1; 0: none is configured */
	uint32_t pass; /* of the plan, as which it is recorded */
	bool started;
	enum source_units units, expected; /* of the pass in hand, and of the next one */
	uint32_t own;                      /* kernels of ours before each unit of the next one */
	uint32_t per_unit;                 /* ranges of each unit, the last is it */
	bool automatic;                    /* what the profiler object was configured for */
	bool in_range;
	bool stuck; /* a pass failed: only another profiler object can start */
	bool decoded;
	uint32_t n_units;            /* ended in this part */
	uint8_t *data;               /* counter data image */
	size_t data_size, data_room; /* bytes in use, and allocated */
	uint32_t most_units;
	uint32_t room; /* ranges that the profiler object was configured for; 0: not yet */
	struct sized sized;
};

int cuda_target_fail(struct error *err, const char *what, int result)
{
	switch (result) {
	case 35:
	case 40:
		return error_set(err, RC_PERMISSION,
				 "this user may not read the GPU's performance counters "
				 "(ERR_NVGPUCTRPERM): run as root, or load the driver with "
				 "NVreg_RestrictProfilingToAdminUsers=0");
	case 26:
		return error_set(err, RC_BUSY,
				 "the GPU's counters are in use by another profiler or monitor");
	case 39:
		return error_set(err, RC_BUSY, "another CUPTI client is active in this process");
	case 43:
		return error_set(err, RC_UNSUPPORTED,
				 "a MIG slice that shares units cannot be profiled");
	case 33:
	case 41:
	case 42:
	case 44:
	case 45:
		return error_set(err, RC_UNSUPPORTED,
				 "this kind of device cannot be profiled (CUPTI error %d)", result);
	default:
		return error_set(err, RC_ERROR, "%s failed (CUPTI error %d)", what, result);
	}
}

static int cuda_device_supported(const struct cuda_native *n, struct error *err)
{
	CUPTI_NEW(struct cupti_device_supported, p, api);
	int result;

	p.device = n->ordinal;
	result = n->target->cuptiProfilerDeviceSupported(&p);
	if (result)
		return cuda_target_fail(err, "asking whether the device can be profiled", result);
	if (p.supported == 3)
		return 0;
	return error_set(err, RC_UNSUPPORTED, "the device cannot be profiled:%s%s%s%s%s%s",
			 p.architecture != 3 ? " architecture (compute capability 7.5 or later)"
					     : "",
			 p.sli != 3 ? " SLI" : "", p.vgpu != 3 ? " vGPU" : "",
			 p.confidential != 3 ? " confidential computing" : "",
			 p.cmp != 3 ? " CMP" : "", p.wsl != 3 ? " WSL" : "");
}

#define ATTRIBUTE_MPS_ENABLED 133 /* since CUDA 12.4 */

static bool is_shared(const struct cuda_native *n)
{
	int enabled = 0;

	return !n->driver->device_attribute(&enabled, ATTRIBUTE_MPS_ENABLED, n->ordinal) && enabled;
}

static void cuda_device_turn_over(struct cuda_device *d)
{
	if (d->turn)
		cuda_turns_give(d->native->turns);
	d->turn = false;
}

static int cuda_device_take_turn(struct cuda_device *d, struct error *err)
{
	int rc = d->native->turns && !d->turn ? cuda_turns_take(d->native->turns, err) : 0;

	d->turn |= !rc && d->native->turns;
	return rc;
}

/* Takes the counters, which belong to one process at a time, if this one does not have them. */
static int cuda_device_enable(struct cuda_device *d, struct error *err)
{
	CUPTI_NEW(struct cupti_range_enable, p, profiler);
	int rc, result;

	if (d->profiler)
		return 0;
	rc = cuda_device_take_turn(d, err);
	if (rc)
		return rc;
	p.context = d->native->context;
	result = d->t->cuptiRangeProfilerEnable(&p);
	if (result) {
		cuda_device_turn_over(d);
		if (is_shared(d->native))
			return error_set(err, RC_UNSUPPORTED,
					 "processes share the GPU through MPS, under which its "
					 "counters cannot be had (CUPTI error %d)",
					 result);
		return cuda_target_fail(err, "taking the GPU's counters", result);
	}
	d->profiler = p.profiler;
	d->room = 0;
	d->sized.group = NULL;
	return 0;
}

static void cuda_device_disable(struct cuda_device *d)
{
	CUPTI_NEW(struct cupti_range_profiler_only, p, profiler);

	if (!d->profiler)
		return;
	p.profiler = d->profiler;
	d->profiler = NULL;
	d->stuck = false; /* what was decoded can still be read */
	d->t->cuptiRangeProfilerDisable(&p);
}

/* No pass is open. While the program goes on, another process that shares the GPU may count: it may
 * even be what the program waits for. Alone, the counters are kept: to take them again costs 10 to
 * 60 ms. */
static void cuda_device_yield(struct cuda_device *d)
{
	if (!d->turn || d->in_range || !cuda_turns_shared(d->native->turns))
		return;
	cuda_device_disable(d);
	cuda_device_turn_over(d);
}

static void cuda_device_close(void *device)
{
	struct cuda_device *d = device;

	if (!d)
		return;
	/* With a range open a kernel may still run, for ever perhaps, and CUPTI would wait for it;
	 * nor is a profiler to be taken down in a pass. The process ends, and with it the session.
	 */
	if (!d->in_range) {
		cuda_device_disable(d);
		cuda_device_turn_over(d);
	}
	cuda_groups_release(&d->groups);
	free(d->values);
	free(d->data);
	free(d);
}

/* The counter data image takes more than a megabyte a range with 57 counters: what fits into this.
 */
#define IMAGE_MOST  (384u << 20)
#define UNITS_LEAST 16u
#define UNITS_MOST  1024u

static int cuda_device_ask_size(struct cuda_device *d, const struct cuda_group *group, uint32_t n,
				size_t *size_out, struct error *err)
{
	CUPTI_NEW(struct cupti_range_data_size, p, data_size);
	int result;

	p.profiler = d->profiler;
	p.names = group->names;
	p.n = group->n;
	p.max_ranges = n;
	p.max_nodes = n;
	result = d->t->cuptiRangeProfilerGetCounterDataSize(&p);
	*size_out = p.data_size;
	return result ? cuda_target_fail(err, "sizing the counter data", result) : 0;
}

/* Fact (CUPTI 13.0, H200): the question takes 2.5 ms, and the object goes by what it was asked
 * last: an image initialised for another number of ranges fails (error 999) or keeps fewer of them,
 * without a word; one of an object that was never asked crashes. */
static int cuda_device_image_size(struct cuda_device *d, const struct cuda_group *group, uint32_t n,
				  size_t *size_out, struct error *err)
{
	struct sized *s = &d->sized;
	int rc;

	if (s->group != group || s->n != n) {
		s->group = NULL;
		rc = cuda_device_ask_size(d, group, n, &s->size, err);
		if (rc)
			return rc;
		s->group = group;
		s->n = n;
	}
	*size_out = s->size;
	return 0;
}

static int cuda_device_limit(struct cuda_device *d, struct error *err)
{
	uint64_t most = UNITS_MOST;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < d->groups.n; i++) {
		size_t one = 0, many = 0;

		rc = cuda_device_image_size(d, &d->groups.groups[i], 1, &one, err);
		if (!rc)
			rc = cuda_device_image_size(d, &d->groups.groups[i], 101, &many, err);
		if (!rc && many > one && IMAGE_MOST / ((many - one) / 100 + 1) < most)
			most = IMAGE_MOST / ((many - one) / 100 + 1);
	}
	d->most_units = most < UNITS_LEAST ? UNITS_LEAST : (uint32_t)most;
	return rc;
}

static int cuda_device_open(void **device_out, const struct plan *plan, const char *runtime,
			    void *native, uint32_t number, struct error *err)
{
	const struct cuda_native *n = native;
	CUPTI_NEW(struct cupti_profiler_initialize, initialize, reserved);
	struct cuda_device *d;
	int rc, result;

	(void)number;
	if (strcmp(runtime, "cuda"))
		return error_set(err, RC_UNSUPPORTED, "the cuda source counts no '%s' device",
				 runtime);
	d = calloc(1, sizeof(*d));
	if (!d)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	d->native = n;
	d->t = n->target;
	result = d->t->cuptiProfilerInitialize(&initialize);
	rc = result ? cuda_target_fail(err, "starting CUPTI's profiler", result)
		    : cuda_device_supported(n, err);
	/* Fact (CUPTI 13.0, H200): to ask which counters are available fails with error 26 while
	 * another process asks. */
	rc = rc ? rc : cuda_device_take_turn(d, err);
	if (!rc)
		rc = cuda_groups_init(&d->groups, n, plan, err);
	if (!rc) {
		d->values = calloc(d->groups.largest ? d->groups.largest : 1, sizeof(*d->values));
		if (!d->values)
			rc = error_set(err, RC_NO_MEMORY, "out of memory");
	}
	if (!rc)
		rc = cuda_device_enable(d, err);
	if (!rc)
		rc = cuda_device_limit(d, err);
	if (rc) {
		cuda_device_close(d);
		return rc;
	}
	cuda_device_yield(d);
	*device_out = d;
	return 0;
}

static uint32_t cuda_device_most_units(void *device)
{
	const struct cuda_device *d = device;

	return d->most_units;
}

/* An empty counter data image with room for n ranges of the group. */
static int cuda_device_image(struct cuda_device *d, uint32_t n, struct error *err)
{
	CUPTI_NEW(struct cupti_range_data_initialize, initialize, data);
	size_t size;
	int rc = cuda_device_image_size(d, d->group, n, &size, err), result;

	if (rc)
		return rc;
	if (size > d->data_room) {
		free(d->data);
		d->data_room = 0;
		d->data = malloc(size);
		if (!d->data)
			return error_set(err, RC_NO_MEMORY,
					 "no memory for %zu bytes of counter data of %u dispatches",
					 size, n);
		d->data_room = size;
	}
	d->data_size = size;
	initialize.profiler = d->profiler;
	initialize.data_size = d->data_size;
	initialize.data = d->data;
	result = d->t->cuptiRangeProfilerCounterDataImageInitialize(&initialize);
	return result ? cuda_target_fail(err, "preparing the counter data", result) : 0;
}

/* Fact (CUPTI 13.0, H200): a profiler object that was configured for n ranges keeps only the first
 * few of a later pass with more, without a word, and refuses to push a range after a pass of
 * automatic ones (error 1). A new object does not; it takes 10 to 60 ms. */
static int cuda_device_again(struct cuda_device *d, struct error *err)
{
	struct error why = {0};

	cuda_device_disable(d);
	if (cuda_device_enable(d, &why))
		return error_set(err, RC_END, "taking the counters again: %s", why.message);
	return 0;
}

/* Ranges that CUPTI itself puts around the launch of each kernel hold nothing else, and the launch
 * waits for its kernel. Fact (CUPTI 13.0, H200): pushed and popped around the launch of a kernel of
 * 1.9 us, 5 to 12 us are counted; a graph launched in a pass of the other kind spoils the pass
 * (error 999); copies and memsets make no range there. */
static bool is_automatic(const struct cuda_device *d)
{
	return d->units == SOURCE_UNITS_WAITED;
}

static int cuda_device_configure(struct cuda_device *d, const struct cuda_group *group,
				 uint32_t part, uint32_t n, struct error *err)
{
	CUPTI_NEW(struct cupti_range_config, p, target_level);
	int rc = 0, result;

	d->part = 0;
	d->group = group;
	rc = cuda_device_enable(d, err);
	if (rc)
		return rc;
	if (d->stuck || (d->room && (n > d->room || d->automatic != is_automatic(d))))
		rc = cuda_device_again(d, err);
	if (rc)
		return rc;
	d->room = n > d->room ? n : d->room;
	d->automatic = is_automatic(d);
	rc = cuda_device_image(d, n, err);
	if (rc)
		return rc;
	p.profiler = d->profiler;
	p.config_size = group->config_size;
	p.config = group->config;
	p.data_size = d->data_size;
	p.data = d->data;
	p.range = is_automatic(d) ? CUPTI_RANGE_AUTO : CUPTI_RANGE_USER;
	p.replay = CUPTI_REPLAY_USER;
	p.max_ranges = n;
	p.n_levels = 1;
	p.min_level = 1;
	p.pass = part - 1;
	p.target_level = 1;
	result = d->t->cuptiRangeProfilerSetConfig(&p);
	return result ? cuda_target_fail(err, "configuring the counters", result) : 0;
}

static int cuda_device_unit_begin(void *device, const struct source_unit *unit, struct error *err)
{
	struct cuda_device *d = device;
	CUPTI_NEW(struct cupti_range_push, p, name);
	char name[16];
	int result;

	if (is_automatic(d))
		return 0;
	/* The same name in every part joins the parts to one range. */
	snprintf(name, sizeof(name), "%u", unit->index);
	p.profiler = d->profiler;
	p.name = name;
	result = d->t->cuptiRangeProfilerPushRange(&p);
	d->in_range = !result;
	return result ? cuda_target_fail(err, "beginning a range", result) : 0;
}

static int cuda_device_unit_end(void *device, const struct source_unit *unit, struct error *err)
{
	struct cuda_device *d = device;
	CUPTI_NEW(struct cupti_range_profiler_only, p, profiler);
	int result;

	(void)unit;
	if (is_automatic(d)) {
		d->n_units++;
		return 0;
	}
	p.profiler = d->profiler;
	result = d->t->cuptiRangeProfilerPopRange(&p);
	d->in_range = false;
	d->n_units++;
	return result ? cuda_target_fail(err, "ending a range", result) : 0;
}

static int cuda_device_decode(struct cuda_device *d, struct error *err)
{
	CUPTI_NEW(struct cupti_range_decode, p, dropped);
	CUPTI_NEW(struct cupti_range_data_info, info, n_ranges);
	int result;

	p.profiler = d->profiler;
	result = d->t->cuptiRangeProfilerDecodeData(&p);
	if (result)
		return cuda_target_fail(err, "decoding the counter data", result);
	if (p.dropped)
		return error_set(err, RC_NO_SPACE, "CUPTI dropped %zu ranges", p.dropped);
	info.data = d->data;
	info.data_size = d->data_size;
	result = d->t->cuptiRangeProfilerGetCounterDataInfo(&info);
	if (result)
		return cuda_target_fail(err, "reading the counter data", result);
	if (info.n_ranges != (size_t)d->n_units * d->per_unit) {
		d->stuck = true;
		return error_set(err, RC_ERROR, "CUPTI has %zu ranges, %u were counted",
				 info.n_ranges, d->n_units * d->per_unit);
	}
	d->decoded = true;
	return 0;
}

static int cuda_device_stop(struct cuda_device *d, bool *all_out, struct error *err)
{
	CUPTI_NEW(struct cupti_range_stop, p, all_passes);
	int result;

	p.profiler = d->profiler;
	result = d->t->cuptiRangeProfilerStop(&p);
	d->started = false;
	d->stuck = result != 0;
	*all_out = p.all_passes;
	return result ? cuda_target_fail(err, "stopping the counters", result) : 0;
}

/* Time and cycles of the range, and what is divided by them. */
static bool is_of_elapsed_time(const char *name)
{
	return strstr(name, "elapsed") || strstr(name, "time_duration") ||
	       strstr(name, "per_second");
}

static bool cuda_device_is_shared(void *device)
{
	struct cuda_device *d = device;

	return d->native->turns && cuda_turns_shared(d->native->turns);
}

static bool cuda_device_needs_waiting(void *device, uint32_t pass)
{
	struct cuda_device *d = device;
	const struct cuda_group *group;
	uint32_t part;

	if (cuda_groups_pass(&d->groups, pass, &group, &part))
		return false;
	for (uint32_t i = 0; i < group->n; i++)
		if (is_of_elapsed_time(group->names[i]))
			return true;
	return false;
}

static void cuda_device_expect(void *device, enum source_units units, uint32_t own)
{
	struct cuda_device *d = device;

	d->expected = units;
	d->own = own;
}

static int cuda_device_pass_begin(void *device, uint32_t pass, uint32_t n_units, struct error *err)
{
	struct cuda_device *d = device;
	CUPTI_NEW(struct cupti_range_profiler_only, start, profiler);
	const struct cuda_group *group;
	uint32_t part;
	bool all;
	int rc = 0, result;

	if (d->in_range) {
		struct source_unit unit = {0};

		rc = cuda_device_unit_end(d, &unit, err);
		if (!rc)
			rc = cuda_device_stop(d, &all, err);
		if (rc)
			return rc;
	}
	d->started = d->decoded = false;
	if (d->units != d->expected) {
		d->units = d->expected;
		d->part = 0;
	}
	d->per_unit = is_automatic(d) ? 1 + d->own : 1;
	if (cuda_groups_pass(&d->groups, pass, &group, &part))
		return error_set(err, RC_INVALID, "pass %u of the plan is none of the CUDA source",
				 pass);
	rc = cuda_groups_prepare(&d->groups, pass, err);
	if (rc)
		return rc;
	/* A part that follows the one before goes on in CUPTI's configuration; anything else starts
	 * anew, and only part 1 can. */
	if (part == 1)
		rc = cuda_device_configure(d, group, 1, (n_units ? n_units : 1) * d->per_unit, err);
	else if (d->group != group || d->part + 1 != part)
		rc = error_set(
			err, RC_INVALID,
			"part %u of a group of counters was asked for without the one before",
			part);
	if (rc)
		return rc;
	start.profiler = d->profiler;
	result = d->t->cuptiRangeProfilerStart(&start);
	if (result) {
		d->part = 0;
		return cuda_target_fail(err, "starting the counters", result);
	}
	d->part = part;
	plan_counted(d->groups.plan, pass, &d->pass);
	d->started = true;
	d->n_units = 0;
	return 0;
}

static int cuda_device_pass_end(void *device, struct error *err)
{
	struct cuda_device *d = device;
	bool all = false;
	int rc;

	if (d->native->clock)
		cuda_clock_read(d->native->clock, d->pass);
	rc = cuda_device_stop(d, &all, err);

	if (!rc && all != (d->part == d->group->parts))
		rc = error_set(err, RC_ERROR,
			       "CUPTI's passes do not agree with the plan's: %s "
			       "submitted after part %u of %u",
			       all ? "all" : "not all", d->part, d->group->parts);
	if (!rc && all)
		rc = cuda_device_decode(d, err);
	if (rc)
		d->part = 0;
	if (!d->part || all)
		cuda_device_yield(d);
	return rc;
}

static int cuda_device_read(void *device, uint32_t unit, struct spool_sample *samples_out,
			    uint32_t room, uint32_t *n_out, uint64_t *enabled_ns_out,
			    uint64_t *running_ns_out, struct error *err)
{
	struct cuda_device *d = device;
	const struct cuda_group *g = d->group;
	CUPTI_NEW(struct cupti_host_evaluate, p, values);
	int result;

	*n_out = 0;
	*enabled_ns_out = *running_ns_out = 0;
	if (d->part != g->parts) /* the values are known after the last part */
		return 0;
	if (!d->decoded || unit >= d->n_units)
		return error_set(err, RC_INVALID, "dispatch %u was not counted", unit);
	*n_out = g->n;
	if (room < g->n)
		return error_set(err, RC_NO_SPACE, "room for %u of %u samples", room, g->n);
	p.host = g->host;
	p.data = d->data;
	p.data_size = d->data_size;
	p.range = (size_t)unit * d->per_unit + d->per_unit - 1;
	p.names = g->names;
	p.n = g->n;
	p.values = d->values;
	result = d->t->cuptiProfilerHostEvaluateToGpuValues(&p);
	if (result)
		return cuda_target_fail(err, "evaluating the counters", result);
	for (uint32_t i = 0; i < g->n; i++) {
		struct spool_sample *s = &samples_out[i];

		*s = (struct spool_sample){.counter = g->counters[i],
					   .instance = SPOOL_INSTANCE_ALL,
					   .kind = SAMPLE_F64,
					   .status = SAMPLE_OK};
		s->value.f64 = d->values[i];
		if (isnan(d->values[i]) ||
		    (d->units == SOURCE_UNITS_KERNELS && is_of_elapsed_time(g->names[i])))
			s->status = SAMPLE_NOT_COLLECTED;
	}
	return 0;
}

static uint32_t cuda_device_room(void *device)
{
	const struct cuda_device *d = device;

	return d->groups.largest;
}

static void cuda_device_pass_abort(void *device)
{
	struct cuda_device *d = device;
	struct error err;
	bool all;

	/* In a range a kernel may still run, for ever perhaps, and CUPTI would wait for it: what is
	 * open then is ended before the next pass, for which the device is idle. */
	if (!d->in_range && d->started)
		cuda_device_stop(d, &all, &err);
	d->part = 0;
	d->decoded = false;
	cuda_device_yield(d);
}

/* Push and pop are not tied to a stream: what runs between them is counted. */
const struct source cuda_source = {
	.name = "cuda",
	.size = sizeof(struct source),
	.capabilities = SOURCE_NEEDS_DRAIN | SOURCE_DEAR_PASS,
	.device_open = cuda_device_open,
	.pass_begin = cuda_device_pass_begin,
	.unit_begin = cuda_device_unit_begin,
	.unit_end = cuda_device_unit_end,
	.pass_end = cuda_device_pass_end,
	.read = cuda_device_read,
	.room = cuda_device_room,
	.pass_abort = cuda_device_pass_abort,
	.device_close = cuda_device_close,
	.most_units = cuda_device_most_units,
	.expect = cuda_device_expect,
	.is_shared = cuda_device_is_shared,
	.needs_waiting = cuda_device_needs_waiting,
};
