/* SPDX-License-Identifier: Apache-2.0 */
/* retally merge: run directories of one collection, from any passes, ranks and hosts, into one. */
#include "cli/command.h"
#include "cli/options.h"
#include "report/summary.h"
#include "store/merge.h"

#include <stdio.h>

static int merge_run(const struct options *o, struct error *err)
{
	struct merge_outcome outcome;
	bool complete_merge;
	int rc = merge_directories((const char *const *)o->argv, (size_t)o->argc, o->output,
				   &outcome, err);

	for (size_t i = 0; i < outcome.problems.n; i++)
		fprintf(stderr, "retally: %s\n", outcome.problems.items[i]);
	complete_merge = !outcome.problems.n;
	if (!rc && !o->quiet)
		fprintf(stderr,
			"retally: %s: %zu new spool%s, %zu replaced by a more complete version, "
			"%zu already there\n",
			o->output, outcome.copied, outcome.copied == 1 ? "" : "s", outcome.replaced,
			outcome.known);
	merge_outcome_release(&outcome);
	if (!rc)
		rc = summary_write(o->output, o->quiet ? NULL : stderr, NULL, err);
	return rc ? rc : complete_merge ? EXIT_FINE : EXIT_NEGATIVE;
}

int cmd_merge(int argc, char **argv)
{
	struct options o;
	struct error err = {0};
	int rc;

	if (!command_begin(&o, COMMAND_MERGE, argc, argv, EXIT_USAGE, NULL, &rc))
		return rc;
	if (!o.argc || !o.output)
		rc = error_set(&err, RC_INVALID, "merge: usage: retally merge DIR... -o OUT");
	else
		rc = merge_run(&o, &err);
	options_release(&o);
	return rc < 0 ? command_fail(EXIT_USAGE, &err) : rc;
}
