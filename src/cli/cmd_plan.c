/* SPDX-License-Identifier: Apache-2.0 */
/* retally plan: how many passes a selection needs, before any time is spent. */
#include "base/str.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/plan_cuda.h"
#include "cli/plan_print.h"
#include "cli/setup.h"
#include "launch/program.h"
#include "model/planner_explain.h"

#include <stdio.h>
#include <stdlib.h>

static int plan_diff(const struct options *o)
{
	struct plan a = {0}, b = {0};
	struct error err = {0};
	int status = EXIT_USAGE;

	if (o->argc != 2) {
		error_set(&err, RC_INVALID, "--diff needs two plan files");
		return command_fail(EXIT_USAGE, &err);
	}
	if (plan_read_file(&a, o->argv[0], &err) || plan_read_file(&b, o->argv[1], &err)) {
		command_fail(EXIT_USAGE, &err);
	} else if (plan_print_diff(stdout, &a, &b)) {
		status = EXIT_NEGATIVE;
	} else {
		puts("the plans are the same");
		status = EXIT_FINE;
	}
	plan_release(&a);
	plan_release(&b);
	return status;
}

/* A number is a pass, anything else a metric. */
static int plan_explain(const struct setup *s, const char *what, struct error *err)
{
	struct str text = STR_INIT;
	char *end;
	unsigned long pass = strtoul(what, &end, 10);
	int rc;

	if (*what && !*end && pass <= UINT32_MAX)
		rc = planner_explain_pass_text(&s->catalog, &s->plan, (uint32_t)pass, &text, err);
	else
		rc = planner_explain_metric_text(&s->catalog, &s->plan, what, &text, err);
	if (!rc)
		fputs(str_text(&text), stdout);
	str_release(&text);
	return rc;
}

static int plan_show(struct setup *s, const struct options *o, struct error *err)
{
	struct str text = STR_INIT;
	int rc;

	/* Also fills the hash. */
	rc = plan_encode(&s->plan, &text, err);
	if (!rc && o->explain)
		rc = plan_explain(s, o->explain, err);
	else if (!rc && o->count)
		printf("%u\n", s->plan.n_passes);
	else if (!rc && o->json)
		fwrite(text.text, 1, text.size, stdout);
	else if (!rc)
		plan_print(stdout, &s->plan);
	str_release(&text);
	return rc;
}

int cmd_plan(int argc, char **argv)
{
	struct options o;
	struct setup s = {0};
	struct error err = {0};
	struct program program = {.fd = -1};
	int rc;

	if (!command_begin(&o, COMMAND_PLAN, argc, argv, EXIT_USAGE,
			   "       retally plan --diff A B\n", &rc))
		return rc;
	if (o.diff) {
		rc = plan_diff(&o);
		options_release(&o);
		return rc;
	}
	rc = o.argc ? program_find(&program, o.argv, &err) : 0;
	if (!rc)
		rc = setup_catalog(&s, &o, program.path, &err);
	if (!rc && s.is_cuda)
		rc = plan_cuda(&s, &o, &err);
	else if (!rc && !(rc = setup_plan(&s, &o, &err)))
		rc = plan_show(&s, &o, &err);
	setup_release(&s);
	options_release(&o);
	program_release(&program);
	return rc ? command_fail(EXIT_USAGE, &err) : EXIT_FINE;
}
