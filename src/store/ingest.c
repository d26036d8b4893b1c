/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one spool to rows. The file may be damaged, may come from another plan, and may lie: each
 * such thing becomes a finding with the file's name, counted, and what can be used is used. Only
 * the database itself can make an ingest fail.
 */
#include "store/problems.h"
#include "store/window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_KERNEL "(unknown kernel)"

/* A name of the file. Its rows are made when they are first used: as a kernel, as a range. */
struct ingest_name {
	char *text;
	int64_t kernel, range; /* rows of table kernel, 0: none yet */
};

struct ingest {
	sqlite3 *db;
	const struct plan *plan;
	int64_t spool;
	struct window *window;
	struct problems problems;
	struct id_map kernels; /* id in the file to index of names */
	VEC(struct ingest_name) names;
	int64_t process_kernel, unknown_kernel;
	int64_t *run;      /* [pass]: its current execution, 0 none */
	bool *run_ended;   /* [pass] */
	uint32_t *attempt; /* [pass] */
	bool in_place;     /* passes are replays within the execution of pass 0 */
	uint32_t *offset;  /* [pass]: where its counters begin in counts */
	uint64_t (*counts)[SAMPLE_STATUS_MAX + 1];
	sqlite3_stmt *find_kernel, *add_kernel, *add_run, *end_run, *add_window, *add_declined,
		*add_left;
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while reading spools");
}

static int ingest_init(struct ingest *in, struct error *err)
{
	const struct plan *plan = in->plan;
	uint32_t total = 0;
	int rc;

	in->run = calloc(plan->n_passes + 1, sizeof(*in->run));
	in->run_ended = calloc(plan->n_passes + 1, sizeof(*in->run_ended));
	in->attempt = calloc(plan->n_passes + 1, sizeof(*in->attempt));
	in->offset = calloc(plan->n_passes + 1, sizeof(*in->offset));
	if (!in->run || !in->run_ended || !in->attempt || !in->offset)
		return no_memory(err);
	for (uint32_t k = 1; k <= plan->n_passes; k++) {
		in->offset[k] = total;
		total += plan->passes[k - 1].n_counters;
	}
	in->counts = calloc(total ? total : 1, sizeof(*in->counts));
	if (!in->counts)
		return no_memory(err);
	window_begin_spool(in->window);
	rc = sql_prepare(in->db, "SELECT kernel FROM kernel WHERE unit = ? AND name = ?",
			 &in->find_kernel, err);
	if (!rc)
		rc = sql_prepare(in->db, "INSERT INTO kernel(unit, name) VALUES(?, ?)",
				 &in->add_kernel, err);
	if (!rc)
		rc = sql_prepare(
			in->db,
			"INSERT INTO run(spool, pass, attempt, pid, begun, ended, begin_ns,"
			" in_place) VALUES(?, ?, ?, ?, ?, 0, ?, ?)",
			&in->add_run, err);
	if (!rc)
		rc = sql_prepare(in->db,
				 "UPDATE run SET ended = 1, end_ns = ?, exit_code = ?, signal = ?,"
				 " flags = ?, wall_ns = ?, user_ns = ?, system_ns = ?,"
				 " max_rss_bytes = ? WHERE run = ?",
				 &in->end_run, err);
	if (!rc)
		rc = sql_prepare(in->db, REPLAYS_INSERT_WINDOW, &in->add_window, err);
	if (!rc)
		rc = sql_prepare(in->db, REPLAYS_INSERT_DECLINED, &in->add_declined, err);
	if (!rc)
		rc = sql_prepare(in->db, REPLAYS_INSERT_LEFT, &in->add_left, err);
	return rc;
}

