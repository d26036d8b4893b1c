/* SPDX-License-Identifier: Apache-2.0 */
/* retally report: what a run directory holds. */
#include "base/str.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/report_set.h"
#include "cli/setup.h"
#include "report/report.h"
#include "store/store.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

/* The directory given, or the only *.retally here. */
static int report_find(const struct options *o, struct str *dir, struct error *err)
{
	glob_t found;
	int rc = 0;

	if (o->argc > 1)
		return error_set(err, RC_INVALID,
				 "report takes one directory; '%s' is one too many", o->argv[1]);
	if (o->argc == 1) {
		str_add(dir, o->argv[0]);
		return 0;
	}
	if (glob("*.retally", GLOB_ONLYDIR, NULL, &found))
		return error_set(err, RC_NOT_FOUND,
				 "report: which directory? there is no *.retally here");
	if (found.gl_pathc == 1)
		str_add(dir, found.gl_pathv[0]);
	else
		rc = error_set(err, RC_INVALID,
			       "report: which directory? there are %zu, '%s' is one",
			       found.gl_pathc, found.gl_pathv[0]);
	globfree(&found);
	return rc;
}

static int report_by(const struct options *o, enum report_by *by_out, struct error *err)
{
	static const char *const names[] = {"kernel", "dispatch", "pass",
					    "rank",   "window",   "reason"};

	*by_out = REPORT_BY_KERNEL;
	if (!o->by)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(o->by, names[i])) {
			*by_out = (enum report_by)i;
			return 0;
		}
	return error_set(err, RC_INVALID,
			 "--by: '%s' is not kernel, dispatch, pass, rank, window or reason", o->by);
}

static int report_kernel_names(const struct options *o, enum kernel_name_style *style_out,
			       struct error *err)
{
	static const char *const names[] = {"full", "short", "mangled"};

	*style_out = KERNEL_NAME_FULL;
	if (!o->kernel_name)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(o->kernel_name, names[i])) {
			*style_out = (enum kernel_name_style)i;
			return 0;
		}
	return error_set(err, RC_INVALID, "--kernel-name: '%s' is not full, short or mangled",
			 o->kernel_name);
}

static int report_ratio(const struct options *o, enum expr_ratio *ratio_out, struct error *err)
{
	*ratio_out =
		o->ratio && !strcmp(o->ratio, "mean") ? EXPR_MEAN_OF_RATIOS : EXPR_RATIO_OF_SUMS;
	if (!o->ratio || *ratio_out == EXPR_MEAN_OF_RATIOS || !strcmp(o->ratio, "sums"))
		return 0;
	return error_set(err, RC_INVALID, "--ratio: '%s' is not sums or mean", o->ratio);
}

/* What a page draws slots and ceilings from; without it the page says why. */
static void report_chip(const struct options *o, const struct plan *plan, struct setup *chip,
			struct report_options *ro, struct error *why)
{
	if (!strcmp(plan->chip, SETUP_THIS_MACHINE)) {
		ro->no_chip = "processors have no chip file";
	} else if (setup_sets(chip, o, plan, why)) {
		ro->no_chip = why->message;
	} else {
		ro->chip = &chip->catalog;
	}
}

static bool has_set(const struct options *o)
{
	for (size_t i = 0; i < o->selection.n; i++)
		if (o->selection.items[i].kind == 's')
			return true;
	return false;
}

static int report_run(const struct options *o, struct error *err)
{
	static const enum table_format formats[] = {TABLE_TEXT, TABLE_CSV, TABLE_JSON,
						    TABLE_ARRAYS};
	struct report_options ro = {.format = formats[o->format],
				    .kernels = o->kernels.items,
				    .n_kernels = o->kernels.n};
	struct str dir = STR_INIT, metrics = STR_INIT, counters = STR_INIT;
	struct setup chip = {0};
	struct store *store = NULL;
	struct error no_chip = {0};
	int rc;

	if (o->wide && o->longer)
		return error_set(err, RC_INVALID, "--wide and --long exclude each other");
	if (o->metrics_files.n && !has_set(o) && o->format != FORMAT_HTML)
		return error_set(err, RC_INVALID,
				 "--metrics-file is read for --set: what the metrics of this run "
				 "are was fixed with its plan");
	ro.layout = o->wide ? REPORT_WIDE : o->longer ? REPORT_LONG : REPORT_AUTO;
	options_names(o, 'm', &metrics);
	options_names(o, 'e', &counters);
	rc = report_by(o, &ro.by, err);
	if (!rc && o->format == FORMAT_HTML && ro.by != REPORT_BY_KERNEL)
		rc = error_set(
			err, RC_INVALID,
			"--format html shows kernels, dispatches and passes in one page; --by "
			"is for the other formats");
	if (!rc && (o->wide || o->longer) && ro.by != REPORT_BY_DISPATCH)
		rc = error_set(err, RC_INVALID, "--%s is for --by dispatch",
			       o->wide ? "wide" : "long");
	if (!rc)
		rc = report_kernel_names(o, &ro.names, err);
	if (!rc)
		rc = options_base_units(o, &ro.base_units, err);
	if (!rc)
		rc = report_ratio(o, &ro.ratio, err);
	if (!rc)
		rc = report_find(o, &dir, err);
	if (!rc && str_is_failed(&dir))
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
	if (!rc)
		rc = store_open(&store, str_text(&dir), err);
	if (!rc)
		rc = report_set_names(o, store_plan(store), &metrics, &counters, err);
	if (!rc && (str_is_failed(&metrics) || str_is_failed(&counters)))
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
	ro.metrics = metrics.size ? str_text(&metrics) : NULL;
	ro.counters = counters.size ? str_text(&counters) : NULL;
	if (!rc && o->format == FORMAT_HTML)
		report_chip(o, store_plan(store), &chip, &ro, &no_chip);
	if (!rc)
		rc = report_write(store, &ro, stdout, err);
	setup_release(&chip);
	store_close(store);
	str_release(&dir);
	str_release(&metrics);
	str_release(&counters);
	return rc;
}

int cmd_report(int argc, char **argv)
{
	struct options o;
	struct error err = {0};
	int rc;

	if (!command_begin(&o, COMMAND_REPORT, argc, argv, EXIT_USAGE, NULL, &rc))
		return rc;
	rc = report_run(&o, &err);
	options_release(&o);
	return rc ? command_fail(EXIT_USAGE, &err) : EXIT_FINE;
}
