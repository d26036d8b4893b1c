/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether hardware breakpoints count. Some virtual machines accept them and never trigger them: the
 * kernel opens and schedules the event, and it stays 0 (seen on a guest of a nested hypervisor,
 * where gdb's hbreak and watch are silent as well). Such a 0 must not become a count. libc only.
 */
#ifndef RETALLY_SOURCE_PERF_BREAKPOINT_H
#define RETALLY_SOURCE_PERF_BREAKPOINT_H

#include "source/perf/perf_abi.h"

#define PERF_BREAKPOINTS_TRIED_MAX 16

/* Opens `code` breakpoints on a function and `data` ones on variables of our own in the calling
 * thread (at most PERF_BREAKPOINTS_TRIED_MAX together), touches them a known number of times, and
 * compares. n_out (may be NULL): how many opened. RC_NO_SLOT: fewer than asked for; RC_UNSUPPORTED:
 * none, or they counted wrong; RC_PERMISSION. */
int perf_breakpoint_try(uint32_t code, uint32_t data, uint32_t *n_out, struct error *err);

#endif
