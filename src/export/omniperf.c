/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory that `rocprof-compute analyze -p` reads (docs/export.md has the rules and where they
 * are from). Wide: pmc_perf.csv with a row a dispatch and a column a counter, and a file for each
 * accumulator with the values of its own pass; that tool puts the files side by side by the number
 * of the row, so each has the same rows in the same order. Long: pmc_perf.csv with a row a value,
 * and profiling_config.yaml, which says so.
 */
#include "base/map.h"
#include "export/parts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct column {
	uint32_t counter;
	uint32_t instance; /* SPOOL_INSTANCE_ALL: of all of them */
	const char *name;
};
struct omniperf {
	const struct export_options *o;
	const struct export_kernels *kernels;
	const struct plan *plan;
	struct arena arena;
	struct join join;
	bool *instances; /* [counter]: has columns of its own for them */
	size_t *first;   /* [row]: its first instance; one more */
	bool *left_out;  /* [row]: no active cycle, at which the analysis would stop */
	size_t n_rows;   /* that are written */
	VEC(struct column) columns;
	struct map names;          /* of the columns */
	VEC(const char *) written; /* files, to be removed when the export fails */
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory for an Omniperf directory");
}

/* ---- names ---- */

/* Of these blocks a count over all instances is called NAME_sum there. */
static bool is_summed(const char *block)
{
	static const char *const blocks[] = {"TA", "TD", "TCP", "TCC", "TCA"};

	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		if (!strcmp(blocks[i], block))
			return true;
	}
	return false;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static const char *column_name(struct omniperf *p, uint32_t counter)
{
	const struct plan_counter *c = &p->plan->counters[counter];

	if (strchr(c->name, '[') || ends_with(c->name, "_sum") || !is_summed(c->block))
		return c->name;
	return arena_printf(&p->arena, "%s_sum", c->name);
}

/* Accumulators of level counters have no column in the wide form, but a file. */
static bool is_accumulator(const struct plan_counter *c)
{
	return !strncmp(c->name, "SQ", 2) && ends_with(c->name, "_ACCUM");
}

/* What a reader of CSV files would take for no value gets parentheses. */
static const char *kernel_name(struct omniperf *p, uint32_t kernel)
{
	static const char *const missing[] = {"NA",   "N/A",  "n/a",  "nan",  "NaN",
					      "NULL", "null", "None", "<NA>", "-nan"};
	const char *name = p->kernels->names[kernel];

	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++) {
		if (!strcmp(missing[i], name))
			return arena_printf(&p->arena, "%s()", name);
	}
	return *name ? name : "()";
}

/* ---- values ---- */

static const struct join_cell *value_of(const struct omniperf *p, size_t row,
					const struct column *c)
{
	if (c->instance == SPOOL_INSTANCE_ALL)
		return join_counter(&p->join, &p->join.rows.items[row], c->counter);
	for (size_t low = p->first[row], high = p->first[row + 1]; low < high;) {
		size_t at = low + (high - low) / 2;
		const struct join_instance *one = &p->join.instances.items[at];

		if (one->counter == c->counter && one->instance == c->instance)
			return &one->cell;
		if (one->counter < c->counter ||
		    (one->counter == c->counter && one->instance < c->instance))
			low = at + 1;
		else
			high = at;
	}
	return NULL;
}

static void add_value(struct str *out, const struct join_cell *c)
{
	if (c)
		number_print(join_number(c), out);
}

static int index_instances(struct omniperf *p, struct error *err)
{
	size_t at = 0, n = p->join.rows.n;

	p->first = arena_array(&p->arena, n + 1, sizeof(*p->first));
	p->left_out = arena_array(&p->arena, n + 1, sizeof(*p->left_out));
	if (!p->first || !p->left_out)
		return no_memory(err);
	for (size_t i = 0; i < n; i++) {
		p->first[i] = at;
		while (at < p->join.instances.n && p->join.instances.items[at].row == i)
			at++;
	}
	p->first[n] = at;
	return 0;
}

/* ---- columns ---- */

static bool is_used(const struct omniperf *p, const struct column *c)
{
	for (size_t i = 0; i < p->join.rows.n; i++) {
		if (!p->left_out[i] && value_of(p, i, c))
			return true;
	}
	return false;
}

