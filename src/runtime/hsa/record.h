/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel packets described for the engine and recorded: the packet, and a copy of its arguments,
 * because the program may change them as soon as a later packet tells it that the kernel is done.
 * The copy lies in memory of ours of the same kind.
 */
#ifndef RETALLY_RUNTIME_HSA_RECORD_H
#define RETALLY_RUNTIME_HSA_RECORD_H

#include "runtime/hsa/flights.h"
#include "source/rocm/rocm_tool.h"

#define HSA_REACH_MAX 512u

struct hsa_op {
	struct hsa_kernel_packet
		packet;          /* as the program gave it, with our copy of the arguments */
	struct hsa_flight *live; /* its own run; holds the program's signal back */
	void *arguments;
	size_t argument_room;
	struct rocm_times_at at; /* of the last counted run */
	bool timed;
};

/* What the engine is told of a packet. The kernel's name is the one kept by the SDK's client. reach
 * points into memory of the thread. op_out->recorded: a struct hsa_op, or NULL with op_out->why. */
void hsa_record_describe(struct hsa_tap *tap, const struct hsa_kernel_packet *packet,
			 const struct rocm_kernel *kernel, struct runtime_op *op_out);
/* By the name of its kernel: it must run exactly once. */
bool hsa_record_is_collective(const char *name);
void hsa_record_free(struct hsa_op *op);
/* runtime.launch, .times, .op_release, .op_parked */
int hsa_record_launch(void *device, void *recorded, struct error *err);
int hsa_record_times(void *device, void *recorded, uint64_t *begin_ns_out, uint64_t *end_ns_out,
		     struct error *err);
void hsa_record_release(void *device, void *recorded);
void hsa_record_parked(void *device, void *recorded);
/* At the end: memory for arguments back to the runtime. */
void hsa_record_give_back(void);

#endif
