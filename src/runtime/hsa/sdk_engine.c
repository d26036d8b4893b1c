/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own kernel replay, followed: see sdk_engine.h. */
#include "runtime/hsa/sdk_engine.h"

#include "runtime/hsa/record.h"
#include "runtime/hsa/session.h"

#include <stdio.h>

/* One GPU. What is said of the dispatch is only for the thread that holds the replay lock. */
struct sdk_device {
	const struct rocm_agent *agent;
	struct rocm_native native;
	struct replay_device *engine;
	uint32_t executions; /* wanted of this dispatch */
	uint32_t seen;       /* passes that the library made */
	bool failed;
	char why[200]; /* failed */
	struct rocm_times_at at;
	bool timed;
};
static struct sdk_device devices[ROCM_AGENTS_MAX];
static unsigned n_devices;
static void (*say)(const char *text);

/* ---- for the engine ---- */

static int drain(void *device, uint64_t bound_ns, struct error *err)
{
	(void)device;
	(void)bound_ns;
	(void)err;
	return 0; /* nothing is launched by us */
}

static int times(void *device, void *recorded, uint64_t *begin_ns_out, uint64_t *end_ns_out,
		 struct error *err)
{
	const struct sdk_device *d = device;

	(void)recorded;
	if (d->timed && rocm_device_times(&d->at, begin_ns_out, end_ns_out))
		return 0;
	return error_set(err, RC_UNSUPPORTED, "its times are not known");
}

static const struct runtime following = {
	.name = "hsa", .size = sizeof(struct runtime), .drain = drain, .times = times};

void runtime_sdk_open(struct replay *replay, const struct runtime_hsa_options *options)
{
	const struct rocm_agent *agents;
	unsigned n = rocm_tool_agents(&agents);

	say = options->say;
	if (!options->use())
		return;
	for (unsigned i = 0; i < n; i++) {
		struct sdk_device *d = &devices[n_devices];
		struct error err = {0};

		*d = (struct sdk_device){.agent = &agents[i], .native = {.node = agents[i].node}};
		if (replay_device_add(replay, &following, d, options->source, &d->native,
				      agents[i].number, options->why, &d->engine, &err))
			options->say(err.message);
		else
			n_devices++;
	}
	atomic_store(&hsa_session.sdk_replays, true);
}

/* ---- for the library ---- */

static struct sdk_device *device_of(uint64_t agent)
{
	for (unsigned i = 0; i < n_devices; i++)
		if (devices[i].agent->id == agent)
			return &devices[i];
	return NULL;
}

/* One execution is none to the library: it would not tell of it. */
static uint64_t pass_count(struct rocp_dispatch_info dispatch, union rocp_user_data user_data)
{
	const struct sdk_device *d = user_data.ptr;

	(void)dispatch;
	return d->executions > 1 ? d->executions : 2;
}

static int go_on(struct rocp_dispatch_info dispatch, uint64_t current_pass, uint64_t total_passes,
		 union rocp_user_data user_data)
{
	const struct sdk_device *d = user_data.ptr;

	(void)dispatch;
	(void)total_passes;
	return !d->failed && current_pass + 1 < d->executions;
}

static void fail(struct sdk_device *d, const char *why)
{
	if (!d->failed)
		snprintf(d->why, sizeof(d->why), "%.190s", why);
	d->failed = true;
}

static struct runtime_op describe(const struct rocp_dispatch_info *info)
{
	const struct rocm_kernel *kernel = rocm_tool_kernel_by_id(info->kernel_id);
	const uint32_t grid[3] = {info->grid.x, info->grid.y, info->grid.z};
	struct runtime_op op = {.kind = RUNTIME_DISPATCH,
				.queue = info->queue,
				.kernel = kernel ? kernel->name : "?",
				.registers = kernel ? kernel->registers : 0,
				.shared_bytes = info->group_segment_size,
				.block = {info->workgroup.x, info->workgroup.y, info->workgroup.z}};

	for (unsigned i = 0; i < 3; i++)
		op.grid[i] = op.block[i] ? (grid[i] + op.block[i] - 1) / op.block[i] : 0;
	if (hsa_record_is_collective(op.kernel)) {
		op.flags |= RUNTIME_OP_NEVER_REPLAY;
		op.why = "a collective";
	}
	return op;
}

/* What we entered here we leave in config_ends. */
static void config_begins(struct rocp_replay_data *r, union rocp_user_data *user_data)
{
	struct sdk_device *d = device_of(r->dispatch.agent);
	struct runtime_op op = describe(&r->dispatch);
	uint32_t n;

	user_data->ptr = NULL;
	if (!d || !hsa_enter())
		return;
	n = replay_foreign_begin(d->engine, &op);
	if (!n) {
		hsa_leave();
		return;
	}
	d->executions = n;
	d->seen = 0;
	d->failed = d->timed = false;
	user_data->ptr = d;
	r->pass_count = pass_count;
	r->go_on = go_on;
}

static void config_ends(struct sdk_device *d)
{
	const char *why = d->failed ? d->why : NULL;

	if (!d->seen)
		why = "rocprofiler-sdk did not replay it";
	else if (!why && d->seen < d->executions)
		why = "rocprofiler-sdk replayed it less often than it was to";
	replay_foreign_end(d->engine, why);
	hsa_leave();
}

static void pass_begins(struct sdk_device *d, const struct rocp_replay_data *r)
{
	struct rocm_times_at before;
	struct error err = {0};

	/* The members of a beta are where we think that they are. */
	if (r->current_pass != d->seen ||
	    r->total_passes != pass_count(r->dispatch, (union rocp_user_data){.ptr = d}))
		fail(d, "this version of rocprofiler-sdk replays in a way that is not known");
	if (d->failed || d->seen >= d->executions)
		return;
	(void)rocm_device_last(&before);
	if (replay_foreign_pass_begin(d->engine, d->seen, &err))
		fail(d, err.message);
}

static void pass_ends(struct sdk_device *d)
{
	struct error err = {0};

	if (!d->failed && d->seen < d->executions) {
		d->timed = rocm_device_last(&d->at);
		if (replay_foreign_pass_end(d->engine, d->seen, &err))
			fail(d, err.message);
	}
	d->seen++;
}

void runtime_sdk_record(const struct rocp_tracing_record *record, union rocp_user_data *user_data)
{
	struct rocp_replay_data *r = record->payload;
	struct sdk_device *d = user_data->ptr; /* not in CONFIG enter */
	bool enter = record->phase == ROCP_PHASE_ENTER;
	static atomic_bool told;

	if (!r || r->size < sizeof(*r)) {
		if (!atomic_exchange(&told, true))
			say("the records of this rocprofiler-sdk's kernel replay are not known");
		return;
	}
	if (record->operation == ROCP_REPLAY_CONFIG && enter)
		config_begins(r, user_data);
	else if (!d)
		return; /* not ours */
	else if (record->operation == ROCP_REPLAY_CONFIG)
		config_ends(d);
	else if (record->operation == ROCP_REPLAY_PASS && enter)
		pass_begins(d, r);
	else if (record->operation == ROCP_REPLAY_PASS)
		pass_ends(d);
}
