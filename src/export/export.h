/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run directory in the formats of other tools (docs/export.md):
 *
 * omniperf  a directory for `rocprof-compute analyze -p`, in its wide or long form
 * csv       one file; long: a line for each value of each execution, the canonical export, in
 * memory that does not grow with the rows; wide: a line a dispatch perfetto  trace events as JSON,
 * for ui.perfetto.dev rocpd     a SQLite database in the schema of rocprofiler-sdk
 *
 * What is there already is never written over. A failed export leaves nothing that a reader would
 * take for a whole one.
 */
#ifndef RETALLY_EXPORT_EXPORT_H
#define RETALLY_EXPORT_EXPORT_H

#include "base/error.h"
#include "base/str.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdio.h>

enum export_target {
	EXPORT_OMNIPERF,
	EXPORT_CSV,
	EXPORT_PERFETTO,
	EXPORT_ROCPD
};
#define EXPORT_TARGETS 4
/* "omniperf", ... */
const char *export_target_name(enum export_target target);

struct export_options {
	enum export_target target;
	const char *out;            /* file or directory; NULL: stdout, of csv and perfetto */
	bool wide, longer;          /* neither: wide for omniperf, long for csv */
	const char *const *kernels; /* patterns of -k */
	size_t n_kernels;
	const char *data_dir; /* chips: constants for sysinfo.csv */
};
/* Appends to notes what the reader should know of the result, a line each. RC_INVALID when the run
 * cannot be said in that format, with the reason; RC_EXISTS when `out` is there already. */
int export_write(struct store *s, const struct export_options *o, struct str *notes,
		 struct error *err);

#endif
