/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device half of the rocm source: one counter configuration for each pass, made when the device
 * is opened; the dispatch counting service; a sample for each record. It counts dispatches that the
 * runtime called "hsa" submits; `native` is a struct rocm_native.
 *
 * A counter X gives one sample for each of its instances (numbered as in rocm_counters.h;
 * SPOOL_INSTANCE_ALL when there is one only); X[i] gives one, of instance i of the chip. A counter
 * that this SDK does not know is SAMPLE_NOT_COLLECTED, and the user is told. libc only.
 */
#ifndef RETALLY_SOURCE_ROCM_DEVICE_H
#define RETALLY_SOURCE_ROCM_DEVICE_H

#include "replay/source.h"

#include <stdbool.h>

struct rocm_native {
	uint32_t node; /* HSA_AGENT_DRIVER_NODE */
};

extern const struct source source_rocm;

/* Times of the last counted execution of what this thread submitted last: keep the place after the
 * launch, ask when its pass is over. */
struct rocm_times_at {
	void *units;
	uint32_t unit;
};
bool rocm_device_last(struct rocm_times_at *at_out);
bool rocm_device_times(const struct rocm_times_at *at, uint64_t *begin_ns_out,
		       uint64_t *end_ns_out);

#endif
