/* SPDX-License-Identifier: Apache-2.0 */
/* retally export: a run directory in the formats of other tools. */
#include "base/str.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/setup.h"
#include "export/export.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

static int find_target(const char *to, enum export_target *target_out, struct error *err)
{
	for (int i = 0; to && i < EXPORT_TARGETS; i++) {
		*target_out = (enum export_target)i;
		if (!strcmp(to, export_target_name(*target_out)))
			return 0;
	}
	return error_set(err, RC_INVALID, "--to: '%s' is not omniperf, csv, perfetto or rocpd", to);
}

static int export_run(const struct options *o, struct error *err)
{
	struct export_options eo = {.out = o->output,
				    .wide = o->wide,
				    .longer = o->longer,
				    .kernels = o->kernels.items,
				    .n_kernels = o->kernels.n,
				    .data_dir = setup_data_dir()};
	struct str notes = STR_INIT;
	struct store *store = NULL;
	int rc;

	if (o->argc != 1 || !o->to)
		return error_set(err, RC_INVALID,
				 "export: usage: retally export DIR --to "
				 "omniperf|csv|perfetto|rocpd -o OUT");
	if (o->wide && o->longer)
		return error_set(err, RC_INVALID, "--wide and --long exclude each other");
	if (o->output && !*o->output)
		return error_set(err, RC_INVALID, "-o: a name is wanted");
	rc = find_target(o->to, &eo.target, err);
	if (!rc)
		rc = store_open(&store, o->argv[0], err);
	if (!rc)
		command_findings(store, o->argv[0]);
	if (!rc)
		rc = export_write(store, &eo, &notes, err);
	if (!rc && !o->quiet) {
		const char *line = str_text(&notes);

		for (size_t n; *line; line += n + (line[n] == '\n')) {
			n = strcspn(line, "\n");
			fprintf(stderr, "retally: %.*s\n", (int)n, line);
		}
	}
	store_close(store);
	str_release(&notes);
	return rc;
}

int cmd_export(int argc, char **argv)
{
	struct options o;
	struct error err = {0};
	int rc;

	if (!command_begin(&o, COMMAND_EXPORT, argc, argv, EXIT_USAGE, NULL, &rc))
		return rc;
	rc = export_run(&o, &err);
	options_release(&o);
	return rc ? command_fail(EXIT_USAGE, &err) : EXIT_FINE;
}
