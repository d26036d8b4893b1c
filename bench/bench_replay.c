/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the replay engine costs. First the engine alone, over a runtime and a source that do
 * nothing: ns of the engine for each dispatch and pass (the target is at most 2 us). Then on the
 * simulated device, 100,000 dispatches of 13 passes: the cost of windows against kernel times plus
 * restores (the target is at most 1.2; the median of several rounds), and how often the counters
 * are programmed in kernel and window mode (at least 50 times less). Last the chunk: compare and
 * restore of 64 MiB, of which 1 % is written.
 */
#include "replay/replay.h"
#include "runtime/sim/runtime_sim.h"
#include "source/sim/sim_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DISPATCHES 100000u
#define PASSES     13u
#define ROUNDS     5u /* odd: of the measurements against a target */

static struct plan_counter counters[PASSES + 1];
static uint32_t indices[PASSES][2];
static struct plan_pass passes[PASSES];
static struct plan plan;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void make_plan(const char *source, uint32_t n)
{
	static const char *const ids[PASSES + 1] = {"7",  "1",  "2",  "3",  "4",  "5",  "6",
						    "20", "21", "22", "23", "24", "30", "31"};

	for (uint32_t i = 0; i <= PASSES; i++)
		counters[i] = (struct plan_counter){ids[i], source, "", "count", 0, ids[i]};
	for (uint32_t i = 0; i < PASSES; i++) {
		indices[i][1] = i + 1;
		passes[i] = (struct plan_pass){2, indices[i], "", ""};
	}
	plan = (struct plan){
		.n_counters = PASSES + 1, .counters = counters, .n_passes = n, .passes = passes};
}

/* ---- nothing: a runtime and a source that cost nothing ---- */

static int nothing_drain(void *d, uint64_t bound, struct error *err)
{
	(void)d, (void)bound, (void)err;
	return 0;
}

static int nothing_get(void *d, uint64_t bytes, enum runtime_store_kind kind, void **out,
		       struct error *err)
{
	(void)bytes, (void)kind, (void)err;
	*out = d;
	return 0;
}

static void nothing_put(void *d, void *store)
{
	(void)d, (void)store;
}

static int nothing_save(void *d, const struct runtime_memory *m, uint64_t at, uint64_t n, void *s,
			uint64_t to, const struct runtime_op *op, struct error *err)
{
	(void)d, (void)m, (void)at, (void)n, (void)s, (void)to, (void)op, (void)err;
	return 0;
}

static int nothing_restore(void *d, const struct runtime_memory *m, uint64_t at, uint64_t n,
			   void *s, uint64_t from, struct error *err)
{
	(void)d, (void)m, (void)at, (void)n, (void)s, (void)from, (void)err;
	return 0;
}

static int nothing_compare(void *d, const struct runtime_memory *m, uint64_t at, uint64_t n,
			   void *s, uint64_t from, uint64_t chunk, uint64_t *bits,
			   struct error *err)
{
	(void)d, (void)m, (void)at, (void)n, (void)s, (void)from, (void)chunk, (void)bits,
		(void)err;
	return 0;
}

static int nothing_hash(void *d, const struct runtime_memory *m, uint64_t *out, struct error *err)
{
	(void)d, (void)m, (void)err;
	*out = 1;
	return 0;
}

static int nothing_launch(void *d, void *recorded, struct error *err)
{
	(void)d, (void)recorded, (void)err;
	return 0;
}

static const struct runtime nothing = {
	.name = "nothing",
	.size = sizeof(struct runtime),
	.capabilities = RUNTIME_ORDERED_SAVE | RUNTIME_DEVICE_STORE,
	.drain = nothing_drain,
	.store_get = nothing_get,
	.store_put = nothing_put,
	.save = nothing_save,
	.restore = nothing_restore,
	.compare = nothing_compare,
	.hash = nothing_hash,
	.launch = nothing_launch,
	.op_release = nothing_put,
};

static int zero_open(void **out, const struct plan *p, const char *runtime, void *native,
		     uint32_t device, struct error *err)
{
	(void)p, (void)runtime, (void)device, (void)err;
	*out = native;
	return 0;
}

static int zero_begin(void *d, uint32_t pass, uint32_t n, struct error *err)
{
	(void)d, (void)pass, (void)n, (void)err;
	return 0;
}

static int zero_unit(void *d, const struct source_unit *u, struct error *err)
{
	(void)d, (void)u, (void)err;
	return 0;
}

static int zero_end(void *d, struct error *err)
{
	(void)d, (void)err;
	return 0;
}

static int zero_read(void *d, uint32_t unit, struct spool_sample *out, uint32_t room, uint32_t *n,
		     uint64_t *enabled, uint64_t *running, struct error *err)
{
	(void)d, (void)unit, (void)room, (void)enabled, (void)running, (void)err;
	memset(out, 0, 2 * sizeof(*out));
	*n = 2;
	return 0;
}

