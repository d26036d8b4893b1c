/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace events as JSON, which ui.perfetto.dev and chrome://tracing open: a process for each rank or
 * process, a track for each device and queue with its dispatches as slices, and a track for each
 * counter. A slice carries all values of its dispatch. Times are those of the first pass that has a
 * dispatch, of that machine's clock.
 */
#include "base/json.h"
#include "export/parts.h"

#include <stdlib.h>
#include <string.h>

#define LANES_MAX 1000 /* per process and queue; later ones share the last */

struct lane { /* slices on a track must not overlap; more lanes where they do */
	uint32_t process, device, unit;
	uint64_t queue, end_ns;
	uint32_t number;
};
struct trace {
	const struct join *j;
	const struct export_kernels *k;
	FILE *f;
	struct str out;
	struct json_writer w;
	VEC(struct lane) lanes;
	bool failed;
};

static void flush(struct trace *t, size_t at_least)
{
	t->failed = t->failed || t->out.failed;
	if (t->failed || !t->out.size || t->out.size < at_least)
		return;
	t->failed = fwrite(t->out.text, 1, t->out.size, t->f) != t->out.size;
	str_clear(&t->out);
}

static uint32_t process_id(const struct join_row *r)
{
	return r->spool->rank >= 0 ? (uint32_t)r->spool->rank : (uint32_t)r->spool->pid;
}

/* Microseconds with all digits of the nanoseconds. */
static void add_time(struct trace *t, const char *key, uint64_t ns)
{
	json_key(&t->w, key);
	json_double(&t->w, (double)ns / 1000);
}

static void begin_event(struct trace *t, const char *phase, const char *name, uint32_t pid)
{
	json_begin_object(&t->w);
	json_key(&t->w, "ph");
	json_string(&t->w, phase);
	json_key(&t->w, "name");
	json_string(&t->w, name);
	json_key(&t->w, "pid");
	json_uint(&t->w, pid);
}

static void name_track(struct trace *t, const char *what, uint32_t pid, uint32_t tid,
		       const char *name)
{
	begin_event(t, "M", what, pid);
	json_key(&t->w, "tid");
	json_uint(&t->w, tid);
	json_key(&t->w, "args");
	json_begin_object(&t->w);
	json_key(&t->w, "name");
	json_string(&t->w, name);
	json_end_object(&t->w);
	json_end_object(&t->w);
}

static void name_lane(struct trace *t, const struct join_row *r, const struct lane *l)
{
	struct str name = STR_INIT;

	if (r->unit == SPOOL_UNIT_DISPATCH)
		str_addf(&name, "device %u, queue %llu", r->device, (unsigned long long)r->queue);
	else
		str_add(&name, r->unit == SPOOL_UNIT_RANGE ? "ranges" : "process");
	name_track(t, "thread_name", process_id(r), l->number, str_text(&name));
	str_release(&name);
}

static void name_process(struct trace *t, const struct join_row *r)
{
	struct str name = STR_INIT;

	if (r->spool->rank >= 0)
		str_addf(&name, "rank %d, ", r->spool->rank);
	str_addf(&name, "%s, pid %d", r->spool->host, r->spool->pid);
	name_track(t, "process_name", process_id(r), 0, str_text(&name));
	str_release(&name);
}

/* The track of a slice: the first of its queue that is free by then. */
static uint32_t lane_of(struct trace *t, const struct join_row *r)
{
	struct lane l = {process_id(r), r->device, r->unit, r->queue, r->end_ns, 0};
	bool new_process = true;

	vec_for_each (&t->lanes, one) {
		if (one->process != l.process)
			continue;
		new_process = false;
		l.number = one->number + 1;
		if (one->device == l.device && one->unit == l.unit && one->queue == l.queue &&
		    (one->end_ns <= r->begin_ns || l.number > LANES_MAX)) {
			one->end_ns = r->end_ns;
			return one->number;
		}
	}
	if (new_process) {
		l.number = 1;
		name_process(t, r);
	}
	name_lane(t, r, &l);
	t->failed = !vec_push(&t->lanes, l) || t->failed;
	return l.number;
}

static void add_number(struct trace *t, const struct join_cell *c)
{
	struct number n;

	if (!c) {
		json_null(&t->w);
		return;
	}
	n = join_number(c);
	if (n.is_f64)
		json_double(&t->w, n.f64);
	else
		json_uint(&t->w, n.u64);
}

