/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpmix, opened at run time; nothing of it is linked or bundled. It starts threads and keeps
 * state, so it is opened in the process of its own that serves PMIx (pmix_server.h) and nowhere
 * else, and never closed.
 */
#ifndef RETALLY_LAUNCH_PMIX_API_H
#define RETALLY_LAUNCH_PMIX_API_H

#include "base/error.h"
#include "launch/pmix_abi.h"

struct pmix_api {
	void *library;
	char path[512];        /* of the file that was opened */
	unsigned major, minor; /* of OpenPMIx */
#define X(symbol, result, parameters) result(*symbol) parameters;
	PMIX_ABI_SYMBOLS(X)
#undef X
};

/* Opens the first one found: RETALLY_PMIX (a file; no other is tried then); one that is loaded
 * already; beside the libraries the program names in its RUNPATH or RPATH, because server and
 * client of one build fit best; by the loader's own search; OPAL_PREFIX/lib; ../lib of the mpirun
 * in PATH. program may be NULL. RC_NOT_FOUND when there is none, RC_UNSUPPORTED when it is older
 * than 4.2 or lacks a function. */
int pmix_api_open(struct pmix_api *api, const char *program, struct error *err);

/* The folders of a program's RUNPATH and RPATH, $ORIGIN put in, joined by ':', into text; "" when
 * it has none or is no 64-bit ELF file of this machine's byte order. */
void pmix_api_run_path(const char *program, char *text, size_t size);

#endif
