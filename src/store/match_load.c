/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the pairs back, and the questions that the report asks about them. */
#include "store/id_map.h"
#include "store/internal.h"
#include "store/match.h"

#include <stdlib.h>

struct entry {          /* one dispatch in one execution */
	size_t logical; /* of all lanes */
	uint32_t execution;
	uint32_t kernel;
	enum match_how how;
	double confidence;
	size_t next; /* another kernel with the same number, and 1 */
};
struct logical {
	uint32_t n, kernel;
	size_t entry; /* the last of them, and 1 */
	double lowest;
};
struct match_execution {
	uint32_t lane, pass;
	uint32_t unit; /* n > 0: of all its dispatches, which are n from `first` on, and the same */
	uint64_t first, n; /* in all executions of the lane */
};
struct lane {
	size_t first_logical;
	uint32_t n;
};
struct matches {
	VEC(struct match_execution) executions;
	VEC(struct lane) lanes; /* by number, from 1 */
	struct id_map of_run, of_spool;
	struct id_map index; /* (dispatch, execution and kind) to entry */
	VEC(struct entry) entries;
	VEC(struct logical) logicals;
	struct store_matching sums;
	VEC(struct store_unmatched) unmatched;
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory for the matches of dispatches");
}

void match_free(struct matches *m)
{
	if (!m)
		return;
	vec_release(&m->executions);
	vec_release(&m->lanes);
	id_map_release(&m->of_run);
	id_map_release(&m->of_spool);
	id_map_release(&m->index);
	vec_release(&m->entries);
	vec_release(&m->logicals);
	vec_release(&m->unmatched);
	free(m);
}

static int load_executions(struct store *s, struct matches *m, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sql_prepare(
		s->db,
		"SELECT execution, lane, spool, run, pass, unit, first, n FROM execution"
		" ORDER BY execution",
		&q, err);

	while (!rc && (rc = sql_step(q, err)) > 0) {
		uint32_t id = (uint32_t)sqlite3_column_int64(q, 0);
		bool in_place = sqlite3_column_type(q, 3) == SQLITE_NULL;
		struct match_execution e = {.lane = (uint32_t)sqlite3_column_int64(q, 1),
					    .pass = (uint32_t)sqlite3_column_int64(q, 4),
					    .unit = (uint32_t)sqlite3_column_int64(q, 5),
					    .first = sql_column_u64(q, 6),
					    .n = sql_column_u64(q, 7)};

		if (id != m->executions.n + 1)
			rc = error_set(err, RC_CORRUPT, "'%s/retally.db': executions are missing",
				       s->dir);
		else if (!id_map_set(in_place ? &m->of_spool : &m->of_run,
				     (uint64_t)sqlite3_column_int64(q, in_place ? 2 : 3), 0, id) ||
			 !vec_push(&m->executions, e))
			rc = no_memory(err);
		else
			rc = 0;
		while (!rc && m->lanes.n <= e.lane)
			rc = vec_push(&m->lanes, (struct lane){0}) ? 0 : no_memory(err);
		if (rc)
			break;
		if (m->lanes.items[e.lane].n++) {
			m->sums.pairs[MATCH_EXACT] += e.n;
		} else {
			m->sums.lanes++;
			m->sums.dispatches += e.n;
		}
	}
	sqlite3_finalize(q);
	m->sums.executions = (uint32_t)m->executions.n;
	return rc;
}