/* Instances of the counter up to the highest that any row has. */
static uint32_t count_instances(const struct omniperf *p, uint32_t counter)
{
	uint32_t n = 0;

	vec_for_each (&p->join.instances, one) {
		if (one->counter == counter && one->instance >= n)
			n = one->instance + 1;
	}
	return n;
}

static int add_column(struct omniperf *p, uint32_t counter, uint32_t instance, const char *name,
		      struct error *err)
{
	struct column c = {counter, instance, name};

	size_t before;

	if (!name)
		return no_memory(err);
	/* X and X_sum are one column, and so are X[0] of a plan and instance 0 of its X. */
	if (map_get(&p->names, name, &before) || !is_used(p, &c))
		return 0;
	return vec_push(&p->columns, c) && map_set(&p->names, name, counter) ? 0 : no_memory(err);
}

static int make_columns(struct omniperf *p, struct error *err)
{
	int rc = 0;

	for (uint32_t c = 0; !rc && c < p->plan->n_counters; c++) {
		const struct plan_counter *k = &p->plan->counters[c];

		if (strcmp(k->source, "rocm") != 0 || (!p->o->longer && is_accumulator(k)))
			continue;
		rc = add_column(p, c, SPOOL_INSTANCE_ALL, column_name(p, c), err);
		for (uint32_t i = 0, n = p->instances[c] ? count_instances(p, c) : 0; !rc && i < n;
		     i++)
			rc = add_column(p, c, i, arena_printf(&p->arena, "%s[%u]", k->name, i),
					err);
	}
	if (!rc && !p->columns.n)
		rc = error_set(err, RC_INVALID, "no counter of an AMD GPU has a value");
	return rc;
}

/* A row without active cycles ends the analysis of all of them. */
static void leave_out_idle(struct omniperf *p)
{
	p->n_rows = p->join.rows.n;
	for (uint32_t c = 0; c < p->plan->n_counters; c++) {
		if (strcmp(p->plan->counters[c].name, "GRBM_GUI_ACTIVE") != 0)
			continue;
		for (size_t i = 0; i < p->join.rows.n; i++) {
			const struct join_cell *v =
				join_counter(&p->join, &p->join.rows.items[i], c);

			if (!v || number_f64(join_number(v)) > 0)
				continue;
			p->left_out[i] = true;
			p->n_rows--;
		}
	}
}

/* ---- files ---- */

static int write_file(struct omniperf *p, const char *name, const struct str *text,
		      struct error *err)
{
	char *path = arena_printf(&p->arena, "%s/%s", p->o->out, name);
	int rc = path ? export_write_file(path, text, err) : no_memory(err);

	if (!rc && !vec_push(&p->written, path)) {
		unlink(path);
		rc = no_memory(err);
	}
	return rc;
}

static uint64_t product(const uint32_t v[3])
{
	uint64_t n = 1;

	for (int i = 0; i < 3; i++)
		n *= v[i] ? v[i] : 1;
	return n;
}

/* GPU_ID to SGPR. The grid there is in work-items. */
static void add_geometry(struct str *out, const struct join_row *r)
{
	uint64_t block = product(r->block);

	str_addf(out, "%u,%llu,%llu,%u,0,%u,0,0", r->device,
		 (unsigned long long)(product(r->grid) * block), (unsigned long long)block,
		 r->shared_bytes, r->registers);
}

static const char wide_head[] =
	"Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,"
	"Arch_VGPR,Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp,End_Timestamp";
static const char long_head[] =
	"GPU_ID,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,"
	"Arch_VGPR,Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp,End_Timestamp,Kernel_ID,"
	"Counter_Name,Counter_Value\n";

static void add_wide_head(struct omniperf *p, struct str *out, size_t id, const struct join_row *r,
			  uint64_t begin, uint64_t end)
{
	str_addf(out, "%zu,", id);
	add_geometry(out, r);
	str_add_char(out, ',');
	str_add_csv(out, kernel_name(p, r->kernel));
	str_addf(out, ",%llu,%llu", (unsigned long long)begin, (unsigned long long)end);
}