static void ingest_release(struct ingest *in)
{
	sqlite3_finalize(in->find_kernel);
	sqlite3_finalize(in->add_kernel);
	sqlite3_finalize(in->add_run);
	sqlite3_finalize(in->end_run);
	sqlite3_finalize(in->add_window);
	sqlite3_finalize(in->add_declined);
	sqlite3_finalize(in->add_left);
	problems_release(&in->problems);
	id_map_release(&in->kernels);
	vec_for_each (&in->names, name)
		free(name->text);
	vec_release(&in->names);
	free(in->run);
	free(in->run_ended);
	free(in->attempt);
	free(in->offset);
	free(in->counts);
}

/* SQL text ends at a NUL, and names come from the profiled program. NULL when memory is out. */
static char *copy_name(const char *name, size_t n)
{
	char *copy = malloc(n + 1);

	for (size_t i = 0; copy && i < n; i++)
		copy[i] = name[i] ? name[i] : '?';
	if (copy)
		copy[n] = '\0';
	return copy;
}

/* The row of a name. */
static int intern_kernel(struct ingest *in, uint32_t unit, const char *name, int64_t *kernel_out,
			 struct error *err)
{
	int rc;

	sqlite3_bind_int64(in->find_kernel, 1, unit);
	sql_bind_text(in->find_kernel, 2, name);
	rc = sql_step(in->find_kernel, err);
	if (rc > 0) {
		*kernel_out = sqlite3_column_int64(in->find_kernel, 0);
		rc = 0;
	} else if (!rc) {
		sqlite3_bind_int64(in->add_kernel, 1, unit);
		sql_bind_text(in->add_kernel, 2, name);
		rc = sql_run(in->add_kernel, err);
		*kernel_out = sqlite3_last_insert_rowid(in->db);
	}
	sqlite3_reset(in->find_kernel);
	return rc;
}

static bool pass_is_bad(struct ingest *in, uint32_t pass, uint32_t first)
{
	if (pass >= first && pass <= in->plan->n_passes)
		return false;
	problems_add(&in->problems, PROBLEM_PASS, "a record is about pass %u; the plan has %u",
		     pass, in->plan->n_passes);
	return true;
}

static int begin_run(struct ingest *in, uint32_t pass, const struct spool_pass_begin *b,
		     struct error *err)
{
	sqlite3_stmt *s = in->add_run;
	int rc;

	sqlite3_bind_int64(s, 1, in->spool);
	sqlite3_bind_int64(s, 2, pass);
	sqlite3_bind_int64(s, 3, b ? b->attempt : 1);
	sqlite3_bind_int64(s, 4, b ? b->pid : 0);
	sqlite3_bind_int64(s, 5, b != NULL);
	if (b)
		sql_bind_u64(s, 6, b->time_ns);
	else
		sqlite3_bind_null(s, 6);
	sqlite3_bind_int64(s, 7, pass && !b && in->in_place);
	rc = sql_run(s, err);
	in->run[pass] = sqlite3_last_insert_rowid(in->db);
	in->run_ended[pass] = false;
	in->attempt[pass] = b && b->attempt ? b->attempt : 1;
	return rc;
}

static int on_pass_begin(struct ingest *in, const struct spool_record *r, struct error *err)
{
	const struct spool_pass_begin *b = r->payload;
	const char *name = (const char *)(b + 1);
	size_t n = r->size - sizeof(*b);

	if (pass_is_bad(in, b->pass, 0))
		return 0;
	if (!b->pass)
		in->in_place = true;
	if (b->passes != in->plan->n_passes)
		problems_add(&in->problems, PROBLEM_PASSES,
			     "pass %u was written for a plan of %u passes; this one has %u",
			     b->pass, b->passes, in->plan->n_passes);
	if (n && !in->process_kernel) {
		char *copy = copy_name(name, n);
		int rc =
			copy ? intern_kernel(in, SPOOL_UNIT_PROCESS, copy, &in->process_kernel, err)
			     : no_memory(err);

		free(copy);
		if (rc)
			return rc;
	}
	return begin_run(in, b->pass, b, err);
}