static int load_pair(struct store *s, struct matches *m, sqlite3_stmt *q, uint32_t kernel,
		     uint32_t *last_lane, struct error *err)
{
	uint32_t id = (uint32_t)sqlite3_column_int64(q, 0);
	uint32_t unit = (uint32_t)sqlite3_column_int64(q, 1);
	uint64_t dispatch = sql_column_u64(q, 2), at = 0;
	struct entry e = {.execution = id,
			  .kernel = kernel,
			  .how = (enum match_how)(sqlite3_column_int(q, 5) & 3),
			  .confidence = sqlite3_column_double(q, 6)};
	struct logical *l;
	struct lane *lane;

	if (!id || id > m->executions.n)
		return error_set(err, RC_CORRUPT, "'%s/retally.db': a match of no execution",
				 s->dir);
	lane = &m->lanes.items[m->executions.items[id - 1].lane];
	/* Executions of a lane follow one another: its dispatches are consecutive. */
	if (m->executions.items[id - 1].lane != *last_lane)
		lane->first_logical = m->logicals.n;
	*last_lane = m->executions.items[id - 1].lane;
	e.logical = lane->first_logical + (size_t)sqlite3_column_int64(q, 4);
	while (m->logicals.n <= e.logical) {
		if (!vec_push(&m->logicals, ((struct logical){.lowest = 1, .kernel = kernel})))
			return no_memory(err);
	}
	l = &m->logicals.items[e.logical];
	if (!l->n)
		l->kernel = kernel;
	l->n++;
	if (e.how && e.confidence < l->lowest)
		l->lowest = e.confidence;
	if (e.how && e.confidence < m->sums.lowest)
		m->sums.lowest = e.confidence;
	if (e.how)
		m->sums.pairs[e.how]++;
	if (id_map_get(&m->index, dispatch, id * 4 + unit % 4, &at))
		e.next = at + 1;
	if (!vec_push(&m->entries, e) ||
	    !id_map_set(&m->index, dispatch, id * 4 + unit % 4, m->entries.n - 1))
		return no_memory(err);
	return 0;
}

/* The index of a row of table kernel in store_kernels. */
static uint32_t kernel_index(const struct id_map *kernels, sqlite3_stmt *q, int column)
{
	uint64_t kernel = 0;

	id_map_get(kernels, (uint64_t)sqlite3_column_int64(q, column), 0, &kernel);
	return (uint32_t)kernel;
}

static int load_pairs(struct store *s, struct matches *m, const struct id_map *kernels,
		      struct error *err)
{
	uint32_t last_lane = 0;
	sqlite3_stmt *q = NULL;
	int rc = sql_prepare(s->db,
			     "SELECT execution, unit, dispatch, kernel, logical, how, confidence"
			     " FROM dispatch_match ORDER BY execution, unit, dispatch, kernel",
			     &q, err);

	while (!rc && (rc = sql_step(q, err)) > 0)
		rc = load_pair(s, m, q, kernel_index(kernels, q, 3), &last_lane, err);
	sqlite3_finalize(q);
	return rc;
}

/* Dispatches of lanes whose executions are alike, into of[kernel].of. */
static int load_alike(struct store *s, const struct id_map *kernels, struct store_unmatched *of,
		      struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sql_prepare(s->db, "SELECT kernel, n FROM lane_kernel", &q, err);

	while (!rc && (rc = sql_step(q, err)) > 0) {
		of[kernel_index(kernels, q, 0)].of += sql_column_u64(q, 1);
		rc = 0;
	}
	sqlite3_finalize(q);
	return rc;
}

static int add_up(struct store *s, struct matches *m, const struct id_map *kernels,
		  struct error *err)
{
	struct store_unmatched *of = calloc(s->kernels.n + 1, sizeof(*of));
	int rc = of ? load_alike(s, kernels, of, err) : no_memory(err);

	/* An entry tells the lane of its dispatch. */
	vec_for_each (&m->entries, e)
		m->logicals.items[e->logical].entry = (size_t)(e - m->entries.items) + 1;
	for (size_t i = 0; !rc && i < m->logicals.n; i++) {
		const struct logical *l = &m->logicals.items[i];
		const struct entry *e;
		bool incomplete;

		if (!l->n)
			continue;
		e = &m->entries.items[l->entry - 1];
		incomplete = l->n < m->lanes.items[m->executions.items[e->execution - 1].lane].n;
		m->sums.dispatches++;
		m->sums.incomplete += incomplete;
		m->sums.alone += incomplete && l->n == 1;
		of[l->kernel].n += incomplete;
		of[l->kernel].of++;
	}
	for (size_t i = 0; !rc && i < s->kernels.n; i++) {
		of[i].kernel = (uint32_t)i;
		if (of[i].n && !vec_push(&m->unmatched, of[i]))
			rc = no_memory(err);
	}
	free(of);
	return rc;
}

