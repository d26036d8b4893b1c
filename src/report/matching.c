/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the dispatches of several executions of the program were brought together: how many pairs of
 * each kind, the lowest confidence, and what not every execution has, by kernel.
 */
#include "report/parts.h"

void row_identify(const struct store *s, const struct store_row *r, struct store_match *match_out,
		  uint64_t *number_out, uint32_t *process_out)
{
	store_match(s, r, match_out);
	*process_out = (uint32_t)r->run->spool->id * 4 + r->unit % 4;
	*number_out = r->dispatch;
	if (match_out->compared) { /* the executions of a lane share their rows */
		*process_out = match_out->lane * 4 + r->unit % 4;
		*number_out = match_out->logical | 1ull << 63;
	}
}

#define UNMATCHED_LINES 8

uint64_t unmatched_of(const struct store *s, uint32_t kernel)
{
	const struct store_unmatched *u;
	size_t n;

	u = store_unmatched(s, &n);
	for (size_t i = 0; i < n; i++) {
		if (u[i].kernel == kernel)
			return u[i].n;
	}
	return 0;
}

void text_matching(struct store *s, const struct values_options *vo, struct str *out)
{
	const struct store_matching *m = store_matching(s);
	const struct store_unmatched *u;
	uint64_t unsure = m->pairs[MATCH_ALIGNED] + m->pairs[MATCH_BY_ANCHOR];
	size_t n;

	/* One process that runs again for each pass leaves nothing to choose. */
	if (!m->lanes || (m->dispatches <= m->lanes && !unsure && !m->incomplete))
		return;
	str_addf(out, "matching   %llu dispatches in %u executions: %llu pairs exact",
		 (unsigned long long)m->dispatches, m->executions,
		 (unsigned long long)m->pairs[MATCH_EXACT]);
	if (unsure)
		str_addf(out,
			 ", %llu aligned, %llu by their anchors;\n           lowest confidence "
			 "%.2g",
			 (unsigned long long)m->pairs[MATCH_ALIGNED],
			 (unsigned long long)m->pairs[MATCH_BY_ANCHOR], m->lowest);
	str_add(out, "\n");
	if (!m->incomplete)
		return;
	str_addf(out,
		 "           not matched: %llu that not every execution has (%llu in one only)\n",
		 (unsigned long long)m->incomplete, (unsigned long long)m->alone);
	u = store_unmatched(s, &n);
	for (size_t i = 0; i < n && i < UNMATCHED_LINES; i++)
		str_addf(out, "             %llu of %llu of %.60s\n", (unsigned long long)u[i].n,
			 (unsigned long long)u[i].of, values_shown_name(s, vo, u[i].kernel));
	if (n > UNMATCHED_LINES)
		str_addf(out, "             and of %zu more kernels\n", n - UNMATCHED_LINES);
	str_add(out, "             `retally report --by dispatch --wide` lists them\n");
}

void json_matching(struct store *s, const struct values_options *vo, struct json_writer *w)
{
	const struct store_matching *m = store_matching(s);
	const struct store_unmatched *u;
	const struct {
		const char *key;
		uint64_t value;
	} members[] = {
		{"executions", m->executions},
		{"dispatches", m->dispatches},
		{"exact", m->pairs[MATCH_EXACT]},
		{"aligned", m->pairs[MATCH_ALIGNED]},
		{"nearest", m->pairs[MATCH_BY_ANCHOR]},
		{"incomplete", m->incomplete},
		{"alone", m->alone},
	};
	size_t n;

	json_key(w, "matching");
	if (!m->lanes) {
		json_null(w);
		return;
	}
	json_begin_object(w);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		json_key(w, members[i].key);
		json_uint(w, members[i].value);
	}
	json_key(w, "lowest_confidence");
	json_double(w, m->lowest);
	json_key(w, "unmatched");
	json_begin_array(w);
	u = store_unmatched(s, &n);
	for (size_t i = 0; i < n; i++) {
		json_begin_object(w);
		json_key(w, "kernel");
		json_string(w, values_shown_name(s, vo, u[i].kernel));
		json_key(w, "n");
		json_uint(w, u[i].n);
		json_key(w, "of");
		json_uint(w, u[i].of);
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}
