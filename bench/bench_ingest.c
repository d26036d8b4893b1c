/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to take spools into the database and to read it back: writes a run directory with
 * SPOOLS spools, each with DISPATCHES dispatches counted in PASSES passes of COUNTERS counters, and
 * opens it (which ingests the spools), opens it again (which finds nothing new), scans it, and
 * merges it into another one, OUT, as the command does with the database of OUT; each in a process
 * of its own, with the most memory it used. A DIRECTORY is kept, and its spools are used again by
 * the next call with the same numbers. OUT is removed; on another file system spools are copied.
 * Usage: bench_ingest [SPOOLS [DISPATCHES [PASSES [COUNTERS [DIRECTORY [OUT]]]]]] (1 300000 1 8);
 * a job of many ranks, one counter a pass, the worst case: 1000 10000 13 1
 */
#include "store/merge.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PASSES_MAX   64
#define COUNTERS_MAX 64 /* a pass */
#define KERNELS      64

struct bench {
	const char *dir, *out;
	uint32_t spools, passes, counters;
	uint64_t dispatches;
	struct plan plan;
};

enum step {
	OPEN,
	SCAN,
	MERGE
};

static void die(const struct error *err)
{
	fprintf(stderr, "bench_ingest: %s\n", err->message);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* Counter i of pass k is "c<number>"; one metric, for bench_report. */
static void write_plan(struct bench *b)
{
	static struct plan_counter counters[PASSES_MAX * COUNTERS_MAX];
	static struct plan_pass passes[PASSES_MAX];
	static uint32_t index[PASSES_MAX * COUNTERS_MAX];
	static char names[PASSES_MAX * COUNTERS_MAX][8];
	static const uint32_t of_ratio[] = {0, 1};
	static struct plan_metric metrics[] = {{"ratio", "Ratio", "", "c1 / c0", 2, of_ratio, 0}};
	uint32_t n = b->passes * b->counters;
	struct error err = {0};
	char path[300];

	for (uint32_t c = 0; c < n; c++) {
		snprintf(names[c], sizeof(names[c]), "c%u", c);
		index[c] = c;
		counters[c] = (struct plan_counter){names[c], "sim", "block", "count", 0, ""};
	}
	for (uint32_t k = 0; k < b->passes; k++)
		passes[k] = (struct plan_pass){b->counters, &index[k * b->counters], "", ""};
	metrics[0].pass = b->counters > 1;
	b->plan = (struct plan){.chip = "sim",
				.selection = "",
				.lower_bound = b->passes,
				.proven = true,
				.n_counters = n,
				.counters = counters,
				.n_passes = b->passes,
				.passes = passes,
				.n_metrics = n > 1,
				.metrics = metrics};
	snprintf(path, sizeof(path), "%s/plan.json", b->dir);
	if (plan_write_file(&b->plan, path, &err))
		die(&err);
}

static int write_dispatch(const struct bench *b, struct spool_writer *w, uint64_t number,
			  uint32_t pass, struct error *err)
{
	uint64_t at = number * b->passes + pass;
	struct spool_dispatch d = {.dispatch = number,
				   .kernel = (uint32_t)(number % KERNELS) + 1,
				   .unit = SPOOL_UNIT_DISPATCH,
				   .pass = pass,
				   .grid = {64, 1, 1},
				   .block = {256, 1, 1},
				   .begin_ns = at * 1000,
				   .end_ns = at * 1000 + 700,
				   .attempt = 1,
				   .flags = SPOOL_DISPATCH_REPLAYED};
	struct spool_samples head = {.pass = pass, .n = b->counters, .dispatch = number};
	struct spool_sample samples[COUNTERS_MAX];
	int rc;

	for (uint32_t c = 0; c < b->counters; c++)
		samples[c] =
			(struct spool_sample){.counter = (pass - 1) * b->counters + c,
					      .instance = SPOOL_INSTANCE_ALL,
					      .value = {.u64 = number * 2654435761u >> c % 8 * 4}};
	rc = spool_append(w, SPOOL_DISPATCH, &d, sizeof(d), NULL, 0, err);
	return rc ? rc
		  : spool_append(w, SPOOL_SAMPLES, &head, sizeof(head), samples,
				 b->counters * sizeof(*samples), err);
}

/* Of DIRECTORY or OUT; as a merge would call it, too. */
static void spool_path(const char *dir, uint32_t rank, char *path_out, size_t size)
{
	snprintf(path_out, size, "%s/spool/l.h.%u.%u.rts", dir, rank, rank + 1);
}

static void write_spool(const struct bench *b, uint32_t rank)
{
	struct spool_header h = {.rank = (int32_t)rank,
				 .size = (int32_t)b->spools,
				 .local_rank = -1,
				 .pid = (int32_t)rank + 1,
				 .start_ns = rank + 1};
	struct error err = {0};
	struct spool_writer w;
	char path[300];
	int rc = 0;

	snprintf(h.collection, sizeof(h.collection), "bench");
	snprintf(h.plan_hash, sizeof(h.plan_hash), "%s", b->plan.hash);
	snprintf(h.launch, sizeof(h.launch), "l");
	snprintf(h.host, sizeof(h.host), "h");
	spool_path(b->dir, rank, path, sizeof(path));
	if (!access(path, F_OK))
		return;
	if (spool_create(&w, path, &h, &err))
		die(&err);
	for (uint32_t k = 1; !rc && k <= KERNELS; k++) {
		struct spool_kernel kernel = {.kernel = k};
		char name[32];
		int n = snprintf(name, sizeof(name), "kernel_%u", k);

		rc = spool_append(&w, SPOOL_KERNEL, &kernel, sizeof(kernel), name, (size_t)n, &err);
	}
	for (uint64_t i = 0; !rc && i < b->dispatches; i++) {
		for (uint32_t pass = 1; !rc && pass <= b->passes; pass++)
			rc = write_dispatch(b, &w, i, pass, &err);
	}
	if (rc || spool_close(&w, &err))
		die(&err);
}

static int count(void *data, const struct store_row *r, struct error *err)
{
	(void)err;
	*(uint64_t *)data += r->n_values;
	return 0;
}

static void merge(const struct bench *b)
{
	struct merge_outcome outcome;
	struct error err = {0};

	if (merge_directories(&b->dir, 1, b->out, &outcome, &err))
		die(&err);
	if (outcome.copied != b->spools || outcome.problems.n) {
		error_set(&err, RC_ERROR, "%zu spools were merged instead of %u", outcome.copied,
			  b->spools);
		die(&err);
	}
	merge_outcome_release(&outcome);
}

static void run_step(const struct bench *b, enum step step, uint64_t samples)
{
	struct store_scan all = {.pass = STORE_ALL_PASSES};
	struct error err = {0};
	struct store *s;
	const char *dir = b->dir;
	uint64_t n = 0;

	if (step == MERGE) {
		merge(b);
		dir = b->out;
	}
	if (store_open(&s, dir, &err) || (step == SCAN && store_scan(s, &all, count, &n, &err)))
		die(&err);
	store_close(s);
	if (step == SCAN && n != samples) {
		error_set(&err, RC_ERROR, "%llu samples were read instead of %llu",
			  (unsigned long long)n, (unsigned long long)samples);
		die(&err);
	}
}

static void measure(const struct bench *b, const char *what, enum step step, uint64_t samples)
{
	double begin = now(), wall, cpu;
	struct rusage u;
	int status = 0;
	pid_t child = fork();

	if (!child) {
		run_step(b, step, samples);
		_exit(0);
	}
	if (child < 0 || wait4(child, &status, 0, &u) != child || status) {
		fprintf(stderr, "bench_ingest: %s failed\n", what);
		exit(1);
	}
	wall = now() - begin;
	cpu = seconds(u.ru_utime) + seconds(u.ru_stime);
	printf("%-8s %8.3f s, %8.3f s CPU (%.3f s in the kernel), %6.2f M samples/s, %6.2f M "
	       "samples per CPU second, at most %.0f MiB\n",
	       what, wall, cpu, seconds(u.ru_stime), (double)samples / wall / 1e6,
	       (double)samples / cpu / 1e6, (double)u.ru_maxrss / 1024);
	fflush(stdout);
}

static void remove_all(const struct bench *b, const char *dir)
{
	static const char *const rest[] = {"retally.db", "plan.json"};
	char path[300];

	for (uint32_t i = 0; i < b->spools; i++) {
		spool_path(dir, i, path, sizeof(path));
		unlink(path);
	}
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, rest[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/spool", dir);
	rmdir(path);
	rmdir(dir);
}

int main(int argc, char **argv)
{
	char made[] = "/tmp/bench_ingest.XXXXXX", path[300], out[300];
	struct bench b = {
		.spools = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1,
		.dispatches = argc > 2 ? strtoull(argv[2], NULL, 10) : 300000,
		.passes = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1,
		.counters = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 8,
		.dir = argc > 5 ? argv[5] : mkdtemp(made),
	};
	uint64_t samples = b.spools * b.dispatches * b.passes * b.counters;
	struct stat st;

	if (!b.dir || !samples || b.passes > PASSES_MAX || b.counters > COUNTERS_MAX)
		return 2;
	mkdir(b.dir, 0777);
	snprintf(path, sizeof(path), "%s/spool", b.dir);
	mkdir(path, 0777);
	snprintf(out, sizeof(out), "%s-merged", b.dir);
	b.out = argc > 6 ? argv[6] : out;
	remove_all(&b, b.out);
	write_plan(&b);
	for (uint32_t i = 0; i < b.spools; i++)
		write_spool(&b, i);
	snprintf(path, sizeof(path), "%s/retally.db", b.dir);
	unlink(path);
	printf("%u spools, %llu dispatches, %u passes, %u counters each: %.1f M samples\n",
	       b.spools, (unsigned long long)b.dispatches, b.passes, b.counters,
	       (double)samples / 1e6);
	fflush(stdout);
	measure(&b, "ingest", OPEN, samples);
	measure(&b, "reopen", OPEN, samples);
	measure(&b, "scan", SCAN, samples);
	if (!stat(path, &st))
		printf("retally.db %.1f MB, %.1f bytes a sample\n", (double)st.st_size / 1e6,
		       (double)st.st_size / (double)samples);
	measure(&b, "merge", MERGE, samples);
	remove_all(&b, b.out);
	if (argc <= 5)
		remove_all(&b, b.dir);
	return 0;
}
