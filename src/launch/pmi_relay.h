/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the program's MPI and the PMI of its launcher (hydra, Slurm's pmi2): the launcher sees
 * one process with one session, the program a fresh one in every pass.
 *
 * MPI ends its session in MPI_Finalize, and the launcher accepts no second one. So `finalize` is
 * answered here until the last pass, a later `init` is answered from memory, and keys get a prefix
 * that differs from pass to pass, because a key may be put once only. If the program never
 * finalizes although it ended well, the relay does it. Everything else passes through unchanged,
 * `abort` included, so that the launcher ends the job as it always does.
 *
 * PMI_FD is taken over; with PMI_PORT the relay makes the one connection and the program gets a
 * PMI_FD. Nothing blocks but pmi_relay_open and pmi_relay_finish, which are bounded.
 */
#ifndef RETALLY_LAUNCH_PMI_RELAY_H
#define RETALLY_LAUNCH_PMI_RELAY_H

#include "base/error.h"
#include "launch/pmi_wire.h"

#include <stdbool.h>

#define PMI_RELAY_WAIT_MS 5000 /* for an answer of the launcher while nothing else happens */

struct pmi_relay {
	struct pmi_link up;   /* to the launcher */
	struct pmi_link down; /* to the program of this pass */
	char *init_reply, *fullinit_reply;
	bool v2;       /* agreed on in the first init */
	bool inside;   /* between mcmd= and endcmd of the program */
	bool up_began; /* the launcher answered an init */
	bool up_ended; /* it was told finalize */
	/* The program of this pass: */
	bool began, ended, aborted;
	bool spawned; /* it started further processes: no other pass may follow */
	bool first, last;
	char prefix[16];
	/* Of PMI_PORT: what the launcher said, for the program's environment; "" otherwise. */
	char size[16], rank[16];
};

/* From PMI_FD or, when NULL, PMI_PORT with PMI_ID. RC_INVALID when they make no sense. */
int pmi_relay_open(struct pmi_relay *r, const char *fd, const char *port, const char *id,
		   struct error *err);
/* A program follows; it gets the other end of `down`. index counts the passes from 0. */
void pmi_relay_begin(struct pmi_relay *r, int down, unsigned index, bool last);
/* Moves what there is to move. RC_INVALID: a side does not speak PMI; the program's connection is
 * closed then, as a launcher would. */
int pmi_relay_pump(struct pmi_relay *r, struct error *err);
/* The program of the pass is gone. False: it left in a way that its launcher must see (it began and
 * neither ended nor exited with 0): stop without finish. */
bool pmi_relay_end(struct pmi_relay *r, bool exited_well);
/* After the last pass, unless pmi_relay_end said no: ends the session if the program did not. */
void pmi_relay_finish(struct pmi_relay *r);
/* Closes without a word. */
void pmi_relay_release(struct pmi_relay *r);

#endif
