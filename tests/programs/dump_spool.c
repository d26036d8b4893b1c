/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_spool DIR|FILE...: the records of spool files, one a line, for tests:
 *   file PASSES-BEGUN RANK | begin PASS/PASSES | end PASS status N | value PASS COUNTER VALUE |
 *   value PASS COUNTER status N | note PASS KIND SENTENCE |
 *   range PASS NAME queue N flags N, then its values | window PASSES | declined COUNT NAME: REASON
 */
#include "wire/plan.h"
#include "wire/spool.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

static const struct spool_record *names[64];
static struct spool_record name_records[64];
static unsigned n_names;

/* The name of a range; line feeds would break ours. */
static void print_name(uint32_t kernel)
{
	for (unsigned i = 0; i < n_names; i++) {
		const struct spool_kernel *k = names[i]->payload;
		const char *text = (const char *)(k + 1);

		if (k->kernel != kernel)
			continue;
		for (size_t at = 0; at < names[i]->size - sizeof(*k); at++)
			putchar(text[at] == '\n' ? '?' : text[at]);
		return;
	}
}

static void dump_record(const struct spool_record *r)
{
	const struct spool_pass_begin *begin = r->payload;
	const struct spool_pass_end *end = r->payload;
	const struct spool_samples *samples = r->payload;
	const struct spool_sample *sample = (const void *)(samples + 1);
	const struct spool_note *note = r->payload;
	const struct spool_dispatch *d = r->payload;
	const struct spool_window *w = r->payload;
	const struct spool_decline *decline = r->payload;

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
	case SPOOL_KERNEL:
		if (n_names < 64) {
			name_records[n_names] = *r;
			names[n_names] = &name_records[n_names];
			n_names++;
		}
		break;
	case SPOOL_DISPATCH:
		if (d->unit != SPOOL_UNIT_RANGE)
			break;
		printf("range %u ", d->pass);
		print_name(d->kernel);
		printf(" queue %llu flags %u\n", (unsigned long long)d->queue, d->flags);
		break;
	case SPOOL_WINDOW:
		printf("window %u\n", w->passes);
		break;
	case SPOOL_DECLINE:
		printf("declined %llu ", (unsigned long long)decline->count);
		print_name(decline->kernel);
		printf(": %.*s\n", (int)(r->size - sizeof(*decline)), (const char *)(decline + 1));
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
	n_names = 0;
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
