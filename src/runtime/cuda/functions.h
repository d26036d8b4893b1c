/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a kernel function: its parameters, its module's variables. Found once and kept.
 */
#ifndef RETALLY_RUNTIME_CUDA_FUNCTIONS_H
#define RETALLY_RUNTIME_CUDA_FUNCTIONS_H

#include "runtime/cuda/session.h"

struct cuda_parameter {
	uint32_t offset, size;
};
struct cuda_module {
	struct CUmod_st *module;
	unsigned n_globals;
	cu_ptr *globals; /* addresses of its variables that kernels can write */
	bool talks;      /* has NVSHMEM's state: its kernels may wait for those of other devices */
};
struct cuda_function {
	struct CUfunc_st *function;
	struct cuda_context *context;
	bool known; /* the parameters' places are known */
	unsigned n;
	struct cuda_parameter *parameters;
	uint32_t bytes; /* of all parameters */
	uint32_t registers, shared_bytes;
	const struct cuda_module *module; /* NULL: unknown */
	bool wanted;                      /* the filter of names takes it */
	bool never;                       /* a collective: must run exactly once */
	const char *why;                  /* of never */
};

/* Looks it up, asking the driver at the first sight. NULL: no memory. The result stays valid until
 * the session ends (functions of unloaded modules are forgotten through cuda_functions_forget). */
const struct cuda_function *cuda_functions_get(struct cuda_context *c, struct CUfunc_st *function,
					       const char *name);
/* A module goes: handles can come back with another meaning. */
void cuda_functions_forget(void);
/* A module was loaded: the names of its variables, read from its ELF image. Hostile input. */
void cuda_modules_learn(const void *cubin, size_t size);

#endif
