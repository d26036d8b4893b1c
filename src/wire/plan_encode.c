/* SPDX-License-Identifier: Apache-2.0 */
/* Plan to canonical JSON, and the rules that hold for every plan, whichever way it goes. */
#include "base/json.h"
#include "wire/plan_format.h"

#include <string.h>

const char *const plan_flag_names[PLAN_N_FLAGS] = {"anchor", "base", "level", "hidden", "mean"};

static const char *plan_text(const char *text)
{
	return text ? text : "";
}

/* Text that a source or the evaluator acts on must survive the file byte for byte. */
static bool plan_is_exact(const char *text)
{
	return json_is_utf8(plan_text(text));
}

static int plan_check_indices(const struct plan *plan, const char *name, const char *what,
			      uint32_t number, uint32_t n, const uint32_t *indices,
			      struct error *err)
{
	for (uint32_t i = 0; i < n; i++) {
		if (indices[i] >= plan->n_counters)
			return error_set(err, RC_INVALID,
					 "%s: %s %u refers to counter %u, but there are %u", name,
					 what, number, indices[i], plan->n_counters);
		if (i && indices[i] <= indices[i - 1])
			return error_set(err, RC_INVALID,
					 "%s: the counters of %s %u are not in ascending order",
					 name, what, number);
	}
	return 0;
}

static int plan_check_counters(const struct plan *plan, const char *name, struct error *err)
{
	for (uint32_t i = 0; i < plan->n_counters; i++) {
		const struct plan_counter *c = &plan->counters[i];

		if (!*plan_text(c->name) || !*plan_text(c->source))
			return error_set(err, RC_INVALID, "%s: counter %u has no name or no source",
					 name, i);
		if (!plan_is_exact(c->name) || !plan_is_exact(c->source) ||
		    !plan_is_exact(c->block) || !plan_is_exact(c->config))
			return error_set(err, RC_INVALID,
					 "%s: counter %u: its name or configuration is not UTF-8",
					 name, i);
		if (c->flags >> PLAN_N_FLAGS)
			return error_set(err, RC_INVALID, "%s: counter '%s' has unknown flags %#x",
					 name, c->name, c->flags);
	}
	return 0;
}

/* A metric that claims to be whole in a pass has all its counters there. */
static int plan_check_complete(const struct plan *plan, const char *name,
			       const struct plan_metric *metric, struct error *err)
{
	const struct plan_pass *pass = &plan->passes[metric->pass - 1];
	uint32_t at = 0;

	for (uint32_t i = 0; i < metric->n_counters; i++) {
		while (at < pass->n_counters && pass->counters[at] < metric->counters[i])
			at++;
		if (at == pass->n_counters || pass->counters[at] != metric->counters[i])
			return error_set(err, RC_INVALID,
					 "%s: metric '%s' is not complete in pass %u: counter '%s' "
					 "is not in it",
					 name, metric->name, metric->pass,
					 plan->counters[metric->counters[i]].name);
	}
	return 0;
}

static int plan_check_metrics(const struct plan *plan, const char *name, struct error *err)
{
	int rc;

	for (uint32_t i = 0; i < plan->n_metrics; i++) {
		const struct plan_metric *m = &plan->metrics[i];

		if (!*plan_text(m->name))
			return error_set(err, RC_INVALID, "%s: metric %u has no name", name, i);
		if (!plan_is_exact(m->name) || !plan_is_exact(m->expression))
			return error_set(err, RC_INVALID,
					 "%s: metric %u: its name or expression is not UTF-8", name,
					 i);
		rc = plan_check_indices(plan, name, "metric", i, m->n_counters, m->counters, err);
		if (rc)
			return rc;
		if (m->pass > plan->n_passes)
			return error_set(err, RC_INVALID,
					 "%s: metric '%s' is in pass %u, but there are %u", name,
					 m->name, m->pass, plan->n_passes);
		if (m->pass && (rc = plan_check_complete(plan, name, m, err)))
			return rc;
	}
	return 0;
}

