/* SPDX-License-Identifier: Apache-2.0 */
/* What the spool tests share: a directory of their own, a header, numbered records. */
#ifndef RETALLY_TESTS_SPOOL_FIXTURE_H
#define RETALLY_TESTS_SPOOL_FIXTURE_H

#include "../test.h"
#include "wire/spool.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char fixture_dir[64];
static char fixture_path[128];

static inline int fixture_setup(void **state)
{
	(void)state;
	snprintf(fixture_dir, sizeof(fixture_dir), "/tmp/retally-spool.XXXXXX");
	if (!mkdtemp(fixture_dir))
		return -1;
	snprintf(fixture_path, sizeof(fixture_path), "%s/a.rts", fixture_dir);
	return 0;
}

static inline int fixture_teardown(void **state)
{
	DIR *dir = opendir(fixture_dir);
	struct dirent *entry;

	(void)state;
	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	return rmdir(fixture_dir);
}

static inline struct spool_header fixture_header(void)
{
	return (struct spool_header){
		.collection = "0123456789abcdef0123456789abcdef",
		.launch = "launch",
		.plan_hash = "fedcba9876543210fedcba9876543210",
		.host = "node17",
		.rank = 3,
		.size = 64,
		.local_rank = SPOOL_RANK_NONE,
		.pid = 4711,
		.start_ns = 1700000000000000000u,
	};
}

/* Record number i: samples with i % 9 values, all of them told by i. */
static inline int fixture_append(struct spool_writer *w, uint64_t i, struct error *err)
{
	struct spool_samples head = {.pass = 1, .n = (uint32_t)(i % 9), .dispatch = i};
	struct spool_sample samples[8] = {0};

	for (uint32_t k = 0; k < head.n; k++) {
		samples[k].counter = k;
		samples[k].value.u64 = i * 1000 + k;
	}
	return spool_append(w, SPOOL_SAMPLES, &head, sizeof(head), samples,
			    head.n * sizeof(samples[0]), err);
}

static inline bool fixture_is_record(const struct spool_record *record, uint64_t i)
{
	const struct spool_samples *head = record->payload;
	const struct spool_sample *samples = (const struct spool_sample *)(head + 1);

	if (record->type != SPOOL_SAMPLES || head->dispatch != i || head->n != i % 9 ||
	    record->size != sizeof(*head) + head->n * sizeof(*samples))
		return false;
	for (uint32_t k = 0; k < head->n; k++)
		if (samples[k].counter != k || samples[k].value.u64 != i * 1000 + k)
			return false;
	return true;
}

/* Number of records, each checked, or -1 with err. The reader is closed. */
static inline int64_t fixture_count(struct spool_reader *r, struct error *err)
{
	struct spool_record record;
	int64_t n = 0;
	int rc;

	while ((rc = spool_next(r, &record, err)) == 1) {
		if (!fixture_is_record(&record, (uint64_t)n)) {
			error_set(err, RC_ERROR, "record %lld is not what was written",
				  (long long)n);
			rc = -1;
			break;
		}
		n++;
	}
	spool_close_reader(r);
	return rc ? -1 : n;
}

#endif