int store_match_load(struct store *s, struct error *err)
{
	struct id_map kernels = {0};
	struct matches *m;
	int rc;

	if (s->matches)
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return no_memory(err);
	m->sums.lowest = 1;
	rc = load_executions(s, m, err);
	for (size_t i = 0; !rc && i < s->kernels.n; i++) {
		if (!id_map_set(&kernels, (uint64_t)s->kernels.items[i].id, 0, i))
			rc = no_memory(err);
	}
	if (!rc)
		rc = load_pairs(s, m, &kernels, err);
	if (!rc)
		rc = add_up(s, m, &kernels, err);
	id_map_release(&kernels);
	if (rc)
		match_free(m);
	else
		s->matches = m;
	return rc;
}

/* The number of the execution that a row is of; 0: of one that was not compared. */
static uint64_t find_execution(const struct matches *m, const struct store_row *r)
{
	uint64_t id = 0;

	if (m && !id_map_get(&m->of_run, (uint64_t)r->run->id, 0, &id))
		id_map_get(&m->of_spool, (uint64_t)r->run->spool->id, 0, &id);
	return id;
}

static const struct entry *find_entry(const struct matches *m, uint64_t execution,
				      const struct store_row *r)
{
	uint64_t at = 0;

	if (!id_map_get(&m->index, r->dispatch, (uint32_t)execution * 4 + r->unit % 4, &at))
		return NULL;
	for (size_t i = at + 1; i; i = m->entries.items[i - 1].next) {
		if (m->entries.items[i - 1].kernel == r->kernel)
			return &m->entries.items[i - 1];
	}
	return NULL;
}

void store_match(const struct store *s, const struct store_row *r, struct store_match *out)
{
	const struct matches *m = s->matches;
	uint64_t id = find_execution(m, r);
	const struct match_execution *x = id ? &m->executions.items[id - 1] : NULL;
	const struct entry *e = x && !x->n ? find_entry(m, id, r) : NULL;

	*out = (struct store_match){.logical = r->dispatch, .lowest = 1};
	if (x && x->n && r->unit == x->unit && r->dispatch - x->first < x->n) {
		bool is_first = id == 1 || x[-1].lane != x->lane;

		*out = (struct store_match){
			.compared = true,
			.lane = x->lane,
			.logical = r->dispatch - x->first,
			.how = is_first ? MATCH_NONE : MATCH_EXACT,
			.confidence = is_first ? 0 : 1,
			.executions = m->lanes.items[x->lane].n,
			.of_executions = m->lanes.items[x->lane].n,
			.lowest = 1,
		};
	} else if (e) {
		const struct logical *l = &m->logicals.items[e->logical];

		*out = (struct store_match){
			.compared = true,
			.lane = x->lane,
			.logical = e->logical - m->lanes.items[x->lane].first_logical,
			.how = e->how,
			.confidence = e->how ? e->confidence : 0,
			.executions = l->n,
			.of_executions = m->lanes.items[x->lane].n,
			.lowest = l->lowest,
		};
	}
}

const struct store_matching *store_matching(const struct store *s)
{
	static const struct store_matching none = {.lowest = 1};

	return s->matches ? &s->matches->sums : &none;
}

const struct store_unmatched *store_unmatched(const struct store *s, size_t *n_out)
{
	*n_out = s->matches ? s->matches->unmatched.n : 0;
	return *n_out ? s->matches->unmatched.items : NULL;
}
