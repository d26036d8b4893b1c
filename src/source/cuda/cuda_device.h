/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device half of the CUDA source: one context's counters through CUPTI's range profiler, every
 * dispatch a user range, the passes replayed by the engine.
 *
 * CUPTI decides which hardware counter is read in which of its passes. A pass of the plan therefore
 * names a *group* of counters and a part of it, "group/part/parts" in its config: the counters of a
 * group are configured together, and their values are known after its last part. A plan for replay
 * has one group (the fewest passes) and, when that has several parts, live groups of one part for
 * dispatches that are not replayed; one for --pass or --distribute has groups of one part wherever
 * the counters allow that.
 */
#ifndef RETALLY_SOURCE_CUDA_DEVICE_H
#define RETALLY_SOURCE_CUDA_DEVICE_H

#include "replay/source.h"
#include "source/cuda/cuda_clock.h"
#include "source/cuda/cuda_driver.h"

/* What device_open takes as `native` for runtime "cuda". */
struct cuda_native {
	const struct cuda_driver *driver;
	const struct cuda_target *target;
	struct CUctx_st *context;
	int ordinal;              /* of the device */
	struct cuda_clock *clock; /* read at the end of each pass; NULL: not */
	struct cuda_turns *turns; /* with other processes; NULL: there is no way to take any */
};

extern const struct source cuda_source;

/* Parses a pass's config. False: not one of this source. part from 1. */
bool cuda_pass_config(const char *text, uint32_t *group_out, uint32_t *part_out,
		      uint32_t *parts_out);

/* One sentence for a result of the profiler's functions: privileges, another client, MIG, ... */
int cuda_target_fail(struct error *err, const char *what, int result);

#endif
