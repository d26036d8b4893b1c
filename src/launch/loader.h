/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where to stop a process that was just executed so that all its libraries are mapped and none of
 * their constructors has run: the dynamic loader's hook for debuggers (_dl_debug_state, exported by
 * glibc and musl), called with r_state RT_CONSISTENT; the entry point of a static program.
 */
#ifndef RETALLY_LAUNCH_LOADER_H
#define RETALLY_LAUNCH_LOADER_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct loader_stop {
	uint64_t address;
	uint64_t state; /* address of r_debug.r_state; 0: there is none, the first hit counts */
	bool late;      /* only the program's entry was found: constructors of libraries have run by
			 * then */
};

/* RC_UNSUPPORTED (a program of another architecture), RC_IO. The process must be stopped. */
int loader_find_stop(pid_t pid, struct loader_stop *stop_out, struct error *err);

#endif