static int write_wide(struct omniperf *p, struct error *err)
{
	struct str text = STR_INIT;
	size_t id = 0, whole = 0;
	int rc = 0;

	str_add(&text, wide_head);
	vec_for_each (&p->columns, c) {
		str_add_char(&text, ',');
		str_add_csv(&text, c->name);
	}
	str_add(&text, "\n");
	for (size_t i = 0; i < p->join.rows.n; i++) {
		const struct join_row *r = &p->join.rows.items[i];
		size_t values = 0;

		if (p->left_out[i])
			continue;
		add_wide_head(p, &text, id++, r, r->begin_ns, r->end_ns);
		vec_for_each (&p->columns, c) {
			const struct join_cell *v = value_of(p, i, c);

			str_add_char(&text, ',');
			add_value(&text, v);
			values += v != NULL;
		}
		str_add(&text, "\n");
		whole += values == p->columns.n;
	}
	if (!whole)
		rc = error_set(err, RC_INVALID,
			       "no dispatch has a value of each of the %zu counters, and "
			       "`rocprof-compute analyze` refuses such a file; the long form "
			       "(--long) has no such limit, and `retally report` names the passes "
			       "that are missing",
			       p->columns.n);
	if (!rc)
		rc = write_file(p, "pmc_perf.csv", &text, err);
	str_release(&text);
	return rc;
}

static int write_long(struct omniperf *p, struct error *err)
{
	struct str text = STR_INIT;
	size_t id = 0;
	int rc;

	str_add(&text, long_head);
	for (size_t i = 0; i < p->join.rows.n; i++) {
		const struct join_row *r = &p->join.rows.items[i];

		if (p->left_out[i])
			continue;
		vec_for_each (&p->columns, c) {
			const struct join_cell *v = value_of(p, i, c);
			uint64_t block = product(r->block);

			if (!v)
				continue;
			str_addf(&text, "%u,%zu,%llu,%llu,%u,0,%u,0,0,", r->device, id,
				 (unsigned long long)(product(r->grid) * block),
				 (unsigned long long)block, r->shared_bytes, r->registers);
			str_add_csv(&text, kernel_name(p, r->kernel));
			str_addf(&text, ",%llu,%llu,%u,%s,", (unsigned long long)r->begin_ns,
				 (unsigned long long)r->end_ns, r->kernel + 1, c->name);
			add_value(&text, v);
			str_add(&text, "\n");
		}
		id++;
	}
	rc = write_file(p, "pmc_perf.csv", &text, err);
	str_clear(&text);
	str_add(&text, "format_rocprof_output: rocpd\n");
	if (!rc)
		rc = write_file(p, "profiling_config.yaml", &text, err);
	str_release(&text);
	return rc;
}

/* ---- accumulators ---- */

static const struct join_row *find_row(const struct id_map *index, const struct join *j,
				       const struct join_row *like)
{
	uint64_t at;

	if (!id_map_get(index, like->number, like->identity, &at) ||
	    j->rows.items[at].kernel != like->kernel)
		return NULL;
	return &j->rows.items[at];
}

/* All columns are values of the pass that has the accumulator; no row is left out. */
static void accumulator_text(struct omniperf *p, const struct join *j, const struct id_map *index,
			     uint32_t accumulator, uint32_t pass, struct str *text)
{
	const struct plan_pass *counters = &p->plan->passes[pass - 1];
	size_t id = 0;

	str_add(text, wide_head);
	for (uint32_t i = 0; i < counters->n_counters; i++) {
		if (!is_accumulator(&p->plan->counters[counters->counters[i]])) {
			str_add_char(text, ',');
			str_add(text, column_name(p, counters->counters[i]));
		}
	}
	str_add(text, ",SQ_ACCUM_PREV_HIRES\n");
	for (size_t i = 0; i < p->join.rows.n; i++) {
		const struct join_row *r = &p->join.rows.items[i], *own;

		if (p->left_out[i])
			continue;
		own = find_row(index, j, r);
		add_wide_head(p, text, id++, r, own ? own->begin_ns : r->begin_ns,
			      own ? own->end_ns : r->end_ns);
		for (uint32_t c = 0; c < counters->n_counters; c++) {
			if (is_accumulator(&p->plan->counters[counters->counters[c]]))
				continue;
			str_add_char(text, ',');
			if (own)
				add_value(text, join_counter(j, own, counters->counters[c]));
		}
		str_add_char(text, ',');
		if (own)
			add_value(text, join_counter(j, own, accumulator));
		str_add(text, "\n");
	}
}

