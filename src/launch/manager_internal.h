/* SPDX-License-Identifier: Apache-2.0 */
/* What the manager's two halves share: the job (manager.c) and a pass of it (manager_pass.c). */
#ifndef RETALLY_LAUNCH_MANAGER_INTERNAL_H
#define RETALLY_LAUNCH_MANAGER_INTERNAL_H

#include "launch/manager.h"

uint64_t manager_now(void); /* CLOCK_MONOTONIC, ns */
/* The first one says why. status as of an exit. */
void manager_job_ended(struct manager *m, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A round of all ranks. until 0: as long as it takes. RC_END: the owner leaves; RC_ERROR: the job
 * ended meanwhile; RC_NOT_FOUND: not in time. */
int manager_round(struct manager *m, enum star_kind kind, const void *bytes, size_t n,
		  uint64_t until, struct star_news *news_out, struct error *err);
/* A rank (of this node) ended with status 0 and never finalized. */
void manager_vanished(struct manager *m, int rank);
/* Ends the job when others still run after MANAGER_GRACE_NS. */
void manager_check_vanished(struct manager *m);

#endif
