/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of perf_event for a device whose work is done by threads of this process (an OpenCL CPU
 * device), as a source of the replay engine: one set of counters on every such thread, summed.
 *
 * The threads exist before anybody counts, so inheritance does not see them: every counter of a
 * pass is opened on each thread (struct runtime_threads says which; the calling thread when the
 * device has none of its own). What is open stays open from window to window, by pass, as far as
 * descriptors last; the threads are listed again in every pass. Counting covers what the threads do
 * between unit_begin and unit_end, hence SOURCE_NEEDS_DRAIN.
 *
 * Hardware events of a pass form one pinned group per PMU and thread; anything else is opened by
 * itself. libc only.
 */
#ifndef RETALLY_SOURCE_PERF_THREADS_DEVICE_H
#define RETALLY_SOURCE_PERF_THREADS_DEVICE_H

#include "replay/source.h"

extern const struct source source_perf_threads;

#endif