static uint32_t first_pass_of(const struct plan *plan, uint32_t counter)
{
	for (uint32_t k = 0; k < plan->n_passes; k++) {
		for (uint32_t i = 0; i < plan->passes[k].n_counters; i++) {
			if (plan->passes[k].counters[i] == counter)
				return k + 1;
		}
	}
	return 0;
}

static int write_accumulator(struct omniperf *p, uint32_t counter, struct error *err)
{
	const char *name = p->plan->counters[counter].name;
	struct join_options jo = {.kernels = p->kernels->chosen,
				  .units = 1u << SPOOL_UNIT_DISPATCH,
				  .pass = first_pass_of(p->plan, counter)};
	struct str text = STR_INIT;
	struct id_map index = {0};
	struct join j = {0};
	char *file;
	int rc;

	if (!jo.pass)
		return 0;
	file = arena_printf(&p->arena, "%.*s.csv", (int)(strlen(name) - strlen("_ACCUM")), name);
	rc = file ? join_collect(&j, p->join.store, &jo, err) : no_memory(err);
	for (size_t i = 0; !rc && i < j.rows.n; i++) {
		const struct join_row *r = &j.rows.items[i];

		if (!id_map_set(&index, r->number, r->identity, i))
			rc = no_memory(err);
	}
	if (!rc && j.rows.n) {
		accumulator_text(p, &j, &index, counter, jo.pass, &text);
		rc = write_file(p, file, &text, err);
	}
	id_map_release(&index);
	join_release(&j);
	str_release(&text);
	return rc;
}

static int write_accumulators(struct omniperf *p, struct error *err)
{
	int rc = 0;

	for (uint32_t c = 0; !rc && c < p->plan->n_counters; c++) {
		if (!strcmp(p->plan->counters[c].source, "rocm") &&
		    is_accumulator(&p->plan->counters[c]))
			rc = write_accumulator(p, c, err);
	}
	return rc;
}

/* Which dispatch of which process a row is; that tool does not read it. */
static int write_dispatches(struct omniperf *p, struct error *err)
{
	struct str text = STR_INIT;
	size_t id = 0;
	int rc;

	str_add(&text, "Dispatch_ID,kernel,host,rank,pid,launch,dispatch,device,passes,varying,"
		       "executions,of_executions,confidence\n");
	for (size_t i = 0; i < p->join.rows.n; i++) {
		const struct join_row *r = &p->join.rows.items[i];

		if (p->left_out[i])
			continue;
		str_addf(&text, "%zu,", id++);
		str_add_csv(&text, values_kernel_name(p->join.store, r->kernel));
		str_add_char(&text, ',');
		str_add_csv(&text, r->spool->host);
		str_add_char(&text, ',');
		if (r->spool->rank >= 0)
			str_addf(&text, "%d", r->spool->rank);
		str_addf(&text, ",%u,", (uint32_t)r->spool->pid);
		str_add_csv(&text, r->spool->launch);
		str_addf(&text, ",%llu,%u,%u,%s,", (unsigned long long)r->dispatch, r->device,
			 r->n_passes, r->flags & SPOOL_DISPATCH_VARYING ? "true" : "false");
		if (r->match.compared)
			str_addf(&text, "%u,%u", r->match.executions, r->match.of_executions);
		else
			str_add(&text, ",");
		str_add_char(&text, ',');
		if (r->match.executions > 1)
			str_addf(&text, "%.6g", r->match.lowest);
		str_add_char(&text, '\n');
	}
	rc = write_file(p, "retally_dispatches.csv", &text, err);
	str_release(&text);
	return rc;
}

/* ---- all of it ---- */

static int make_directory(const char *out, bool *made_out, struct error *err)
{
	*made_out = !mkdir(out, 0777);
	if (*made_out)
		return 0;
	if (errno != EEXIST)
		return error_set_errno(err, 0, errno, "cannot make directory '%s'", out);
	/* An empty one will do; rmdir tells. */
	if (rmdir(out) || mkdir(out, 0777))
		return error_set(err, RC_EXISTS,
				 "'%s' is there already and is no empty directory; rocprof-compute "
				 "would read its files, too",
				 out);
	*made_out = true;
	return 0;
}

