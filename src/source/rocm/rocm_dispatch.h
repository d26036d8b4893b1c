/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the callbacks of rocprofiler-sdk and the passes of the source: which counters a dispatch
 * gets, and where its records go. A thread says what it is about to submit (rocm_dispatch_into);
 * the library asks on that thread, and gives the records on any other, in any order with the end of
 * the kernel and also long after. What comes after its pass was given up is dropped.
 */
#ifndef RETALLY_SOURCE_ROCM_DISPATCH_H
#define RETALLY_SOURCE_ROCM_DISPATCH_H

#include "source/rocm/rocm_abi.h"

#include <stdbool.h>

struct rocm_value {
	uint64_t record_id;
	double value;
};
/* What was counted between a unit_begin and its unit_end. */
struct rocm_unit {
	struct rocm_value *values;
	uint32_t n, room;
	uint32_t asked, got; /* dispatches: that the library asked for, that have their records */
	bool failed;         /* no memory */
	uint64_t begin_ns, end_ns; /* of the device; of the first and the last dispatch */
};
struct rocm_pass_units;

/* One for each device; NULL: no more are possible. */
struct rocm_pass_units *rocm_dispatch_new(void);
void rocm_dispatch_free(struct rocm_pass_units *u);
/* A pass with n units begins, with this configuration. False: no memory. */
bool rocm_dispatch_pass(struct rocm_pass_units *u, uint64_t config, uint32_t n);
/* From now on this thread's dispatches are of that unit; NULL: of none. */
void rocm_dispatch_into(struct rocm_pass_units *u, uint32_t unit);
/* Waits until every dispatch has its records; false: some do not after bound_ns. */
bool rocm_dispatch_wait(struct rocm_pass_units *u, uint64_t bound_ns);
/* What comes now is dropped. The units stay until the next pass. */
void rocm_dispatch_forget(struct rocm_pass_units *u);
const struct rocm_unit *rocm_dispatch_unit(const struct rocm_pass_units *u, uint32_t unit);
/* The unit that this thread's last dispatch went into: for its times. False: none was asked for. */
bool rocm_dispatch_last(struct rocm_pass_units **u_out, uint32_t *unit_out);

/* For the library. */
void rocm_dispatch_begins(struct rocp_dispatch_data data, uint64_t *config_out,
			  union rocp_user_data *user_data_out, void *arg);
void rocm_dispatch_counted(struct rocp_dispatch_data data, struct rocp_counter_record *records,
			   size_t n, union rocp_user_data user_data, void *arg);

#endif