static int on_pass_end(struct ingest *in, const struct spool_record *r, struct error *err)
{
	const struct spool_pass_end *e = r->payload;
	sqlite3_stmt *s = in->end_run;
	int rc = 0;

	if (pass_is_bad(in, e->pass, 0))
		return 0;
	if (!in->run[e->pass] || in->run_ended[e->pass]) {
		problems_add(&in->problems, PROBLEM_END, "pass %u ends without having begun",
			     e->pass);
		rc = begin_run(in, e->pass, NULL, err);
	}
	sql_bind_u64(s, 1, e->time_ns);
	sqlite3_bind_int64(s, 2, e->exit_code);
	sqlite3_bind_int64(s, 3, e->signal);
	sqlite3_bind_int64(s, 4, e->flags);
	sql_bind_u64(s, 5, e->wall_ns);
	sql_bind_u64(s, 6, e->user_ns);
	sql_bind_u64(s, 7, e->system_ns);
	sql_bind_u64(s, 8, e->max_rss_bytes);
	sqlite3_bind_int64(s, 9, in->run[e->pass]);
	in->run_ended[e->pass] = true;
	return rc ? rc : sql_run(s, err);
}

static int on_kernel(struct ingest *in, const struct spool_record *r, struct error *err)
{
	const struct spool_kernel *k = r->payload;
	struct ingest_name name = {.text = copy_name((const char *)(k + 1), r->size - sizeof(*k))};
	uint64_t before = 0;

	if (!name.text)
		return no_memory(err);
	if (id_map_get(&in->kernels, k->kernel, 0, &before)) {
		if (!strcmp(in->names.items[before].text, name.text)) {
			free(name.text);
			return 0;
		}
		problems_add(&in->problems, PROBLEM_KERNEL_TWICE,
			     "kernel number %u gets a second name", k->kernel);
	}
	if (!vec_push(&in->names, name)) {
		free(name.text);
		return no_memory(err);
	}
	return id_map_set(&in->kernels, k->kernel, 0, in->names.n - 1) ? 0 : no_memory(err);
}

/* The row of a kernel or range by its number in the file; *row_out is 0 when no record names it. */
static int row_of_name(struct ingest *in, uint32_t number, uint32_t unit, int64_t *row_out,
		       struct error *err)
{
	struct ingest_name *name;
	int64_t *row;
	uint64_t at;
	int rc = 0;

	*row_out = 0;
	if (!id_map_get(&in->kernels, number, 0, &at))
		return 0;
	name = &in->names.items[at];
	row = unit == SPOOL_UNIT_RANGE ? &name->range : &name->kernel;
	if (!*row)
		rc = intern_kernel(in, unit, name->text, row, err);
	*row_out = *row;
	return rc;
}

static int kernel_of(struct ingest *in, const struct spool_dispatch *d, int64_t *kernel_out,
		     struct error *err)
{
	int rc = 0;

	if (d->unit == SPOOL_UNIT_PROCESS) {
		if (!in->process_kernel)
			rc = intern_kernel(in, SPOOL_UNIT_PROCESS, "process", &in->process_kernel,
					   err);
		*kernel_out = in->process_kernel;
		return rc;
	}
	rc = row_of_name(in, d->kernel, d->unit, kernel_out, err);
	if (rc || *kernel_out)
		return rc;
	problems_add(&in->problems, PROBLEM_KERNEL,
		     "dispatch %llu of pass %u is of kernel number %u, which no record names",
		     (unsigned long long)d->dispatch, d->pass, d->kernel);
	if (!in->unknown_kernel)
		rc = intern_kernel(in, SPOOL_UNIT_DISPATCH, UNKNOWN_KERNEL, &in->unknown_kernel,
				   err);
	*kernel_out = in->unknown_kernel;
	return rc;
}

