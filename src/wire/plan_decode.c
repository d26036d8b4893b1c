/* SPDX-License-Identifier: Apache-2.0 */
/* JSON to plan. Hostile input: version, hash, then every member and every relation between them. */
#include "base/json.h"
#include "wire/plan_format.h"

#include <string.h>

struct plan_reader {
	struct plan *plan;
	const char *name;
	struct error *err;
};

static int plan_no_memory(struct plan_reader *r)
{
	return error_set(r->err, RC_NO_MEMORY, "%s: out of memory", r->name);
}

static int plan_get_string(struct plan_reader *r, const struct json_value *object, const char *key,
			   const char **out)
{
	return json_read_string(object, r->name, key, out, r->err);
}

static int plan_get_u32(struct plan_reader *r, const struct json_value *object, const char *key,
			uint32_t max, uint32_t *out)
{
	uint64_t value = 0;
	int rc = json_read_uint(object, r->name, key, max, &value, r->err);

	*out = (uint32_t)value;
	return rc;
}

/* An array member: its items, and zeroed room for as many structs in the arena. */
static int plan_get_array(struct plan_reader *r, const struct json_value *object, const char *key,
			  uint32_t max, size_t item_size, const struct json_value **first_out,
			  uint32_t *n_out, void *items_out)
{
	const struct json_value *array = NULL;
	void *items;
	int rc = json_read_array(object, r->name, key, &array, r->err);

	if (rc)
		return rc;
	if (array->n > max)
		return error_set(r->err, RC_INVALID, "%s:%d: %zu %s, at most %u are possible",
				 r->name, array->line, array->n, key, max);
	items = arena_array(&r->plan->arena, array->n, item_size);
	if (!items)
		return plan_no_memory(r);
	memcpy(items_out, &items, sizeof(items));
	*n_out = (uint32_t)array->n;
	*first_out = array->child;
	return 0;
}

static int plan_get_indices(struct plan_reader *r, const struct json_value *object, uint32_t *n_out,
			    const uint32_t **out)
{
	const struct json_value *v = NULL;
	uint32_t *indices = NULL;
	uint64_t value = 0;
	int rc = plan_get_array(r, object, "counters", PLAN_COUNTERS_MAX, sizeof(*indices), &v,
				n_out, &indices);

	for (uint32_t i = 0; !rc && v; v = v->next) {
		rc = json_to_uint(v, r->name, PLAN_COUNTERS_MAX - 1, &value, r->err);
		indices[i++] = (uint32_t)value;
	}
	*out = indices;
	return rc;
}

static int plan_get_flags(struct plan_reader *r, const struct json_value *object, uint32_t *out)
{
	const struct json_value *array = NULL;
	int rc = json_read_array(object, r->name, "flags", &array, r->err), bit;

	*out = 0;
	if (rc)
		return rc;
	for (const struct json_value *v = array->child; v; v = v->next) {
		for (bit = 0; bit < PLAN_N_FLAGS; bit++)
			if (v->type == JSON_STRING && !strcmp(v->text, plan_flag_names[bit]))
				break;
		if (bit == PLAN_N_FLAGS)
			return error_set(r->err, RC_INVALID, "%s:%d: unknown flag of a counter",
					 r->name, v->line);
		*out |= 1u << bit;
	}
	return 0;
}

static int plan_get_counters(struct plan_reader *r, const struct json_value *root)
{
	const struct json_value *v = NULL;
	struct plan_counter *c = NULL;
	int rc = plan_get_array(r, root, "counters", PLAN_COUNTERS_MAX, sizeof(*c), &v,
				&r->plan->n_counters, &r->plan->counters);

	for (c = r->plan->counters; !rc && v; v = v->next, c++)
		(void)((rc = plan_get_string(r, v, "name", &c->name)) ||
		       (rc = plan_get_string(r, v, "source", &c->source)) ||
		       (rc = plan_get_string(r, v, "block", &c->block)) ||
		       (rc = plan_get_string(r, v, "unit", &c->unit)) ||
		       (rc = plan_get_flags(r, v, &c->flags)) ||
		       (rc = plan_get_string(r, v, "config", &c->config)));
	return rc;
}

static int plan_get_passes(struct plan_reader *r, const struct json_value *root)
{
	const struct json_value *v = NULL;
	struct plan_pass *p = NULL;
	uint32_t number = 0;
	int rc = plan_get_array(r, root, "passes", PLAN_PASSES_MAX, sizeof(*p), &v,
				&r->plan->n_passes, &r->plan->passes);

	for (uint32_t i = 0; !rc && v; v = v->next, i++) {
		p = &r->plan->passes[i];
		(void)((rc = plan_get_u32(r, v, "pass", PLAN_PASSES_MAX, &number)) ||
		       (rc = plan_get_indices(r, v, &p->n_counters, &p->counters)) ||
		       (rc = plan_get_string(r, v, "reason", &p->reason)) ||
		       (rc = plan_get_string(r, v, "config", &p->config)));
		if (!rc && number != i + 1)
			rc = error_set(r->err, RC_INVALID, "%s:%d: pass %u where pass %u belongs",
				       r->name, v->line, number, i + 1);
	}
	return rc;
}

static int plan_get_live(struct plan_reader *r, const struct json_value *root)
{
	const struct json_value *v = NULL;
	struct plan_live *l = NULL;
	int rc;

	if (!json_member(root, "live"))
		return 0;
	rc = plan_get_array(r, root, "live", PLAN_PASSES_MAX, sizeof(*l), &v, &r->plan->n_live,
			    &r->plan->live);
	for (l = r->plan->live; !rc && v; v = v->next, l++) {
		l->group.reason = l->group.config = "";
		(void)((rc = plan_get_u32(r, v, "pass", PLAN_PASSES_MAX, &l->pass)) ||
		       (rc = plan_get_indices(r, v, &l->group.n_counters, &l->group.counters)));
	}
	return rc;
}

