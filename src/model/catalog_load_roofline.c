/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a roofline, which a metric file may have: what of a kernel's counters is work and
 * what is traffic, and the most that the chip can do of it.
 */
#include "base/str.h"
#include "model/catalog_load_internal.h"
#include "model/expr.h"

#include <stdio.h>
#include <string.h>

/* An expression of a line, checked as it is written and kept with the numbers of the chip. */
static int load_expression(struct catalog *c, const struct catalog_document *d,
			   struct arena *scratch, const struct yaml_value *line, const char *key,
			   const char **expression_out, struct error *err)
{
	const struct yaml_value *v = yaml_member(line, key);
	struct str out = STR_INIT;
	const struct expr *parsed;
	const char *text = "";
	char where[400];
	int rc = yaml_text(line, d->name, key, &text, err);

	*expression_out = "";
	if (rc || !v)
		return rc;
	snprintf(where, sizeof(where), "%.200s:%u:%u: %s of a roofline", d->name, v->line,
		 v->column, key);
	rc = expr_parse(scratch, where, text, &parsed, err);
	if (!rc)
		rc = catalog_load_expand(c, d, v, text, &out, err);
	if (!rc && !(*expression_out = arena_strdup(&c->arena, str_text(&out))))
		rc = error_set(err, RC_NO_MEMORY, "%s: out of memory", d->name);
	str_release(&out);
	return rc;
}

static int load_line(struct catalog *c, const struct catalog_document *d, struct arena *scratch,
		     const struct yaml_value *v, struct error *err)
{
	static const char *const keys[] = {"!axis", "!title", "!unit", "!rate", "peak", NULL};
	const char *axis = "", *title = "", *unit = "";
	struct roofline_line line = {0};
	int rc = yaml_check_keys(v, d->name, "a line of a roofline", keys, err);

	if (rc || (rc = yaml_text(v, d->name, "axis", &axis, err)) ||
	    (rc = yaml_text(v, d->name, "title", &title, err)) ||
	    (rc = yaml_text(v, d->name, "unit", &unit, err)) ||
	    (rc = load_expression(c, d, scratch, v, "rate", &line.rate, err)) ||
	    (rc = load_expression(c, d, scratch, v, "peak", &line.peak, err)))
		return rc;
	if (strcmp(axis, "work") && strcmp(axis, "memory"))
		return yaml_error(yaml_member(v, "axis"), d->name, err, "'axis' is work or memory");
	line.is_memory = !strcmp(axis, "memory");
	line.title = arena_strdup(&c->arena, title);
	line.unit = arena_strdup(&c->arena, unit);
	if (!line.title || !line.unit || !vec_push(&c->roofline, line))
		return error_set(err, RC_NO_MEMORY, "%s: out of memory", d->name);
	return 0;
}

int catalog_load_roofline(struct catalog *c, const struct catalog_document *d,
			  struct arena *scratch, struct error *err)
{
	const struct yaml_value *list;
	int rc = yaml_list(d->root, d->name, "roofline", YAML_MAPPING, &list, err);

	for (const struct yaml_value *v = list ? list->child : NULL; v && !rc; v = v->next)
		rc = load_line(c, d, scratch, v, err);
	return rc;
}