static uint32_t zero_room(void *d)
{
	(void)d;
	return 2;
}

static void zero_close(void *d)
{
	(void)d;
}

static const struct source zero = {
	.name = "zero",
	.size = sizeof(struct source),
	.device_open = zero_open,
	.pass_begin = zero_begin,
	.unit_begin = zero_unit,
	.unit_end = zero_unit,
	.pass_end = zero_end,
	.read = zero_read,
	.room = zero_room,
	.pass_abort = zero_close,
	.device_close = zero_close,
};

/* ---- records: as the spool takes them, 150 ns each are not the engine's ---- */

static struct spool_window sums;
static uint64_t windows, programmed, device_ns;

static int take(void *data, enum spool_type type, const void *a, size_t na, const void *b,
		size_t nb, struct error *err)
{
	const struct spool_window *w = a;
	const struct spool_dispatch *d = a;

	(void)data, (void)na, (void)b, (void)nb, (void)err;
	if (type == SPOOL_DISPATCH && d->pass)
		device_ns += d->end_ns - d->begin_ns;
	if (type != SPOOL_WINDOW)
		return 0;
	windows++;
	sums.dispatches += w->dispatches;
	sums.passes += w->passes;
	sums.save_ns += w->save_ns;
	sums.restore_ns += w->restore_ns;
	sums.check_ns += w->check_ns;
	sums.program_ns += w->program_ns;
	sums.run_ns += w->run_ns;
	sums.live_ns += w->live_ns;
	sums.restored_bytes += w->restored_bytes;
	return 0;
}

static void engine_alone(enum replay_mode mode, const char *name)
{
	struct replay_options o = {.mode = mode};
	struct runtime_memory m = {.address = 1, .size = 4096};
	struct runtime_reach reach[2] = {{.size = 4096}, {.size = 4096}};
	struct runtime_op op = {.kind = RUNTIME_DISPATCH,
				.kernel = "a_kernel_with_a_name_of_some_length(float *, int)",
				.n_reach = 2,
				.reach = reach,
				.recorded = &m};
	struct replay_device *d;
	struct replay *r;
	struct error err = {0};
	double best = 0;

	make_plan("zero", PASSES);
	for (int round = 0; round < 5; round++) {
		uint64_t begin;
		double ns;

		if (replay_open(&r, &o, &plan, take, NULL, &err) ||
		    replay_device_add(r, &nothing, &m, &zero, &m, 0, NULL, &d, &err)) {
			fprintf(stderr, "bench_replay: %s\n", err.message);
			exit(1);
		}
		reach[0].memory = replay_memory_add(d, &m);
		reach[1].memory = replay_memory_add(d, &m);
		begin = now();
		for (uint32_t i = 0; i < DISPATCHES; i++) {
			replay_before(d, &op);
			replay_after(d, &op, true);
		}
		replay_boundary(d, "finish");
		ns = (double)(now() - begin) / DISPATCHES / PASSES;
		best = round && best < ns ? best : ns;
		replay_memory_remove(d, reach[0].memory);
		replay_memory_remove(d, reach[1].memory);
		replay_close(r);
	}
	printf("engine alone, %s: %.1f ns a dispatch and pass (target: 2000), %u dispatches, %u "
	       "passes\n",
	       name, best, DISPATCHES, PASSES);
}

/* ---- the simulated device ---- */

static struct replay *replay;
static struct source source;
static const struct source *real;

static int count_begin(void *d, uint32_t pass, uint32_t n, struct error *err)
{
	programmed++;
	return real->pass_begin(d, pass, n, err);
}

static int attach(const struct sim_tools *t, struct sim_api *api)
{
	struct error err = {0};

	real = source_sim(NULL);
	source = *real;
	source.pass_begin = count_begin;
	return runtime_sim_attach(replay, t, api, &source, NULL, NULL, &err);
}

static void check(int result)
{
	if (!result)
		return;
	fprintf(stderr, "bench_replay: %s\n", sim_error_text());
	exit(1);
}

static double on_sim(enum replay_mode mode, uint32_t n, uint64_t bytes, const char *kernel,
		     uint64_t kernel_ns, uint64_t chunk)
{
	struct replay_options o = {.mode = mode, .chunk = chunk};
	struct sim_config config;
	struct sim_device *d;
	struct sim_queue *q;
	struct error err = {0};
	uint64_t arguments[2], begin;
	struct sim_launch l = {
		.kernel = kernel, .grid = {1}, .block = {64}, .arguments = arguments};
	double s;

	memset(&sums, 0, sizeof(sums));
	windows = programmed = device_ns = 0;
	make_plan("sim", PASSES);
	if (mode != REPLAY_MODE_RANGE) {
		if (replay_open(&replay, &o, &plan, take, NULL, &err))
			exit(1);
		check(sim_install_tool(attach));
	}
	sim_config_default(&config);
	config.kernel_ns = kernel_ns;
	check(sim_open_with(0, &config, &d));
	check(sim_queue_create(d, &q));
	check(sim_malloc(d, bytes, &arguments[0]));
	check(sim_fill(q, arguments[0], 1, bytes));
	check(sim_wait(d));
	arguments[1] = bytes > 4096 ? bytes / 400 : 64; /* elements of 4 bytes: 1 % */
	l.grid[0] = (uint32_t)((arguments[1] + 63) / 64);
	l.n_arguments = 2;
	begin = now();
	for (uint32_t i = 0; i < n; i++)
		check(sim_launch(q, &l));
	check(sim_wait(d));
	s = (double)(now() - begin) / 1e9;
	check(sim_close(d));
	if (mode != REPLAY_MODE_RANGE) {
		runtime_sim_detach();
		replay_close(replay);
		runtime_sim_release();
		check(sim_install_tool(NULL));
	}
	return s;
}

