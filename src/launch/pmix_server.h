/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that serves PMIx to all processes of one node in one launch (pmix_service.h is how a
 * supervisor starts and uses it). One per node and not per rank, because Open MPI publishes its
 * shared-memory segments with local scope, which no fence carries from server to server: with a
 * server per rank it would silently use TCP.
 *
 * Every pass has a library, a namespace and a session directory of its own, so nothing of an
 * earlier pass is left for the next one. Processes of the program are expected to run as our user.
 * Fences of the whole job are exchanged between nodes by the supervisors; a fence of processes of
 * this node alone is completed here. Spawning, publishing and process groups are not supported and
 * answered so.
 */
#ifndef RETALLY_LAUNCH_PMIX_SERVER_H
#define RETALLY_LAUNCH_PMIX_SERVER_H

/* A step of the library that takes longer ends the server: it is stuck. */
#define PMIX_SERVER_STEP_MS 10000

/* In a fresh fork of a process without threads: serves what comes over the socket until its end of
 * file. Ignores the signals that end a job; closes every other descriptor but stderr. */
void pmix_server_run(int socket) __attribute__((noreturn));

#endif
