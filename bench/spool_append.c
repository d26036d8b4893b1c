/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of one record in the spool, chunks included: samples records with 8 samples and with 1,
 * appended to a new file in DIRECTORY (default $TMPDIR or /tmp), the median and the best of 9
 * rounds. The target is at most 200 ns for either.
 */
#include "wire/spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS  9
#define RECORDS 300000

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ns per record of one file, or a negative number. */
static double one_round(const char *path, uint32_t n_samples, struct error *err)
{
	struct spool_header header = {.rank = SPOOL_RANK_NONE};
	struct spool_samples head = {.pass = 1, .n = n_samples};
	struct spool_sample samples[8] = {0};
	struct spool_writer w;
	double begin, end;
	int rc = spool_create(&w, path, &header, err);

	if (rc)
		return -1;
	begin = now_ns();
	for (uint64_t i = 0; i < RECORDS && !rc; i++) {
		head.dispatch = i;
		for (uint32_t k = 0; k < n_samples; k++) {
			samples[k].counter = k;
			samples[k].value.u64 = i * k;
		}
		rc = spool_append(&w, SPOOL_SAMPLES, &head, sizeof(head), samples,
				  n_samples * sizeof(samples[0]), err);
	}
	end = now_ns();
	if (!rc)
		rc = spool_close(&w, err);
	else
		spool_close(&w, NULL);
	unlink(path);
	return rc ? -1 : (end - begin) / RECORDS;
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {8, 1};
	const char *dir = argc > 1 ? argv[1] : getenv("TMPDIR");
	double ns[ROUNDS];
	struct error err = {0};
	char path[4096];

	snprintf(path, sizeof(path), "%s/bench-spool.%d.rts", dir ? dir : "/tmp", (int)getpid());
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		for (int i = 0; i < ROUNDS; i++) {
			ns[i] = one_round(path, sizes[s], &err);
			if (ns[i] < 0) {
				fprintf(stderr, "spool_append: %s\n", err.message);
				return 1;
			}
		}
		qsort(ns, ROUNDS, sizeof(ns[0]), compare);
		printf("spool append, %u sample%s a record (%u bytes): median %.1f ns, best %.1f "
		       "ns\n",
		       sizes[s], sizes[s] == 1 ? "" : "s", 48 + 16 * sizes[s], ns[ROUNDS / 2],
		       ns[0]);
	}
	return 0;
}
