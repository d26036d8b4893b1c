/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a pass's records. */
#include "launch/record.h"

#include <string.h>

static void record_append(struct record *r, enum spool_type type, const void *a, size_t na,
			  const void *b, size_t nb)
{
	if (r->failed)
		return;
	if (spool_append_checked(r->spool, type, a, na, b, nb, &r->why))
		r->failed = true;
}

void record_pass_begin(struct record *r, uint32_t pass, uint32_t passes, uint64_t begin_ns,
		       int32_t pid)
{
	struct spool_pass_begin begin = {
		.pass = pass,
		.passes = passes,
		.time_ns = begin_ns,
		.pid = (uint32_t)pid,
		.attempt = 1,
	};

	record_append(r, SPOOL_PASS_BEGIN, &begin, sizeof(begin), "process", strlen("process"));
}

void record_samples(struct record *r, uint32_t pass, const struct record_times *times,
		    const struct spool_sample *samples, uint32_t n, uint64_t enabled_ns,
		    uint64_t running_ns)
{
	struct spool_dispatch dispatch = {
		.unit = SPOOL_UNIT_PROCESS,
		.pass = pass,
		.begin_ns = times->begin_ns,
		.end_ns = times->end_ns,
	};
	struct spool_samples head = {
		.pass = pass,
		.n = n,
		.enabled_ns = enabled_ns,
		.running_ns = running_ns,
	};

	record_append(r, SPOOL_DISPATCH, &dispatch, sizeof(dispatch), NULL, 0);
	record_append(r, SPOOL_SAMPLES, &head, sizeof(head), samples, n * sizeof(*samples));
}

void record_pass_end(struct record *r, uint32_t pass, int exit_code, int signal, uint32_t flags,
		     const struct record_times *times)
{
	struct spool_pass_end end = {
		.pass = pass,
		.exit_code = signal ? -1 : exit_code,
		.signal = signal,
		.flags = flags,
		.time_ns = times->end_ns,
		.wall_ns = times->end_ns - times->begin_ns,
		.user_ns = times->user_ns,
		.system_ns = times->system_ns,
		.max_rss_bytes = times->max_rss_bytes,
	};

	record_append(r, SPOOL_PASS_END, &end, sizeof(end), NULL, 0);
}

void record_note(struct record *r, uint32_t pass, enum spool_note_kind kind, const char *text)
{
	struct spool_note note = {.pass = pass, .kind = (uint32_t)kind};

	record_append(r, SPOOL_NOTE, &note, sizeof(note), text, strlen(text));
}
