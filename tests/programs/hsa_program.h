/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the HSA test programs share: the runtime's functions under their real names, and a few lines
 * around them, as HIP's runtime would make them. Whatever fails ends the program with a message and
 * status 3.
 */
#ifndef RETALLY_TESTS_HSA_PROGRAM_H
#define RETALLY_TESTS_HSA_PROGRAM_H

#include "runtime/hsa/hsa_tables.h"

#define HSA_PROTOTYPE_F(result, name, args) result name args;
#define HSA_PROTOTYPE_U(name)
HSA_CORE_FUNCTIONS(HSA_PROTOTYPE_F, HSA_PROTOTYPE_U)
HSA_AMD_FUNCTIONS(HSA_PROTOTYPE_F, HSA_PROTOTYPE_U)
#undef HSA_PROTOTYPE_F
#undef HSA_PROTOTYPE_U

#define HSA_MUST(call) hsa_must((call), #call)
void hsa_must(uint32_t status, const char *what);

struct hsa_gpu {
	uint64_t agent, coarse, fine; /* pools */
	char name[64];
};
extern struct hsa_gpu gpus[8];
extern unsigned n_gpus;
extern uint64_t cpu, cpu_fine, cpu_kernarg;

/* hsa_init, agents, pools, and the code object of all kernels of the model device on GPU 0. */
void hsa_start(void);
uint64_t hsa_load(unsigned gpu, const char *code); /* executable */
uint64_t hsa_kernel(uint64_t executable, unsigned gpu, const char *name);
extern uint64_t hsa_code; /* the executable of hsa_start */

struct hsa_queue *hsa_new_queue(unsigned gpu, uint32_t size);
void *hsa_device(unsigned gpu, size_t bytes); /* memory of the GPU */
void hsa_put(void *to, const void *from, size_t bytes);
void hsa_get(void *to, const void *from, size_t bytes);
/* A copy of the arguments in kernarg memory; freed by hsa_free_arguments. */
void *hsa_arguments(const void *arguments, size_t bytes);

enum hsa_launch_flag {
	HSA_NO_BARRIER = 1,  /* may overlap with what is before it in the queue */
	HSA_NO_DOORBELL = 2, /* written, not rung: the next launch rings for both */
};
/* One dimension, groups of 64. completion: a signal or 0. */
void hsa_launch(struct hsa_queue *q, uint64_t kernel, uint32_t items, void *arguments,
		uint64_t completion, unsigned flags);
/* A barrier packet behind it all, waited for. */
void hsa_finish(struct hsa_queue *q);
void hsa_barrier(struct hsa_queue *q, uint64_t dependency, uint64_t completion);
uint64_t hsa_new_signal(int64_t value);
void hsa_await(uint64_t signal); /* until it is below 1 */
/* FNV-1a of device memory, to compare outputs by. */
uint64_t hsa_sum(const void *device, size_t bytes);

#endif
