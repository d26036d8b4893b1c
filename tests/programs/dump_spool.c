/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_spool DIR|FILE...: the records of spool files, one a line, for tests:
 *   file PASSES-BEGUN RANK | begin PASS/PASSES | end PASS status N | value PASS COUNTER VALUE |
 *   value PASS COUNTER status N | note PASS KIND SENTENCE
 */
#include "wire/plan.h"
#include "wire/spool.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

static void dump_record(const struct spool_record *r)
{
	const struct spool_pass_begin *begin = r->payload;
	const struct spool_pass_end *end = r->payload;
	const struct spool_samples *samples = r->payload;
	const struct spool_sample *sample = (const void *)(samples + 1);
	const struct spool_note *note = r->payload;

	switch (r->type) {
	case SPOOL_PASS_BEGIN:
		printf("begin %u/%u\n", begin->pass, begin->passes);
		break;
	case SPOOL_PASS_END:
		printf("end %u status %d\n", end->pass, end->exit_code);
		break;
	case SPOOL_SAMPLES:
		for (uint32_t i = 0; i < samples->n; i++)
			if (sample[i].status == SAMPLE_OK)
				printf("value %u %u %llu\n", samples->pass, sample[i].counter,
				       (unsigned long long)sample[i].value.u64);
			else
				printf("value %u %u status %d\n", samples->pass, sample[i].counter,
				       sample[i].status);
		break;
	case SPOOL_NOTE:
		printf("note %u %u %.*s\n", note->pass, note->kind, (int)(r->size - sizeof(*note)),
		       (const char *)(note + 1));
		break;
	default:
		break;
	}
}

static int dump_file(const char *path)
{
	struct spool_record record;
	struct error err = {0};
	struct spool_reader r;
	int rc;

	if (spool_open(&r, path, &err)) {
		printf("bad %s\n", err.message);
		return 1;
	}
	printf("file rank %d\n", r.header.rank);
	while ((rc = spool_next(&r, &record, &err)) > 0)
		dump_record(&record);
	if (rc < 0)
		printf("bad %s\n", err.message);
	spool_close_reader(&r);
	return rc < 0;
}

int main(int argc, char **argv)
{
	int rc = 0;

	for (int i = 1; i < argc; i++) {
		char pattern[4200];
		glob_t g;

		snprintf(pattern, sizeof(pattern), "%s/spool/*.rts", argv[i]);
		if (glob(pattern, 0, NULL, &g)) {
			rc |= dump_file(argv[i]);
			continue;
		}
		for (size_t k = 0; k < g.gl_pathc; k++)
			rc |= dump_file(g.gl_pathv[k]);
		globfree(&g);
	}
	return rc;
}