/* A live group is some counters of one pass. */
static int plan_check_live(const struct plan *plan, const char *name, uint32_t number,
			   const struct plan_live *live, struct error *err)
{
	const struct plan_pass *pass;
	uint32_t at = 0;
	int rc = plan_check_indices(plan, name, "live group", number, live->group.n_counters,
				    live->group.counters, err);

	if (rc)
		return rc;
	if (!live->pass || live->pass > plan->n_passes)
		return error_set(err, RC_INVALID,
				 "%s: live group %u is of pass %u, but there are %u", name, number,
				 live->pass, plan->n_passes);
	if (!live->group.n_counters)
		return error_set(err, RC_INVALID, "%s: live group %u has no counters", name,
				 number);
	pass = &plan->passes[live->pass - 1];
	for (uint32_t i = 0; i < live->group.n_counters; i++) {
		uint32_t counter = live->group.counters[i];

		while (at < pass->n_counters && pass->counters[at] < counter)
			at++;
		if (at == pass->n_counters || pass->counters[at] != counter)
			return error_set(err, RC_INVALID,
					 "%s: live group %u has counter '%s', which is not in pass "
					 "%u",
					 name, number, plan->counters[counter].name, live->pass);
	}
	return 0;
}

static int plan_check_limit(const char *name, const char *what, uint32_t n, uint32_t max,
			    struct error *err)
{
	return n <= max ? 0
			: error_set(err, RC_INVALID, "%s: %u %s, at most %u are possible", name, n,
				    what, max);
}

int plan_check(const struct plan *plan, const char *name, struct error *err)
{
	int rc;

	if ((rc = plan_check_limit(name, "counters", plan->n_counters, PLAN_COUNTERS_MAX, err)) ||
	    (rc = plan_check_limit(name, "passes", plan->n_passes, PLAN_PASSES_MAX, err)) ||
	    (rc = plan_check_limit(name, "live groups", plan->n_live, PLAN_PASSES_MAX, err)) ||
	    (rc = plan_check_limit(name, "metrics", plan->n_metrics, PLAN_METRICS_MAX, err)))
		return rc;
	if (plan->lower_bound > plan->n_passes)
		return error_set(err, RC_INVALID, "%s: %u passes are fewer than the lower bound %u",
				 name, plan->n_passes, plan->lower_bound);
	rc = plan_check_counters(plan, name, err);
	for (uint32_t i = 0; !rc && i < plan->n_passes; i++) {
		const struct plan_pass *p = &plan->passes[i];

		rc = plan_check_indices(plan, name, "pass", i + 1, p->n_counters, p->counters, err);
		if (!rc && !plan_is_exact(p->config))
			rc = error_set(err, RC_INVALID,
				       "%s: pass %u: its configuration is not UTF-8", name, i + 1);
	}
	for (uint32_t i = 0; !rc && i < plan->n_live; i++)
		rc = plan_check_live(plan, name, i + 1, &plan->live[i], err);
	return rc ? rc : plan_check_metrics(plan, name, err);
}

static void plan_put_string(struct json_writer *w, const char *key, const char *text)
{
	json_key(w, key);
	json_string(w, plan_text(text));
}

static void plan_put_uint(struct json_writer *w, const char *key, uint64_t value)
{
	json_key(w, key);
	json_uint(w, value);
}

static void plan_put_indices(struct json_writer *w, uint32_t n, const uint32_t *indices)
{
	json_key(w, "counters");
	json_begin_array(w);
	for (uint32_t i = 0; i < n; i++)
		json_uint(w, indices[i]);
	json_end_array(w);
}

static void plan_put_counters(struct json_writer *w, const struct plan *plan)
{
	json_key(w, "counters");
	json_begin_array(w);
	for (uint32_t i = 0; i < plan->n_counters; i++) {
		const struct plan_counter *c = &plan->counters[i];

		json_begin_object(w);
		plan_put_string(w, "name", c->name);
		plan_put_string(w, "source", c->source);
		plan_put_string(w, "block", c->block);
		plan_put_string(w, "unit", c->unit);
		json_key(w, "flags");
		json_begin_array(w);
		for (int bit = 0; bit < PLAN_N_FLAGS; bit++)
			if (c->flags & 1u << bit)
				json_string(w, plan_flag_names[bit]);
		json_end_array(w);
		plan_put_string(w, "config", c->config);
		json_end_object(w);
	}
	json_end_array(w);
}