static void add_notes(const struct omniperf *p, struct str *notes)
{
	char path[PATH_MAX];
	size_t unused = 0, idle = p->join.rows.n - p->n_rows;

	str_addf(notes, "%zu dispatches, %zu columns of counters\n", p->n_rows, p->columns.n);
	if (p->join.incomplete)
		str_addf(notes,
			 "%llu dispatches lack a pass: what they have no value of is left empty\n",
			 (unsigned long long)p->join.incomplete);
	if (idle)
		str_addf(notes,
			 "%zu dispatches with a GRBM_GUI_ACTIVE of 0 are left out: the analysis "
			 "would stop at them\n",
			 idle);
	for (uint32_t c = 0; c < p->plan->n_counters; c++) {
		bool used = false;

		vec_for_each (&p->join.rows, r)
			used = used || join_counter(&p->join, r, c);
		unused += !used;
	}
	if (unused)
		str_addf(notes, "%zu counters of the plan have no value and no column\n", unused);
	str_add(notes, "not recorded, so 0 there: Scratch_Per_Workitem, Accum_VGPR, SGPR; "
		       "sysinfo.csv has the chip's nominal clocks\n");
	if (realpath(p->o->out, path)) /* that tool refuses a path with '..' */
		str_addf(notes, "next: rocprof-compute analyze -p %s\n", path);
}

static int check_run(const struct omniperf *p, struct error *err)
{
	if (!p->o->out)
		return error_set(err, RC_INVALID, "export: an Omniperf directory needs -o OUT");
	if (!omniperf_knows_chip(p->plan->chip))
		return error_set(err, RC_INVALID,
				 "rocprof-compute has no analysis for the chip of this run, '%s'; "
				 "it has for gfx908, gfx90a, gfx940, gfx941, gfx942 and gfx950",
				 p->plan->chip);
	return 0;
}

static int write_all(struct omniperf *p, struct error *err)
{
	struct str text = STR_INIT;
	int rc = omniperf_sysinfo(p->plan->chip, p->o->data_dir, &text, err);

	if (!rc)
		rc = write_file(p, "sysinfo.csv", &text, err);
	if (!rc)
		rc = write_dispatches(p, err);
	if (!rc && !p->o->longer)
		rc = write_accumulators(p, err);
	if (!rc)
		rc = p->o->longer ? write_long(p, err) : write_wide(p, err);
	str_release(&text);
	return rc;
}

int export_omniperf(struct store *s, const struct export_options *o, const struct export_kernels *k,
		    struct str *notes, struct error *err)
{
	struct omniperf p = {.o = o, .kernels = k, .plan = store_plan(s)};
	struct join_options jo = {.kernels = k->chosen, .units = 1u << SPOOL_UNIT_DISPATCH};
	bool made = false;
	int rc = check_run(&p, err);

	if (rc)
		return rc;
	p.instances = arena_array(&p.arena, p.plan->n_counters + 1, sizeof(*p.instances));
	if (!p.instances)
		return no_memory(err);
	for (uint32_t c = 0; c < p.plan->n_counters; c++) /* the channels of L2 */
		p.instances[c] = !strcmp(p.plan->counters[c].block, "TCC") &&
				 !strpbrk(p.plan->counters[c].name, "[") &&
				 !ends_with(p.plan->counters[c].name, "_sum");
	jo.instances = p.instances;
	rc = join_collect(&p.join, s, &jo, err);
	if (!rc)
		rc = index_instances(&p, err);
	if (!rc) {
		leave_out_idle(&p);
		rc = p.n_rows ? make_columns(&p, err)
			      : error_set(err, RC_INVALID, "no dispatch has an active cycle");
	}
	if (!rc)
		rc = make_directory(o->out, &made, err);
	if (!rc)
		rc = write_all(&p, err);
	if (rc && made) {
		vec_for_each (&p.written, path)
			unlink(*path);
		rmdir(o->out);
	}
	if (!rc)
		add_notes(&p, notes);
	join_release(&p.join);
	vec_release(&p.columns);
	map_release(&p.names);
	vec_release(&p.written);
	arena_release(&p.arena);
	return rc;
}
