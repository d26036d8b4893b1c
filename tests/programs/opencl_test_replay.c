/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenCL layer with the replay engine, as a layer of its own (libopencl_replay.so in
 * OPENCL_LAYERS), with a plan of software events made here. From the environment:
 *
 *   OCLR_MODE=kernel|window|auto|none   OCLR_PASSES=N   OCLR_VERIFY=first|always|never
 *   OCLR_RESTORE=0    the layer's restore does nothing: the control
 *   OCLR_TRACK=0      without remembering writes
 *   OCLR_COMMANDS=1   memory is moved by commands
 *   OCLR_LOG=FILE     appended at the end: what was recorded, one line each
 */
#include "replay/replay.h"
#include "runtime/opencl/opencl.h"
#include "source/perf/perf_threads_device.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PASSES 64

static struct replay *engine;
static struct runtime callbacks;
static struct plan_counter counters[MAX_PASSES];
static uint32_t indices[MAX_PASSES][2];
static struct plan_pass passes[MAX_PASSES];
static struct plan plan;

static struct {
	uint64_t live, counted, varying, no_restore, samples, not_collected, windows, dispatches;
	uint64_t saved, restored, spared, faults;
	uint64_t passes_of[MAX_PASSES + 1];
	uint64_t save_ns, restore_ns, check_ns, program_ns, run_ns;
} sums;
static FILE *log_file;

static int append(void *data, enum spool_type type, const void *a, size_t na, const void *b,
		  size_t nb, struct error *err)
{
	(void)data, (void)na, (void)err;
	if (type == SPOOL_DISPATCH) {
		const struct spool_dispatch *d = a;

		sums.live += !d->pass;
		sums.counted += d->pass != 0;
		sums.varying += !!(d->flags & SPOOL_DISPATCH_VARYING);
		sums.no_restore += !!(d->flags & SPOOL_DISPATCH_NO_RESTORE);
		if (d->pass <= MAX_PASSES)
			sums.passes_of[d->pass]++;
	} else if (type == SPOOL_SAMPLES) {
		const struct spool_sample *s = b;

		for (size_t i = 0; i < nb / sizeof(*s); i++) {
			sums.samples++;
			sums.not_collected += s[i].status != SAMPLE_OK;
			if (s[i].counter == 0 && s[i].status == SAMPLE_OK)
				sums.faults += s[i].value.u64;
		}
	} else if (type == SPOOL_WINDOW) {
		const struct spool_window *w = a;

		sums.windows++;
		sums.dispatches += w->passes ? w->dispatches : 0;
		sums.saved += w->saved_bytes;
		sums.restored += w->restored_bytes;
		sums.spared += w->spared_bytes;
		sums.save_ns += w->save_ns;
		sums.restore_ns += w->restore_ns;
		sums.check_ns += w->check_ns;
		sums.program_ns += w->program_ns;
		sums.run_ns += w->run_ns;
	} else if (type == SPOOL_DECLINE && log_file) {
		const struct spool_decline *d = a;

		fprintf(log_file, "declined %" PRIu64 ": %.*s\n", d->count, (int)nb,
			(const char *)b);
	} else if (type == SPOOL_NOTE && log_file) {
		fprintf(log_file, "note: %.*s\n", (int)nb, (const char *)b);
	}
	return 0;
}

static void report(void)
{
	runtime_opencl_detach();
	replay_close(engine);
	if (!log_file)
		return;
	fprintf(log_file,
		"replayed %" PRIu64 " windows %" PRIu64 " counted %" PRIu64 " varying %" PRIu64
		" samples %" PRIu64 " not-collected %" PRIu64 " no-restore %" PRIu64 "\n",
		sums.dispatches, sums.windows, sums.counted, sums.varying, sums.samples,
		sums.not_collected, sums.no_restore);
	fprintf(log_file,
		"bytes saved %" PRIu64 " restored %" PRIu64 " spared %" PRIu64 "; ms: save %" PRIu64
		" restore %" PRIu64 " check %" PRIu64 " program %" PRIu64 " run %" PRIu64 "\n",
		sums.saved, sums.restored, sums.spared, sums.save_ns / 1000000,
		sums.restore_ns / 1000000, sums.check_ns / 1000000, sums.program_ns / 1000000,
		sums.run_ns / 1000000);
	fclose(log_file);
}

static const struct source *choose(void *data, const struct runtime_opencl_device *device,
				   const char **why_out)
{
	(void)data;
	*why_out = "not a CPU";
	return device->is_cpu ? &source_perf_threads : NULL;
}

static int no_restore(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		      void *store, uint64_t store_offset, struct error *err)
{
	(void)device, (void)m, (void)offset, (void)bytes, (void)store, (void)store_offset,
		(void)err;
	return 0;
}

static bool says(const char *name, const char *value)
{
	const char *text = getenv(name);

	return text && !strcmp(text, value);
}

static void start(void)
{
	struct runtime_opencl_options options = {.choose = choose,
						 .callbacks = &callbacks,
						 .by_commands = says("OCLR_COMMANDS", "1")};
	struct replay_options replay_options = {
		.mode = says("OCLR_MODE", "window") ? REPLAY_MODE_WINDOW
			: says("OCLR_MODE", "auto") ? REPLAY_MODE_AUTO
			: says("OCLR_MODE", "none") ? REPLAY_MODE_NONE
						    : REPLAY_MODE_KERNEL,
		.verify = says("OCLR_VERIFY", "always")  ? REPLAY_VERIFY_ALWAYS
			  : says("OCLR_VERIFY", "never") ? REPLAY_VERIFY_NEVER
							 : REPLAY_VERIFY_FIRST,
	};
	const char *n = getenv("OCLR_PASSES");
	struct error err = {0};

	plan.n_passes = n ? (uint32_t)strtoul(n, NULL, 10) : 3;
	if (plan.n_passes > MAX_PASSES)
		plan.n_passes = MAX_PASSES;
	plan.n_counters = 2;
	plan.counters = counters;
	plan.passes = passes;
	plan.chip = plan.selection = "";
	counters[0] = (struct plan_counter){"page-faults", "perf", "software",
					    "count",       0,      "type=1 config=2"};
	counters[1] =
		(struct plan_counter){"task-clock", "perf", "software", "ns", 0, "type=1 config=1"};
	for (uint32_t i = 0; i < plan.n_passes; i++) {
		indices[i][0] = 0;
		indices[i][1] = 1;
		passes[i] = (struct plan_pass){2, indices[i], "", ""};
	}
	/* Declined dispatches are told early, by windows and in portions. */
	if (getenv("OCLR_LOG"))
		log_file = fopen(getenv("OCLR_LOG"), "a");
	callbacks = *runtime_opencl_callbacks();
	if (says("OCLR_RESTORE", "0"))
		callbacks.restore = no_restore;
	if (says("OCLR_TRACK", "0"))
		callbacks.capabilities &= ~(uint32_t)RUNTIME_TRACKS_WRITES;
	if (replay_open(&engine, &replay_options, &plan, append, NULL, &err) ||
	    runtime_opencl_attach(engine, &options, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return;
	}
	/* Registered before the vendor's library is used, so after it in the order of exit; the
	 * layer has ended the windows by then. */
	atexit(report);
}

__attribute__((constructor)) static void begin(void)
{
	runtime_opencl_on_start(start);
}