static void plan_put_passes(struct json_writer *w, const struct plan *plan)
{
	json_key(w, "passes");
	json_begin_array(w);
	for (uint32_t i = 0; i < plan->n_passes; i++) {
		const struct plan_pass *p = &plan->passes[i];

		json_begin_object(w);
		plan_put_uint(w, "pass", i + 1);
		plan_put_indices(w, p->n_counters, p->counters);
		plan_put_string(w, "reason", p->reason);
		plan_put_string(w, "config", p->config);
		json_end_object(w);
	}
	json_end_array(w);
}

/* Only where there are any: all other plans have the bytes, and the hash, that they always had. */
static void plan_put_live(struct json_writer *w, const struct plan *plan)
{
	if (!plan->n_live)
		return;
	json_key(w, "live");
	json_begin_array(w);
	for (uint32_t i = 0; i < plan->n_live; i++) {
		json_begin_object(w);
		plan_put_uint(w, "pass", plan->live[i].pass);
		plan_put_indices(w, plan->live[i].group.n_counters, plan->live[i].group.counters);
		json_end_object(w);
	}
	json_end_array(w);
}

static void plan_put_metrics(struct json_writer *w, const struct plan *plan)
{
	json_key(w, "metrics");
	json_begin_array(w);
	for (uint32_t i = 0; i < plan->n_metrics; i++) {
		const struct plan_metric *m = &plan->metrics[i];

		json_begin_object(w);
		plan_put_string(w, "name", m->name);
		plan_put_string(w, "title", m->title);
		plan_put_string(w, "unit", m->unit);
		plan_put_string(w, "expression", m->expression);
		plan_put_indices(w, m->n_counters, m->counters);
		plan_put_uint(w, "pass", m->pass);
		json_end_object(w);
	}
	json_end_array(w);
	json_key(w, "dropped");
	json_begin_array(w);
	for (uint32_t i = 0; i < plan->n_dropped; i++) {
		json_begin_object(w);
		plan_put_string(w, "name", plan->dropped[i].name);
		plan_put_string(w, "reason", plan->dropped[i].reason);
		json_end_object(w);
	}
	json_end_array(w);
}

int plan_encode(struct plan *plan, struct str *out, struct error *err)
{
	static const char hash_key[] = "\"hash\": ";
	size_t start = out->size;
	struct json_writer w;
	int rc = plan_check(plan, "plan", err);

	if (rc)
		return rc;
	json_writer_init(&w, out, false);
	json_begin_object(&w);
	plan_put_string(&w, "format", PLAN_FORMAT_NAME);
	plan_put_uint(&w, "version", PLAN_VERSION);
	plan_put_string(&w, "chip", plan->chip);
	plan_put_string(&w, "selection", plan->selection);
	plan_put_uint(&w, "lower_bound", plan->lower_bound);
	json_key(&w, "proven");
	json_bool(&w, plan->proven);
	plan_put_uint(&w, "nodes", plan->nodes);
	plan_put_counters(&w, plan);
	plan_put_passes(&w, plan);
	plan_put_live(&w, plan);
	plan_put_metrics(&w, plan);
	json_key(&w, "hash");
	if (!str_is_failed(out)) {
		/* The separator in front of the key is part of what is hashed. */
		hash_text(out->text + start, out->size - start - strlen(hash_key), plan->hash);
		json_string(&w, plan->hash);
	}
	json_end_object(&w);
	str_add_char(out, '\n');
	if (str_is_failed(out))
		return error_set(err, RC_NO_MEMORY, "plan: out of memory");
	if (out->size - start > PLAN_FILE_SIZE_MAX)
		return error_set(err, RC_INVALID, "plan: larger than %u bytes", PLAN_FILE_SIZE_MAX);
	return 0;
}