static int plan_get_metrics(struct plan_reader *r, const struct json_value *root)
{
	const struct json_value *v = NULL;
	struct plan_metric *m = NULL;
	struct plan_dropped *d = NULL;
	int rc = plan_get_array(r, root, "metrics", PLAN_METRICS_MAX, sizeof(*m), &v,
				&r->plan->n_metrics, &r->plan->metrics);

	for (m = r->plan->metrics; !rc && v; v = v->next, m++)
		(void)((rc = plan_get_string(r, v, "name", &m->name)) ||
		       (rc = plan_get_string(r, v, "title", &m->title)) ||
		       (rc = plan_get_string(r, v, "unit", &m->unit)) ||
		       (rc = plan_get_string(r, v, "expression", &m->expression)) ||
		       (rc = plan_get_indices(r, v, &m->n_counters, &m->counters)) ||
		       (rc = plan_get_u32(r, v, "pass", PLAN_PASSES_MAX, &m->pass)));
	if (rc)
		return rc;
	rc = plan_get_array(r, root, "dropped", UINT32_MAX, sizeof(*d), &v, &r->plan->n_dropped,
			    &r->plan->dropped);
	for (d = r->plan->dropped; !rc && v; v = v->next, d++)
		(void)((rc = plan_get_string(r, v, "name", &d->name)) ||
		       (rc = plan_get_string(r, v, "reason", &d->reason)));
	return rc;
}

/* The first two members decide whether the rest can be understood at all. */
static int plan_get_version(struct plan_reader *r, const struct json_value *root)
{
	const struct json_value *format = json_member(root, "format");
	uint64_t version = 0;
	int rc;

	if (!format || format->type != JSON_STRING || strcmp(format->text, PLAN_FORMAT_NAME))
		return error_set(r->err, RC_INVALID, "%s: not a plan file of retally", r->name);
	rc = json_read_uint(root, r->name, "version", UINT32_MAX, &version, r->err);
	if (!rc && version != PLAN_VERSION)
		rc = error_set(r->err, RC_MISMATCH, "%s: plan version %llu, this retally reads %d",
			       r->name, (unsigned long long)version, PLAN_VERSION);
	return rc;
}

/* The text must end in exactly what the encoder writes, with the hash of everything before. */
static int plan_check_hash(struct plan_reader *r, const char *text, size_t size)
{
	static const char head[] = "\"hash\": \"", tail[] = "\"\n}\n";
	const size_t n_head = sizeof(head) - 1, n_tail = sizeof(tail) - 1;
	const size_t n_hash = HASH_TEXT_SIZE - 1, n = n_head + n_hash + n_tail;
	char *hash = r->plan->hash;

	if (size > n) {
		const char *at = text + size - n;

		hash_text(text, size - n, hash);
		if (!memcmp(at, head, n_head) && !memcmp(at + n_head, hash, n_hash) &&
		    !memcmp(at + n_head + n_hash, tail, n_tail))
			return 0;
	}
	return error_set(r->err, RC_CORRUPT,
			 "%s: was edited or damaged after it was written: its content does not "
			 "match its hash; make it again with 'retally plan'",
			 r->name);
}

int plan_decode(struct plan *plan, const char *name, const char *text, size_t size,
		struct error *err)
{
	struct plan_reader r = {.plan = plan, .name = name, .err = err};
	struct json_value *root = NULL;
	uint64_t nodes = 0;
	int rc;

	*plan = (struct plan){0};
	if (size > PLAN_FILE_SIZE_MAX)
		return error_set(err, RC_INVALID, "%s: larger than %u bytes", name,
				 PLAN_FILE_SIZE_MAX);
	(void)((rc = json_parse(&plan->arena, name, text, size, &root, err)) ||
	       (rc = plan_get_version(&r, root)) || (rc = plan_check_hash(&r, text, size)) ||
	       (rc = plan_get_string(&r, root, "chip", &plan->chip)) ||
	       (rc = plan_get_string(&r, root, "selection", &plan->selection)) ||
	       (rc = plan_get_u32(&r, root, "lower_bound", PLAN_PASSES_MAX, &plan->lower_bound)) ||
	       (rc = json_read_bool(root, name, "proven", &plan->proven, err)) ||
	       (rc = json_read_uint(root, name, "nodes", UINT64_MAX, &nodes, err)) ||
	       (rc = plan_get_counters(&r, root)) || (rc = plan_get_passes(&r, root)) ||
	       (rc = plan_get_live(&r, root)) || (rc = plan_get_metrics(&r, root)) ||
	       (rc = plan_check(plan, name, err)));
	plan->nodes = nodes;
	if (rc)
		plan_release(plan);
	return rc;
}

const struct plan_pass *plan_counted(const struct plan *plan, uint32_t number, uint32_t *pass_out)
{
	const struct plan_live *live;

	if (!number || number - 1 >= plan->n_passes + plan->n_live)
		return NULL;
	if (number <= plan->n_passes) {
		if (pass_out)
			*pass_out = number;
		return &plan->passes[number - 1];
	}
	live = &plan->live[number - 1 - plan->n_passes];
	if (pass_out)
		*pass_out = live->pass;
	return &live->group;
}

void plan_release(struct plan *plan)
{
	arena_release(&plan->arena);
	*plan = (struct plan){0};
}