static int on_dispatch(struct ingest *in, const struct spool_record *r, struct error *err)
{
	const struct spool_dispatch *d = r->payload;
	int64_t kernel = 0;
	int rc = 0;

	if (pass_is_bad(in, d->pass, 0))
		return 0;
	if (d->unit < SPOOL_UNIT_PROCESS || d->unit > SPOOL_UNIT_RANGE) {
		problems_add(&in->problems, PROBLEM_UNIT,
			     "dispatch %llu of pass %u is of an unknown kind (%u)",
			     (unsigned long long)d->dispatch, d->pass, d->unit);
		return 0;
	}
	if (d->flags & SPOOL_DISPATCH_REPLAYED)
		in->in_place = true;
	if (!in->run[d->pass])
		rc = begin_run(in, d->pass, NULL, err);
	if (!rc)
		rc = kernel_of(in, d, &kernel, err);
	return rc ? rc
		  : window_add(in->window, d, in->run[d->pass], in->attempt[d->pass], kernel, err);
}

/* The row of the kernel that a record names by its number; 0: any, or no record names it. */
static int kernel_of_number(struct ingest *in, uint32_t number, const char *what,
			    int64_t *kernel_out, struct error *err)
{
	uint64_t at;

	*kernel_out = 0;
	if (!number)
		return 0;
	if (!id_map_get(&in->kernels, number, 0, &at)) {
		problems_add(&in->problems, PROBLEM_KERNEL,
			     "%s dispatches are of kernel number %u, which no record names", what,
			     number);
		return 0;
	}
	/* The record does not say what it was; a name that ranges have is a range. */
	*kernel_out = in->names.items[at].range;
	if (*kernel_out)
		return 0;
	return row_of_name(in, number, SPOOL_UNIT_DISPATCH, kernel_out, err);
}

static int on_declined(struct ingest *in, const struct spool_record *r, struct error *err)
{
	const struct spool_decline *d = r->payload;
	int64_t kernel;
	int rc = kernel_of_number(in, d->kernel, "declined", &kernel, err);

	return rc ? rc : replays_add_declined(in->add_declined, in->spool, kernel, r, err);
}

static int on_left(struct ingest *in, const struct spool_record *r, struct error *err)
{
	const struct spool_left *l = r->payload;
	int64_t kernel;
	int rc = kernel_of_number(in, l->kernel, "left-out", &kernel, err);

	if (rc || !kernel) /* without its name it tells nothing */
		return rc;
	return replays_add_left(in->add_left, in->spool, kernel, r, err);
}

/* Where counter stands in the pass. Samples mostly come in the plan's order, so `guess` is tried
 * first. UINT32_MAX when it is not in the pass. */
static uint32_t position_of(const struct plan_pass *p, uint32_t counter, uint32_t guess)
{
	uint32_t low = 0, high = p->n_counters;

	if (guess < high && p->counters[guess] == counter)
		return guess;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->counters[middle] < counter)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->n_counters && p->counters[low] == counter ? low : UINT32_MAX;
}

static double number_of(const struct window_value *v)
{
	double d;

	if (v->kind == SAMPLE_U64)
		return (double)v->bits;
	memcpy(&d, &v->bits, sizeof(d));
	return d;
}

/* Adds an instance to the sum, or to the mean. A bad instance makes the sum bad. */
static void add_instance(struct window_value *sum, const struct window_value *v, bool mean)
{
	uint64_t bits;
	double total;

	if (sum->whole)
		return;
	sum->n++;
	if (!sum->recorded || sum->status != SAMPLE_OK || v->status != SAMPLE_OK) {
		if (!sum->recorded || sum->status == SAMPLE_OK) {
			*sum = *v;
			sum->n = 1;
		}
	} else if (mean) {
		total = number_of(sum) + (number_of(v) - number_of(sum)) / sum->n;
		sum->kind = SAMPLE_F64;
		memcpy(&sum->bits, &total, sizeof(total));
	} else if (sum->kind == SAMPLE_U64 && v->kind == SAMPLE_U64 &&
		   !__builtin_add_overflow(sum->bits, v->bits, &bits)) {
		sum->bits = bits;
	} else {
		total = number_of(sum) + number_of(v);
		sum->kind = SAMPLE_F64;
		memcpy(&sum->bits, &total, sizeof(total));
	}
	sum->recorded = true;
}

