/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run directory: where a collection lives.
 *
 *   DIR/run.json    what is collected: command, plan, collection id, machine, options
 *   DIR/plan.json   the pass plan (wire/plan.h)
 *   DIR/spool/      one file per process and launch
 *   DIR/output/, DIR/cwd/   of later passes (launch/output.h, launch/run.h)
 *
 * The first run makes it; another one may add to it when its collection id is the same, so that
 * `--pass K` runs come together, and is refused with what differs otherwise. Several processes (the
 * ranks of a job) may do this at the same moment: each file is written whole under another name and
 * linked into place, whoever comes second reads and compares.
 */
#ifndef RETALLY_LAUNCH_DIRECTORY_H
#define RETALLY_LAUNCH_DIRECTORY_H

#include "base/error.h"
#include "base/hash.h"
#include "wire/identity.h"
#include "wire/plan.h"

#include <stdbool.h>

struct directory_request {
	const char *output;      /* template (base/path_template.h), NULL: PROGRAM.retally */
	char *const *argv;       /* the command */
	const char *program;     /* its file */
	const char *application; /* what the command, a launcher, starts; NULL: it is no launcher */
	const struct plan *plan; /* hash filled */
	const char *filters;     /* canonical text, NULL: none */
	const char *options;     /* of the run, for people: "--no-aslr --keep-going" */
	const char *launch;      /* id of this launch */
	const char *join;        /* id of the collection there, which has another command than argv;
				  * NULL: that of argv */
	const struct identity *identity;
};
struct directory {
	char *path; /* owned */
	int fd;     /* open, close-on-exec */
	bool joined;
	char collection[HASH_TEXT_SIZE];
};

/* Makes or joins it. RC_EXISTS: something else is there; RC_MISMATCH: another collection; RC_IO,
 * RC_PERMISSION, RC_NO_SPACE with the path. */
int directory_open(struct directory *d, const struct directory_request *request, struct error *err);
/* DIR/spool/LAUNCH.HOST.RANK.PID.rts (rank "-" when unknown), owned by the caller; NULL when memory
 * is out. The folder exists. */
char *directory_spool_path(const struct directory *d, const char *launch,
			   const struct identity *identity, int pid);
void directory_release(struct directory *d);

#endif
