/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report of a run directory costs, by kernel as a table and by dispatch as CSV. Usage:
 * bench_report DIRECTORY; `bench_ingest 1 1000000 1 8 DIRECTORY` makes one with a million.
 * Without an argument it does nothing.
 */
#include "report/report.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int measure(const char *dir, const char *what, const struct report_options *o)
{
	double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID), opened;
	FILE *f = fopen("/dev/null", "w");
	struct error err = {0};
	struct store *s;

	if (!f)
		return 1;
	if (store_open(&s, dir, &err)) {
		fprintf(stderr, "bench_report: %s\n", err.message);
		return 1;
	}
	opened = now(CLOCK_MONOTONIC);
	if (report_write(s, o, f, &err)) {
		fprintf(stderr, "bench_report: %s\n", err.message);
		return 1;
	}
	printf("%-24s open %6.3f s, write %6.3f s, cpu of both %6.3f s\n", what, opened - wall,
	       now(CLOCK_MONOTONIC) - opened, now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	store_close(s);
	fclose(f);
	return 0;
}

int main(int argc, char **argv)
{
	struct report_options by_kernel = {.by = REPORT_BY_KERNEL, .format = TABLE_TEXT};
	struct report_options by_dispatch = {.by = REPORT_BY_DISPATCH, .format = TABLE_CSV};

	if (argc != 2) {
		puts("bench_report: needs a run directory (bench_ingest makes one)");
		return 0;
	}
	if (measure(argv[1], "first, by kernel", &by_kernel) ||
	    measure(argv[1], "by kernel", &by_kernel))
		return 1;
	return measure(argv[1], "by dispatch, CSV", &by_dispatch);
}
