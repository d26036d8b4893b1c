/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to take spools into the database and to read it back: a run directory with one pass
 * and eight counters a dispatch is written, opened (which ingests it), opened again (which finds
 * nothing new) and scanned. Usage: bench_ingest [DISPATCHES [DIRECTORY-TO-KEEP]]
 */
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COUNTERS 8
#define KERNELS  64

static void die(const struct error *err)
{
	fprintf(stderr, "bench_ingest: %s\n", err->message);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void write_spool(const char *dir, const struct plan *plan, uint64_t dispatches)
{
	struct spool_header h = {.rank = SPOOL_RANK_NONE, .size = -1, .local_rank = -1, .pid = 1};
	struct spool_pass_begin begin = {.pass = 1, .passes = 1, .attempt = 1};
	struct spool_pass_end end = {.pass = 1, .wall_ns = dispatches * 1000};
	struct spool_sample samples[COUNTERS];
	struct error err = {0};
	struct spool_writer w;
	char path[300];
	int rc;

	memcpy(h.magic, SPOOL_MAGIC, sizeof(h.magic));
	h.version = SPOOL_VERSION;
	h.byte_order = SPOOL_BYTE_ORDER;
	snprintf(h.collection, sizeof(h.collection), "bench");
	snprintf(h.plan_hash, sizeof(h.plan_hash), "%s", plan->hash);
	snprintf(path, sizeof(path), "%s/spool/a.rts", dir);
	if (spool_create(&w, path, &h, &err))
		die(&err);
	rc = spool_append(&w, SPOOL_PASS_BEGIN, &begin, sizeof(begin), "process", 7, &err);
	for (uint32_t k = 1; !rc && k <= KERNELS; k++) {
		struct spool_kernel kernel = {.kernel = k};
		char name[32];
		int n = snprintf(name, sizeof(name), "kernel_%u", k);

		rc = spool_append(&w, SPOOL_KERNEL, &kernel, sizeof(kernel), name, (size_t)n, &err);
	}
	for (uint64_t i = 0; !rc && i < dispatches; i++) {
		struct spool_dispatch d = {.dispatch = i,
					   .kernel = (uint32_t)(i % KERNELS + 1),
					   .unit = SPOOL_UNIT_DISPATCH,
					   .pass = 1,
					   .grid = {64, 1, 1},
					   .block = {256, 1, 1},
					   .begin_ns = i * 1000,
					   .end_ns = i * 1000 + 700};
		struct spool_samples head = {.pass = 1, .n = COUNTERS, .dispatch = i};

		for (uint32_t c = 0; c < COUNTERS; c++)
			samples[c] = (struct spool_sample){
				.counter = c,
				.instance = SPOOL_INSTANCE_ALL,
				.value = {.u64 = (i * 2654435761u) >> (c * 4)}};
		rc = spool_append(&w, SPOOL_DISPATCH, &d, sizeof(d), NULL, 0, &err);
		if (!rc)
			rc = spool_append(&w, SPOOL_SAMPLES, &head, sizeof(head), samples,
					  sizeof(samples), &err);
	}
	if (!rc)
		rc = spool_append(&w, SPOOL_PASS_END, &end, sizeof(end), NULL, 0, &err);
	if (rc || spool_close(&w, &err))
		die(&err);
}

static void write_plan(const char *dir, struct plan *plan)
{
	static struct plan_counter counters[COUNTERS];
	static const uint32_t all[COUNTERS] = {0, 1, 2, 3, 4, 5, 6, 7}, of_ratio[] = {0, 1};
	static struct plan_pass passes[] = {{COUNTERS, all, "", ""}};
	static struct plan_metric metrics[] = {{"ratio", "Ratio", "", "c1 / c0", 2, of_ratio, 1}};
	static char names[COUNTERS][8];
	struct error err = {0};
	char path[300];

	for (int c = 0; c < COUNTERS; c++) {
		snprintf(names[c], sizeof(names[c]), "c%d", c);
		counters[c] = (struct plan_counter){names[c], "sim", "block", "count", 0, ""};
	}
	*plan = (struct plan){.chip = "sim",
			      .selection = "",
			      .lower_bound = 1,
			      .proven = true,
			      .n_counters = COUNTERS,
			      .counters = counters,
			      .n_passes = 1,
			      .passes = passes,
			      .n_metrics = 1,
			      .metrics = metrics};
	snprintf(path, sizeof(path), "%s/plan.json", dir);
	if (plan_write_file(plan, path, &err))
		die(&err);
}

static int add_up(void *data, const struct store_row *r, struct error *err)
{
	uint64_t *sum = data;

	(void)err;
	for (size_t i = 0; i < r->n_values; i++)
		*sum += r->values[i].value.u64;
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t dispatches = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	char made[] = "/tmp/bench_ingest.XXXXXX", path[300];
	const char *dir = argc > 2 ? argv[2] : mkdtemp(made);
	struct store_scan all = {.pass = 1};
	double samples = (double)dispatches * COUNTERS, t0, t1, t2, t3;
	struct store *s;
	struct error err = {0};
	struct plan plan;
	struct stat st;
	uint64_t sum = 0;

	snprintf(path, sizeof(path), "%s/spool", dir);
	mkdir(dir, 0777);
	mkdir(path, 0777);
	write_plan(dir, &plan);
	write_spool(dir, &plan, dispatches);
	t0 = now();
	if (store_open(&s, dir, &err))
		die(&err);
	t1 = now();
	store_close(s);
	if (store_open(&s, dir, &err))
		die(&err);
	t2 = now();
	if (store_scan(s, &all, add_up, &sum, &err))
		die(&err);
	t3 = now();
	store_close(s);
	snprintf(path, sizeof(path), "%s/retally.db", dir);
	if (stat(path, &st))
		return 1;
	printf("%llu dispatches, %d counters each\n", (unsigned long long)dispatches, COUNTERS);
	printf("ingest      %8.3f s  %6.2f M samples/s\n", t1 - t0, samples / (t1 - t0) / 1e6);
	printf("reopen      %8.3f s\n", t2 - t1);
	printf("scan        %8.3f s  %6.2f M samples/s\n", t3 - t2, samples / (t3 - t2) / 1e6);
	printf("retally.db  %8.1f MB, %.1f bytes a sample\n", (double)st.st_size / 1e6,
	       (double)st.st_size / samples);
	if (argc <= 2) {
		unlink(path);
		snprintf(path, sizeof(path), "%s/plan.json", dir);
		unlink(path);
		snprintf(path, sizeof(path), "%s/spool/a.rts", dir);
		unlink(path);
		snprintf(path, sizeof(path), "%s/spool", dir);
		rmdir(path);
		rmdir(dir);
	}
	return sum == 0;
}