/* ---- one measurement several times: the figures of the median ---- */

struct figures {
	double ratio, s, plain, run, restore, save, check, program, live, device;
	uint64_t programmed, windows;
};

static int by_ratio(const void *a, const void *b)
{
	const struct figures *x = a, *y = b;

	return x->ratio < y->ratio ? -1 : x->ratio > y->ratio;
}

static struct figures measure(uint32_t n, uint64_t kernel_ns)
{
	struct figures f;

	f.plain = on_sim(REPLAY_MODE_RANGE, n, 4096, "update", kernel_ns, 0); /* no engine */
	f.s = on_sim(REPLAY_MODE_WINDOW, n, 4096, "update", kernel_ns, 0);
	f.run = (double)sums.run_ns / 1e9;
	f.restore = (double)sums.restore_ns / 1e9;
	f.save = (double)sums.save_ns / 1e9;
	f.check = (double)sums.check_ns / 1e9;
	f.program = (double)sums.program_ns / 1e9;
	f.live = (double)sums.live_ns / 1e9;
	f.device = (double)device_ns / 1e9;
	f.programmed = programmed;
	f.windows = windows;
	/* Kernels that take no time are all launch: there the runs are taken as they were. */
	f.ratio = kernel_ns ? f.s / (f.plain * (PASSES + 1) + f.restore)
			    : f.s / (f.run + f.live + f.restore);
	return f;
}

/* Sorted by ratio; the middle one is the result. */
static struct figures median(const char *what, uint32_t n, uint64_t kernel_ns)
{
	struct figures all[ROUNDS];

	for (uint32_t i = 0; i < ROUNDS; i++)
		all[i] = measure(n, kernel_ns);
	qsort(all, ROUNDS, sizeof(*all), by_ratio);
	printf("sim, window, %s, %u dispatches, %u passes, %u rounds: cost / (runs + restores) "
	       "median %.3f, least %.3f, most %.3f (target: 1.2)\n",
	       what, n, PASSES, ROUNDS, all[ROUNDS / 2].ratio, all[0].ratio, all[ROUNDS - 1].ratio);
	return all[ROUNDS / 2];
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : DISPATCHES;
	struct figures f;
	double s;

	engine_alone(REPLAY_MODE_WINDOW, "window");
	engine_alone(REPLAY_MODE_KERNEL, "kernel");
	f = median("tiny kernels", n, 0);
	printf("  %.2f s (without retally %.2f s), counters programmed %lu times in %lu windows\n",
	       f.s, f.plain, (unsigned long)f.programmed, (unsigned long)f.windows);
	printf("  counted runs %.2f s, pass 0 %.2f s, restores %.3f s, saves %.3f s, checks %.3f "
	       "s, "
	       "programming and reading %.3f s; the kernels by the device's clock %.2f s\n",
	       f.run, f.live, f.restore, f.save, f.check, f.program, f.device);
	s = on_sim(REPLAY_MODE_KERNEL, n / 10, 4096, "update", 0, 0);
	printf("sim, kernel, %u dispatches: %.2f s, counters programmed %lu times: %.0f times as "
	       "often as in windows (target: 50)\n",
	       n / 10, s, (unsigned long)programmed,
	       (double)programmed * 10 / (double)f.programmed);
	f = median("kernels of 20 us", n / 10, 20000);
	printf("  %.2f s against %u runs of %.3f s as without retally, and restores of %.3f s\n",
	       f.s, PASSES + 1, f.plain, f.restore);
	for (uint64_t chunk = 4096; chunk <= 4u << 20; chunk *= 4) {
		s = on_sim(REPLAY_MODE_KERNEL, 4, 64u << 20, "update", 0, chunk);
		printf("chunk %7lu: restore %.2f ms and %.1f MiB a pass, save and check %.1f ms a "
		       "dispatch (64 MiB, 1 %% written)\n",
		       (unsigned long)chunk, (double)sums.restore_ns / 1e6 / sums.passes,
		       (double)sums.restored_bytes / 1048576 / sums.passes,
		       (double)(sums.save_ns + sums.check_ns) / 1e6 / sums.dispatches);
	}
	return 0;
}