static int on_sample(struct ingest *in, struct window_slot *slot, const struct spool_sample *sample,
		     uint32_t guess, struct error *err)
{
	uint32_t pass = slot->d.pass, position;
	struct window_value v = {.recorded = true, .kind = sample->kind, .status = sample->status};
	struct window_value *sum;
	int rc;

	if (sample->counter >= in->plan->n_counters) {
		problems_add(&in->problems, PROBLEM_COUNTER,
			     "a sample of pass %u is of counter number %u; the plan has %u", pass,
			     sample->counter, in->plan->n_counters);
		return 0;
	}
	position = position_of(&in->plan->passes[pass - 1], sample->counter, guess);
	if (position == UINT32_MAX) {
		problems_add(
			&in->problems, PROBLEM_NOT_IN_PASS,
			"a sample of pass %u is of counter '%s', which that pass does not count",
			pass, in->plan->counters[sample->counter].name);
		return 0;
	}
	if (v.status > SAMPLE_STATUS_MAX || v.kind > SAMPLE_F64 ||
	    (v.kind == SAMPLE_F64 && !isfinite(sample->value.f64))) {
		problems_add(&in->problems, PROBLEM_VALUE,
			     "a sample of '%s' in pass %u has no meaning (status %u, kind %u)",
			     in->plan->counters[sample->counter].name, pass, sample->status,
			     sample->kind);
		v.status = SAMPLE_NOT_COLLECTED;
		v.kind = SAMPLE_U64;
	}
	v.bits = v.status == SAMPLE_OK || v.status == SAMPLE_MULTIPLEXED ? sample->value.u64 : 0;
	sum = window_value(in->window, slot, position);
	if (sample->instance == SPOOL_INSTANCE_ALL) {
		rc = sum->whole ? RC_EXISTS : 0;
		if (!rc) {
			*sum = v;
			sum->whole = true;
		}
	} else {
		rc = window_add_extra(in->window, slot, sample->counter, sample->instance, v.status,
				      v.status == SAMPLE_OK ? &v : NULL, err);
		if (!rc)
			add_instance(sum, &v,
				     in->plan->counters[sample->counter].flags & PLAN_COUNTER_MEAN);
	}
	if (rc == RC_EXISTS) {
		problems_add(&in->problems, PROBLEM_TWICE,
			     "dispatch %llu of pass %u has '%s' twice; the first is used",
			     (unsigned long long)slot->d.dispatch, pass,
			     in->plan->counters[sample->counter].name);
		return 0;
	}
	in->counts[in->offset[pass] + position][v.status]++;
	return rc;
}

static int on_samples(struct ingest *in, const struct spool_record *r, struct error *err)
{
	const struct spool_samples *head = r->payload;
	const struct spool_sample *samples = (const struct spool_sample *)(head + 1);
	struct window_slot *slot;
	int rc = 0;

	if (pass_is_bad(in, head->pass, 1))
		return 0;
	rc = window_find(in->window, head->pass, head->dispatch, &slot, err);
	if (rc)
		return rc;
	if (!slot) {
		problems_add(&in->problems, PROBLEM_NO_DISPATCH,
			     "samples of dispatch %llu of pass %u come without that dispatch",
			     (unsigned long long)head->dispatch, head->pass);
		return 0;
	}
	/* Of several groups the one that ran least tells how far to trust them together. */
	if (!slot->sampled || head->running_ns < slot->running_ns) {
		slot->enabled_ns = head->enabled_ns;
		slot->running_ns = head->running_ns;
	}
	slot->sampled = true;
	for (uint32_t i = 0; !rc && i < head->n; i++)
		rc = on_sample(in, slot, &samples[i], i, err);
	return rc;
}

