/* SPDX-License-Identifier: Apache-2.0 */
/* retally diff: which values of two runs differ by more than their spread. */
#include "base/str.h"
#include "cli/command.h"
#include "cli/options.h"
#include "report/diff.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

static int diff_run(const struct options *o, size_t *moved_out, struct error *err)
{
	static const enum table_format formats[] = {TABLE_TEXT, TABLE_CSV, TABLE_JSON};
	struct report_options ro = {.format = formats[o->format]};
	struct str metrics = STR_INIT, counters = STR_INIT;
	struct store *a = NULL, *b = NULL;
	int rc = 0;

	if (o->argc != 2)
		rc = error_set(err, RC_INVALID, "diff: usage: retally diff A B");
	if (!rc)
		rc = options_base_units(o, &ro.base_units, err);
	options_names(o, 'm', &metrics);
	options_names(o, 'e', &counters);
	if (!rc && (str_is_failed(&metrics) || str_is_failed(&counters)))
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
	ro.metrics = metrics.size ? str_text(&metrics) : NULL;
	ro.counters = counters.size ? str_text(&counters) : NULL;
	if (!rc)
		rc = store_open(&a, o->argv[0], err);
	if (!rc)
		rc = store_open(&b, o->argv[1], err);
	if (!rc) {
		command_findings(a, o->argv[0]);
		command_findings(b, o->argv[1]);
	}
	if (!rc)
		rc = diff_write(a, b, &ro, stdout, moved_out, err);
	store_close(a);
	store_close(b);
	str_release(&metrics);
	str_release(&counters);
	return rc;
}

int cmd_diff(int argc, char **argv)
{
	struct options o;
	struct error err = {0};
	size_t moved = 0;
	int rc;

	if (!command_begin(&o, COMMAND_DIFF, argc, argv, EXIT_USAGE,
			   "exit status: 0 nothing moved, 1 something moved, 2 error\n", &rc))
		return rc;
	rc = diff_run(&o, &moved, &err);
	options_release(&o);
	return rc ? command_fail(EXIT_USAGE, &err) : moved ? EXIT_NEGATIVE : EXIT_FINE;
}
