/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output names with placeholders, in the spellings of ncu, rocprofv3 and likwid:
 *
 *   %h %hostname%       host                 %q{VAR} %env{VAR}%   environment variable
 *   %p %pid%            process id           %t %launch_time%     start, 20240611T142355Z
 *   %r %rank%           rank                 %tag%                name of the program
 *   %j %job%            job id               %i                   first number from 1 whose path is
 * free %nid%               rank if known, else process id            %%   a per cent sign
 *
 * A long spelling wins over a short one. Slashes in host, job and tag become '_'; those of
 * environment variables stay, so that a template may begin with a directory. An unset variable (or
 * an unknown job) is replaced by nothing, with a warning; an unknown rank is an error except in
 * %nid%; so is any other placeholder. libc only, thread-safe against everything but setenv.
 */
#ifndef RETALLY_BASE_PATH_TEMPLATE_H
#define RETALLY_BASE_PATH_TEMPLATE_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define PATH_TEMPLATE_RANK_UNKNOWN (-1)
#define PATH_TEMPLATE_SIZE_MAX     4096 /* of a template and of what comes out, with its NUL */

struct path_values {
	const char *host; /* NULL: "unknown" */
	int64_t pid;
	int64_t rank;    /* PATH_TEMPLATE_RANK_UNKNOWN */
	const char *job; /* NULL or "": unknown */
	const char *tag; /* NULL: "" */
	time_t start;    /* seconds since 1970; the same for all passes of a run */
	/* NULL: getenv, lstat. For tests and fuzzing. */
	const char *(*get_env)(void *context, const char *name);
	bool (*exists)(void *context, const char *path);
	void *context;
};

/* Appends the expanded template to out. RC_INVALID with a sentence that names the placeholder. */
int path_template_expand(const char *template, const struct path_values *values, struct str *out,
			 struct error *err);
/* Whether the template has a placeholder that differs between processes (%p %r %i %nid% or a
 * variable): several ranks may then use it without meeting in one file. */
bool path_template_is_per_process(const char *template);

#endif