static void on_note(struct ingest *in, const struct spool_record *r)
{
	const struct spool_note *note = r->payload;
	uint32_t kind = note->kind;

	if (kind < SPOOL_NOTE_DISABLED || kind > SPOOL_NOTE_DETAIL)
		kind = SPOOL_NOTE_FINDING;
	problems_add_note(&in->problems, kind, note->pass, (const char *)(note + 1),
			  r->size - sizeof(*note));
}

static int on_record(struct ingest *in, const struct spool_record *r, struct error *err)
{
	switch (r->type) {
	case SPOOL_PASS_BEGIN:
		return on_pass_begin(in, r, err);
	case SPOOL_PASS_END:
		return on_pass_end(in, r, err);
	case SPOOL_KERNEL:
		return on_kernel(in, r, err);
	case SPOOL_DISPATCH:
		return on_dispatch(in, r, err);
	case SPOOL_SAMPLES:
		return on_samples(in, r, err);
	case SPOOL_NOTE:
		on_note(in, r);
		return 0;
	case SPOOL_WINDOW:
		return replays_add_window(in->add_window, in->spool, r, err);
	case SPOOL_DECLINE:
		return on_declined(in, r, err);
	case SPOOL_LEFT:
		return on_left(in, r, err);
	default: /* of a newer retally */
		return 0;
	}
}

static int write_ranges(struct ingest *in, struct error *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sql_prepare(in->db, "INSERT INTO spool_rows VALUES(?, ?, ?, ?)", &s, err);

	for (uint32_t k = 0; !rc && k <= in->plan->n_passes; k++) {
		if (!in->window->first_row[k])
			continue;
		sqlite3_bind_int64(s, 1, in->spool);
		sqlite3_bind_int64(s, 2, k);
		sqlite3_bind_int64(s, 3, in->window->first_row[k]);
		sqlite3_bind_int64(s, 4, in->window->next_row[k] - 1);
		rc = sql_run(s, err);
	}
	sqlite3_finalize(s);
	return rc;
}

static int write_coverage(struct ingest *in, struct error *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sql_prepare(in->db, "INSERT INTO coverage VALUES(?, ?, ?, ?, ?)", &s, err);

	for (uint32_t k = 1; !rc && k <= in->plan->n_passes; k++) {
		const struct plan_pass *p = &in->plan->passes[k - 1];

		for (uint32_t i = 0; !rc && i < p->n_counters; i++) {
			for (int status = 0; !rc && status <= SAMPLE_STATUS_MAX; status++) {
				uint64_t n = in->counts[in->offset[k] + i][status];

				if (!n)
					continue;
				sqlite3_bind_int64(s, 1, in->spool);
				sqlite3_bind_int64(s, 2, k);
				sqlite3_bind_int64(s, 3, p->counters[i]);
				sqlite3_bind_int64(s, 4, status);
				sql_bind_u64(s, 5, n);
				rc = sql_run(s, err);
			}
		}
	}
	sqlite3_finalize(s);
	return rc;
}

static int ingest_records(struct ingest *in, const char *path, enum store_spool_state *state_out,
			  struct error *err)
{
	struct spool_reader reader;
	struct spool_record record;
	struct error why = {0};
	int rc = ingest_init(in, err), got = 0;

