/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What replaying in place did and cost: windows by size and by the call that ended them, time and
 * bytes against the plain run, and the dispatches that were not replayed, with the reason and what
 * was done instead.
 */
#include "report/parts.h"

#include <string.h>

static const struct table_column window_columns[] = {
	{"size", "dispatches in it", NULL, TABLE_STRING, TABLE_RIGHT},
	{"ended_by", "ended by", NULL, TABLE_STRING, 0},
	{"replayed", NULL, NULL, TABLE_BOOL, 0},
	{"windows", NULL, NULL, TABLE_NUMBER, 0},
	{"dispatches", NULL, NULL, TABLE_NUMBER, 0},
	{"transfers", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"passes", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"live_ns", "live", "ns", TABLE_NUMBER, 0},
	{"span_ns", "with replays", "ns", TABLE_NUMBER, 0},
	{"run_ns", NULL, "ns", TABLE_NUMBER, TABLE_ONLY_DATA},
	{"program_ns", NULL, "ns", TABLE_NUMBER, TABLE_ONLY_DATA},
	{"save_ns", NULL, "ns", TABLE_NUMBER, TABLE_ONLY_DATA},
	{"restore_ns", NULL, "ns", TABLE_NUMBER, TABLE_ONLY_DATA},
	{"check_ns", NULL, "ns", TABLE_NUMBER, TABLE_ONLY_DATA},
	{"reach_bytes", NULL, "bytes", TABLE_NUMBER, TABLE_ONLY_DATA},
	{"saved_bytes", "saved", "bytes", TABLE_NUMBER, 0},
	{"restored_bytes", "restored", "bytes", TABLE_NUMBER, 0},
	{"spared_bytes", NULL, "bytes", TABLE_NUMBER, TABLE_ONLY_DATA},
};
static const struct table_column declined_columns[] = {
	{"n", "dispatches", NULL, TABLE_NUMBER, 0},
	COLUMNS_KERNEL,
	{"instead", NULL, NULL, TABLE_STRING, 0},
	{"reason", NULL, NULL, TABLE_STRING, 0},
};

static const char *instead_name(uint32_t instead)
{
	static const char *const names[] = {"not counted", "one pass each, live", "replayed alone",
					    "estimated"};

	return instead < sizeof(names) / sizeof(names[0]) ? names[instead] : "unknown";
}

static void add_window(struct table *t, const struct store_window *w)
{
	const uint64_t rest[] = {w->live_ns,     w->span_ns,        w->run_ns,      w->program_ns,
				 w->save_ns,     w->restore_ns,     w->check_ns,    w->reach_bytes,
				 w->saved_bytes, w->restored_bytes, w->spared_bytes};
	char size[48];

	if (w->most == w->least)
		snprintf(size, sizeof(size), "%llu", (unsigned long long)w->least);
	else if (w->most)
		snprintf(size, sizeof(size), "%llu-%llu", (unsigned long long)w->least,
			 (unsigned long long)w->most);
	else
		snprintf(size, sizeof(size), "%llu and more", (unsigned long long)w->least);
	table_add_string(t, size);
	table_add_string(t, w->ended_by);
	table_add_bool(t, w->replayed);
	table_add_u64(t, w->n);
	table_add_u64(t, w->dispatches);
	table_add_u64(t, w->transfers);
	table_add_u64(t, w->passes);
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		table_add_u64(t, rest[i]);
	table_end_row(t);
}

static int begin(struct table **t, const char *title, const struct table_column *columns, size_t n,
		 const struct report_options *o, FILE *f, struct json_writer *json,
		 struct error *err)
{
	struct table_options to = {.format = o->format,
				   .base_units = o->base_units,
				   .out = f,
				   .json = json,
				   .indent = "  "};

	if (o->format == TABLE_TEXT && fprintf(f, "\n%s\n", title) < 0)
		return error_set(err, RC_IO, "the report could not be written");
	return table_begin(t, columns, n, &to, err);
}

int windows_table(struct store *s, const struct report_options *o, FILE *f,
		  struct json_writer *json, struct error *err)
{
	const struct store_window *w;
	struct table *t = NULL;
	size_t n;
	int rc = begin(&t, "windows", window_columns,
		       sizeof(window_columns) / sizeof(window_columns[0]), o, f, json, err);

	if (rc)
		return rc;
	w = store_windows(s, &n);
	for (size_t i = 0; i < n; i++)
		add_window(t, &w[i]);
	return table_end(t, err);
}

