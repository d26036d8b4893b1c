/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process manager of our own for programs that speak PMI-1 (MPICH and its relatives), one for
 * each rank, joined by the star: a barrier is a round of it, and the keys that were put travel with
 * the round. Every pass gets a fresh key space. For `--mpi server`, where a launcher starts
 * processes but gives them no PMI that they understand.
 *
 * Commands that start or join other jobs are answered with an error. Nothing blocks.
 */
#ifndef RETALLY_LAUNCH_PMI_SERVER_H
#define RETALLY_LAUNCH_PMI_SERVER_H

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "launch/pmi_wire.h"
#include "launch/star.h"

#include <stdbool.h>

struct pmi_server {
	struct star *star; /* the owner's */
	struct pmi_link down;
	struct map keys;    /* to the index in values */
	VEC(char *) values; /* "key\0value", owned */
	struct str pending; /* put since the last barrier: "key value\n" */
	struct str mapping; /* which rank is on which node */
	unsigned index;     /* of the pass, from 0 */
	bool in_barrier;
	bool began, ended, aborted;
	int abort_status;
};

int pmi_server_init(struct pmi_server *s, struct star *star, struct error *err);
void pmi_server_begin(struct pmi_server *s, int down, unsigned index);
/* RC_INVALID: the program does not speak PMI-1; its connection is closed then. */
int pmi_server_pump(struct pmi_server *s, struct error *err);
/* A round of STAR_PMI is complete. */
int pmi_server_round(struct pmi_server *s, const struct star_news *news, struct error *err);
/* The program is gone. False: in a way that must end the job. */
bool pmi_server_end(struct pmi_server *s, bool exited_well);
void pmi_server_release(struct pmi_server *s);

/* PMI_process_mapping of hosts in rank order: "(vector,(node,nodes,ranks per node),...)". */
void pmi_server_mapping(const char *(*host)(const void *context, int rank), const void *context,
			int size, struct str *out);

#endif
