/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that end a run. */
#ifndef RETALLY_REPORT_SUMMARY_H
#define RETALLY_REPORT_SUMMARY_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

/* Brings the run directory's database up to date and writes the summary, at most 15 lines, to f
 * (NULL: nowhere). *complete_out (may be NULL): every counter of the plan has a value and nothing
 * that was asked for was left out of the plan. */
int summary_write(const char *dir, FILE *f, bool *complete_out, struct error *err);

#endif
