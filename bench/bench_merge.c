/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many spools into one database, as after a job of many ranks: writes SPOOLS spools with DISPATCHES
 * dispatches and PASSES passes each, a counter a pass, and opens the directory, which ingests them.
 * Tells the speed and the most memory that was used by it, in processes of their own.
 * Usage: bench_merge [SPOOLS [DISPATCHES [PASSES [DIRECTORY]]]] (20 1000 13; in full: 1000 10000
 * 13)
 */
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PASSES_MAX 64
static struct plan plan;

static void die(const struct error *err)
{
	fprintf(stderr, "bench_merge: %s\n", err->message);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void write_plan(const char *dir, uint32_t passes)
{
	static struct plan_counter counters[PASSES_MAX];
	static struct plan_pass all[PASSES_MAX];
	static uint32_t index[PASSES_MAX];
	static char names[PASSES_MAX][8];
	struct error err = {0};
	char path[300];

	for (uint32_t k = 0; k < passes; k++) {
		snprintf(names[k], sizeof(names[k]), "c%u", k);
		index[k] = k;
		counters[k] = (struct plan_counter){names[k], "sim", "block", "count", 0, ""};
		all[k] = (struct plan_pass){1, &index[k], "", ""};
	}
	plan = (struct plan){.chip = "sim",
			     .selection = "",
			     .lower_bound = passes,
			     .proven = true,
			     .n_counters = passes,
			     .counters = counters,
			     .n_passes = passes,
			     .passes = all};
	snprintf(path, sizeof(path), "%s/plan.json", dir);
	if (plan_write_file(&plan, path, &err))
		die(&err);
}

static void write_spool(const char *dir, uint32_t rank, uint32_t ranks, uint64_t dispatches)
{
	struct spool_header h = {.rank = (int32_t)rank,
				 .size = (int32_t)ranks,
				 .local_rank = -1,
				 .pid = (int32_t)rank + 1,
				 .start_ns = rank + 1};
	struct spool_kernel kernel = {.kernel = 1};
	struct error err = {0};
	struct spool_writer w;
	char path[300];
	int rc;

	memcpy(h.magic, SPOOL_MAGIC, sizeof(h.magic));
	h.version = SPOOL_VERSION;
	h.byte_order = SPOOL_BYTE_ORDER;
	snprintf(h.collection, sizeof(h.collection), "bench");
	snprintf(h.plan_hash, sizeof(h.plan_hash), "%s", plan.hash);
	snprintf(path, sizeof(path), "%s/spool/l.h.%u.%u.rts", dir, rank, rank + 1);
	if (spool_create(&w, path, &h, &err))
		die(&err);
	rc = spool_append(&w, SPOOL_KERNEL, &kernel, sizeof(kernel), "k", 1, &err);
	for (uint64_t i = 0; !rc && i < dispatches * plan.n_passes; i++) {
		uint32_t pass = (uint32_t)(i % plan.n_passes) + 1;
		uint64_t number = i / plan.n_passes;
		struct spool_dispatch d = {.dispatch = number,
					   .kernel = 1,
					   .unit = SPOOL_UNIT_DISPATCH,
					   .pass = pass,
					   .grid = {64, 1, 1},
					   .block = {256, 1, 1},
					   .begin_ns = i * 1000,
					   .end_ns = i * 1000 + 700,
					   .attempt = 1,
					   .flags = SPOOL_DISPATCH_REPLAYED};
		struct spool_samples head = {.pass = pass, .n = 1, .dispatch = number};
		struct spool_sample one = {.counter = pass - 1,
					   .instance = SPOOL_INSTANCE_ALL,
					   .value = {.u64 = number * 2654435761u + rank}};

		rc = spool_append(&w, SPOOL_DISPATCH, &d, sizeof(d), NULL, 0, &err);
		if (!rc)
			rc = spool_append(&w, SPOOL_SAMPLES, &head, sizeof(head), &one, sizeof(one),
					  &err);
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

/* In a child: opens, or opens and reads all rows. */
static void measure(const char *dir, const char *what, bool scan, double samples)
{
	double begin = now(), end, cpu;
	struct rusage u;
	int status = 0;
	pid_t child = fork();

	if (!child) {
		struct store_scan all = {.pass = STORE_ALL_PASSES};
		struct error err = {0};
		struct store *s;
		uint64_t n = 0;

		if (store_open(&s, dir, &err) || (scan && store_scan(s, &all, count, &n, &err)))
			die(&err);
		store_close(s);
		_exit(scan && n != (uint64_t)samples);
	}
	if (child < 0 || wait4(child, &status, 0, &u) != child || status) {
		fprintf(stderr, "bench_merge: %s failed\n", what);
		exit(1);
	}
	end = now();
	cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	      (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
	printf("%-8s %8.2f s, %8.2f s CPU (%.2f s in the kernel), %6.2f M samples per CPU second, "
	       "at most %.0f MiB\n",
	       what, end - begin, cpu,
	       (double)u.ru_stime.tv_sec + (double)u.ru_stime.tv_usec * 1e-6, samples / cpu / 1e6,
	       (double)u.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
	uint32_t spools = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20;
	uint64_t dispatches = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
	uint32_t passes = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 13;
	char made[] = "/tmp/bench_merge.XXXXXX", path[300];
	const char *dir = argc > 4 ? argv[4] : mkdtemp(made);
	double samples = (double)spools * (double)dispatches * passes;
	struct stat st;

	if (!dir || !spools || !dispatches || !passes || passes > PASSES_MAX)
		return 2;
	mkdir(dir, 0777);
	snprintf(path, sizeof(path), "%s/spool", dir);
	mkdir(path, 0777);
	write_plan(dir, passes);
	for (uint32_t i = 0; i < spools; i++)
		write_spool(dir, i, spools, dispatches);
	printf("%u spools, %llu dispatches and %u passes each: %.1f M samples\n", spools,
	       (unsigned long long)dispatches, passes, samples / 1e6);
	fflush(stdout);
	measure(dir, "ingest", false, samples);
	measure(dir, "scan", true, samples);
	snprintf(path, sizeof(path), "%s/retally.db", dir);
	if (!stat(path, &st))
		printf("retally.db %.1f MB, %.1f bytes a sample\n", (double)st.st_size / 1e6,
		       (double)st.st_size / samples);
	if (argc <= 4) {
		unlink(path);
		for (uint32_t i = 0; i < spools; i++) {
			snprintf(path, sizeof(path), "%s/spool/l.h.%u.%u.rts", dir, i, i + 1);
			unlink(path);
		}
		snprintf(path, sizeof(path), "%s/plan.json", dir);
		unlink(path);
		snprintf(path, sizeof(path), "%s/spool", dir);
		rmdir(path);
		rmdir(dir);
	}
	return 0;
}