int declined_table(struct store *s, const struct values_options *vo, const struct report_options *o,
		   FILE *f, struct json_writer *json, struct error *err)
{
	const struct store_declined *d;
	const struct store_kernel *kernels;
	size_t n, n_kernels;
	struct table *t = NULL;
	int rc = begin(&t, "declined", declined_columns,
		       sizeof(declined_columns) / sizeof(declined_columns[0]), o, f, json, err);

	if (rc)
		return rc;
	kernels = store_kernels(s, &n_kernels);
	d = store_declined(s, &n);
	for (size_t i = 0; i < n; i++) {
		bool any = d[i].kernel >= n_kernels;

		if (!any && vo->kernels && !vo->kernels[d[i].kernel])
			continue;
		table_add_u64(t, d[i].n);
		table_add_string(t, any ? NULL : values_shown_name(s, vo, d[i].kernel));
		table_add_string(t, any ? NULL : unit_name(kernels[d[i].kernel].unit));
		table_add_string(t, instead_name(d[i].instead));
		table_add_string(t, d[i].reason);
		table_end_row(t);
	}
	return table_end(t, err);
}

/* ---- sums ---- */
static struct store_window sum_windows(const struct store *s)
{
	struct store_window sum = {0};
	const struct store_window *w;
	size_t n;

	w = store_windows(s, &n);
	for (size_t i = 0; i < n; i++) {
		sum.n += w[i].n;
		sum.dispatches += w[i].dispatches;
		sum.transfers += w[i].transfers;
		sum.passes += w[i].passes;
		sum.span_ns += w[i].span_ns;
		sum.live_ns += w[i].live_ns;
		sum.save_ns += w[i].save_ns;
		sum.restore_ns += w[i].restore_ns;
		sum.check_ns += w[i].check_ns;
		sum.program_ns += w[i].program_ns;
		sum.run_ns += w[i].run_ns;
		sum.saved_bytes += w[i].saved_bytes;
		sum.restored_bytes += w[i].restored_bytes;
		sum.spared_bytes += w[i].spared_bytes;
	}
	return sum;
}

static void add_scaled(struct str *out, const char *before, uint64_t value, const char *unit)
{
	struct scale scale = scale_pick(NUMBER_U64(value), unit, false);

	str_add(out, before);
	scale_print(&scale, NUMBER_U64(value), out);
	str_addf(out, " %s", scale.unit);
}

void text_replay(const struct store *s, struct str *out)
{
	struct store_window w = sum_windows(s);

	if (!w.n)
		return;
	str_addf(out, "replay     %llu window%s, %llu dispatch%s: ", (unsigned long long)w.n,
		 w.n == 1 ? "" : "s", (unsigned long long)w.dispatches,
		 w.dispatches == 1 ? "" : "es");
	add_scaled(out, "", w.live_ns, "ns");
	add_scaled(out, " live, ", w.span_ns, "ns");
	str_add(out, " with replays");
	if (w.live_ns)
		str_addf(out, " (%.1f times)", (double)w.span_ns / (double)w.live_ns);
	str_add(out, "\n           ");
	add_scaled(out, "counters ", w.program_ns, "ns");
	add_scaled(out, ", dispatches ", w.run_ns, "ns");
	add_scaled(out, ", save ", w.save_ns, "ns");
	add_scaled(out, ", restore ", w.restore_ns, "ns");
	add_scaled(out, ", checks ", w.check_ns, "ns");
	add_scaled(out, "\nmemory     saved ", w.saved_bytes, "bytes");
	add_scaled(out, ", restored ", w.restored_bytes, "bytes");
	add_scaled(out, ", spared ", w.spared_bytes, "bytes");
	str_add(out, "\n");
}

void json_replay(const struct store *s, struct json_writer *w)
{
	struct store_window sum = sum_windows(s);
	const struct {
		const char *key;
		uint64_t value;
	} members[] = {
		{"windows", sum.n},
		{"dispatches", sum.dispatches},
		{"transfers", sum.transfers},
		{"passes", sum.passes},
		{"live_ns", sum.live_ns},
		{"span_ns", sum.span_ns},
		{"run_ns", sum.run_ns},
		{"program_ns", sum.program_ns},
		{"save_ns", sum.save_ns},
		{"restore_ns", sum.restore_ns},
		{"check_ns", sum.check_ns},
		{"saved_bytes", sum.saved_bytes},
		{"restored_bytes", sum.restored_bytes},
		{"spared_bytes", sum.spared_bytes},
	};

	json_key(w, "replay");
	if (!sum.n) {
		json_null(w);
		return;
	}
	json_begin_object(w);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		json_key(w, members[i].key);
		json_uint(w, members[i].value);
	}
	json_end_object(w);
}