static void add_slice(struct trace *t, const struct join_row *r, uint32_t tid)
{
	const struct plan *plan = t->j->plan;

	begin_event(t, "X", t->k->names[r->kernel], process_id(r));
	json_key(&t->w, "tid");
	json_uint(&t->w, tid);
	add_time(t, "ts", r->begin_ns);
	add_time(t, "dur", r->end_ns - r->begin_ns);
	json_key(&t->w, "args");
	json_begin_object(&t->w);
	json_key(&t->w, "dispatch");
	json_uint(&t->w, r->dispatch);
	json_key(&t->w, "passes");
	json_uint(&t->w, r->n_passes);
	if (r->match.compared) {
		json_key(&t->w, "executions");
		json_uint(&t->w, r->match.executions);
		json_key(&t->w, "of_executions");
		json_uint(&t->w, r->match.of_executions);
	}
	if (r->match.executions > 1) {
		json_key(&t->w, "confidence");
		json_double(&t->w, r->match.lowest);
	}
	json_key(&t->w, "metrics");
	json_begin_object(&t->w);
	for (uint32_t m = 0; m < plan->n_metrics; m++) {
		json_key(&t->w, plan->metrics[m].name);
		add_number(t, join_metric(t->j, r, m));
	}
	json_end_object(&t->w);
	json_key(&t->w, "counters");
	json_begin_object(&t->w);
	for (uint32_t c = 0; c < plan->n_counters; c++) {
		json_key(&t->w, plan->counters[c].name);
		add_number(t, join_counter(t->j, r, c));
	}
	json_end_object(&t->w);
	json_end_object(&t->w);
	json_end_object(&t->w);
}

/* What has no value has no point on its track. */
static void add_counters(struct trace *t, const struct join_row *r)
{
	for (uint32_t c = 0; c < t->j->plan->n_counters; c++) {
		const struct join_cell *v = join_counter(t->j, r, c);

		if (!v)
			continue;
		begin_event(t, "C", t->j->plan->counters[c].name, process_id(r));
		add_time(t, "ts", r->begin_ns);
		json_key(&t->w, "args");
		json_begin_object(&t->w);
		json_key(&t->w, "value");
		add_number(t, v);
		json_end_object(&t->w);
		json_end_object(&t->w);
	}
}

static int compare_begin(const void *a, const void *b)
{
	const struct join_row *const *x = a, *const *y = b;

	if ((*x)->begin_ns != (*y)->begin_ns)
		return (*x)->begin_ns < (*y)->begin_ns ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

int export_perfetto(struct store *s, const struct export_kernels *k, FILE *f, struct error *err)
{
	struct join_options jo = {.kernels = k->chosen};
	struct trace t = {.k = k, .f = f};
	const struct join_row **rows = NULL;
	struct join j = {0};
	int rc = join_collect(&j, s, &jo, err);

	t.j = &j;
	json_writer_init(&t.w, &t.out, true);
	rows = rc ? NULL : calloc(j.rows.n + 1, sizeof(*rows));
	if (!rc && !rows)
		rc = error_set(err, RC_NO_MEMORY, "out of memory for a trace");
	if (!rc) {
		json_begin_object(&t.w);
		json_key(&t.w, "displayTimeUnit");
		json_string(&t.w, "ns");
		json_key(&t.w, "traceEvents");
		json_begin_array(&t.w);
		for (size_t i = 0; i < j.rows.n; i++)
			rows[i] = &j.rows.items[i];
		qsort(rows, j.rows.n, sizeof(*rows), compare_begin);
		for (size_t i = 0; i < j.rows.n; i++) {
			if (rows[i]->end_ns < rows[i]->begin_ns)
				continue;
			add_slice(&t, rows[i], lane_of(&t, rows[i]));
			add_counters(&t, rows[i]);
			flush(&t, 65536);
		}
		json_end_array(&t.w);
		json_end_object(&t.w);
		str_add(&t.out, "\n");
		flush(&t, 0);
		if (t.failed)
			rc = error_set(err, RC_IO, "the trace could not be written");
	}
	free(rows);
	vec_release(&t.lanes);
	str_release(&t.out);
	join_release(&j);
	return rc;
}