	if (rc)
		return rc;
	if (spool_open_with(&reader, path, &in->window->memory, &why)) {
		problems_add(&in->problems, PROBLEM_DAMAGE, "%s", why.message);
		*state_out = STORE_SPOOL_DAMAGED;
		return 0;
	}
	while (!rc && (got = spool_next(&reader, &record, &why)) > 0)
		rc = on_record(in, &record, err);
	if (got < 0) {
		problems_add(&in->problems, PROBLEM_DAMAGE, "%s; what precedes it is used",
			     why.message);
		*state_out = STORE_SPOOL_DAMAGED;
	} else if (reader.torn) {
		*state_out = STORE_SPOOL_TORN;
	}
	spool_close_reader(&reader);
	if (!rc)
		rc = window_flush(in->window, err);
	if (!rc)
		rc = write_ranges(in, err);
	return rc ? rc : write_coverage(in, err);
}

static int add_spool_row(struct ingest *in, const struct found_spool *f, struct error *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sql_prepare(in->db,
			     "INSERT INTO spool(file, size, mtime_ns, header_hash, state, launch,"
			     " host, rank, ranks, local_rank, pid, start_ns)"
			     " VALUES(?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)",
			     &s, err);

	if (rc)
		return rc;
	sql_bind_text(s, 1, f->file);
	sqlite3_bind_int64(s, 2, (int64_t)f->size);
	sqlite3_bind_int64(s, 3, f->mtime_ns);
	sql_bind_text(s, 4, f->header_hash);
	if (!f->unreadable) {
		sql_bind_text(s, 5, f->header.launch);
		sql_bind_text(s, 6, f->header.host);
		sqlite3_bind_int64(s, 7, f->header.rank);
		sqlite3_bind_int64(s, 8, f->header.size);
		sqlite3_bind_int64(s, 9, f->header.local_rank);
		sqlite3_bind_int64(s, 10, f->header.pid);
		sql_bind_u64(s, 11, f->header.start_ns);
	}
	rc = sql_run(s, err);
	in->spool = sqlite3_last_insert_rowid(in->db);
	sqlite3_finalize(s);
	return rc;
}

/* Whether the spool belongs here; if not, a problem says what differs. */
static bool belongs(struct ingest *in, const struct found_spool *f, const char *collection)
{
	if (strcmp(f->header.plan_hash, in->plan->hash) != 0) {
		problems_add(&in->problems, PROBLEM_REFUSED,
			     "left out: it was made with plan %.12s, plan.json here is %.12s",
			     f->header.plan_hash, in->plan->hash);
		return false;
	}
	if (strcmp(f->header.collection, collection) != 0) {
		problems_add(
			&in->problems, PROBLEM_REFUSED,
			"left out: its plan is the same, but the command or the filters differ "
			"(collection %.12s, here %.12s)",
			f->header.collection, collection);
		return false;
	}
	return true;
}

int ingest_spool(struct window *window, const char *dir, const struct found_spool *file,
		 const char *collection, struct error *err)
{
	struct ingest in = {.window = window, .db = window->db, .plan = window->plan};
	enum store_spool_state state = STORE_SPOOL_COMPLETE;
	struct str path = STR_INIT;
	int rc;

	str_addf(&path, "%s/%s", dir, file->file);
	rc = str_is_failed(&path) ? no_memory(err) : add_spool_row(&in, file, err);
	if (!rc && file->unreadable) {
		problems_add(&in.problems, PROBLEM_DAMAGE, "%s", file->unreadable);
		state = STORE_SPOOL_DAMAGED;
	} else if (!rc && !belongs(&in, file, collection)) {
		state = STORE_SPOOL_REFUSED;
	} else if (!rc) {
		rc = ingest_records(&in, str_text(&path), &state, err);
	}
	if (!rc && state == STORE_SPOOL_TORN)
		problems_add(
			&in.problems, PROBLEM_TORN,
			"ends within a record (its process was killed); what precedes is used");
	if (!rc)
		rc = problems_write(&in.problems, in.db, in.spool, file->file, err);
	if (!rc)
		rc = sql_executef(in.db, err, "UPDATE spool SET state = %d WHERE spool = %lld",
				  (int)state, (long long)in.spool);
	ingest_release(&in);
	str_release(&path);
	return rc;
}
