/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard input, output and error of the passes. Pass 1 has the user's own; later passes read the
 * same input again and write to DIR/output/LAUNCH/pass-K.stdout and .stderr, so that what the
 * program prints is seen once.
 */
#ifndef RETALLY_INJECT_OUTPUT_H
#define RETALLY_INJECT_OUTPUT_H

#include "base/error.h"
#include "inject/resume.h"
#include "inject/session.h"

#include <stdbool.h>

/* In the first image of pass >= 2: sends fd 1 and 2 (those the program was started with) to files.
 */
int output_redirect(const struct session_paths *p, const struct resume *r, uint32_t pass,
		    struct error *err);
/* Whether what this pass printed differs from what pass 2 printed; NULL or "stdout", "stderr".
 * System calls only. */
const char *output_differs(const struct session_paths *p, uint32_t pass);

/* Standard input is a pipe, which can be read only once: puts a process between that hands it on as
 * it comes, never waiting for more than there is, and keeps a copy in p->stdin_copy. It ends with
 * the pipe or with its last reader. When the copy cannot be kept it is removed, and only then are
 * later passes impossible; the program goes on reading. mark is the text in the environment by
 * which the process would count as one of the program's: it is wiped there. */
int stdin_keep(const struct session_paths *p, char *mark, struct error *err);

#endif
