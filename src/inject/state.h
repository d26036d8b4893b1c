/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who this process is. RETALLY_STATE is the mark that the process which owns the passes carries
 * through its environment: pid and start time tell its images (it execs, and stays the owner) from
 * its children (they inherit the text and follow). Its length, together with that of RETALLY_PASS,
 * is the same in every pass, so that the program's stack begins at the same address.
 */
#ifndef RETALLY_INJECT_STATE_H
#define RETALLY_INJECT_STATE_H

#include "base/error.h"
#include "wire/spool.h"

#include <stdbool.h>
#include <stdint.h>

enum state_phase {
	STATE_BEGIN = 'b', /* this image is the first one of its pass */
	STATE_RUN = 'r',   /* the pass is under way: a later image of the same process */
};

struct state {
	uint32_t pass;   /* from 1 */
	uint32_t passes; /* in the plan */
	bool replay;     /* false: one execution of the program */
	bool range; /* in which regions are replayed; else pass `pass`, chosen by RETALLY_PASS */
	char phase; /* enum state_phase */
	int pid;
	uint64_t start;             /* of the process, in clock ticks since boot */
	char launch[SPOOL_ID_SIZE]; /* without blanks */
	int exit_code;              /* of the first pass that failed; 0: none so far */
	int stderr_fd;              /* the user's stderr while fd 2 is a file; -1: fd 2 */
};

#define STATE_VARIABLE  "RETALLY_STATE"
#define STATE_TEXT_SIZE 128 /* "RETALLY_STATE=..." with its NUL */

/* The value of NAME in an environment, or NULL. Works before libc has set environ. */
const char *state_variable(char *const *envp, const char *name);
/* "RETALLY_STATE=..." and "RETALLY_PASS=..."; both lengths together do not depend on the state. */
void state_format(const struct state *s, char text_out[STATE_TEXT_SIZE], char pass_out[32]);
/* Reads the value of RETALLY_STATE and the pass beside it. RC_INVALID when it is not one of ours.
 */
int state_parse(struct state *s, const char *value, const char *pass, const char *passes,
		struct error *err);
/* Changes the phase inside the text of the variable, where exec and children find it. */
void state_set_phase(char *value, char phase);
/* Start time of this process: field 22 of /proc/self/stat. Does not change on exec. No allocation.
 */
int state_start_time(uint64_t *start_out, struct error *err);
/* A whole number from 1 to max, nothing else. */
bool state_parse_number(const char *text, uint32_t max, uint32_t *value_out);

#endif
