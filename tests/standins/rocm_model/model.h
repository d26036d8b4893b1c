/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU for AMD's own runtime on a machine without one: a plug-in for the "model mode" of libhsakmt
 * (ROCm 7), which hands queues over instead of giving them to a driver. Packets are executed on
 * host threads; kernels are the C functions of tests/standins/rocm/hsa_kernels.c.
 *
 *   model.c          the interface, queues of AQL packets
 *   model_pm4.c      command buffers in packets: counters are programmed and read by them
 *   model_sdma.c     queues of copies
 *   model_kernels.c  which function a kernel is, memory as kernels see it
 */
#ifndef RETALLY_TESTS_ROCM_MODEL_H
#define RETALLY_TESTS_ROCM_MODEL_H

#include "hsa_standin.h"

#include <stdatomic.h>
#include <stdint.h>

#define MODEL_REGISTERS 0x10000u

/* What the interface calls a model and a queue. */
struct hsakmt_model {
	char *aperture; /* address 0 of the device */
	uint64_t size;
	void (*set_event)(void *data, unsigned event);
	void *set_event_data;
	uint32_t registers[MODEL_REGISTERS];
	/* since the counters were started */
	_Atomic uint64_t waves, bytes;
};
struct hsakmt_queue {
	struct hsakmt_model *model;
	uint64_t ring, write, read; /* addresses of the device */
	uint32_t bytes;
	pthread_t thread;
	volatile bool stop;
};
extern struct hsakmt_model model;

/* Where the host has that address of the device; what lies outside is the host's own. */
void *model_at(uint64_t address);
void model_set_event(uint32_t event);
uint64_t model_now(void);
_Noreturn void model_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *model_sdma(void *queue);
/* Executes n words of commands. */
void model_pm4(const uint32_t *words, uint32_t n);
void model_dispatch(const struct hsa_kernel_packet *packet, volatile bool *stop);

/* ---- for programs ---- */
/* The kernel object is the kernel of that name; a variable of a code object is there. */
__attribute__((visibility("default"))) void t1_model_kernel(uint64_t object, const char *name);
__attribute__((visibility("default"))) void t1_model_variable(const char *name, uint64_t address);

#endif
