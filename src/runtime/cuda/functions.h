/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a kernel function: its parameters, its module. Found once and kept. */
#ifndef RETALLY_RUNTIME_CUDA_FUNCTIONS_H
#define RETALLY_RUNTIME_CUDA_FUNCTIONS_H

#include "runtime/cuda/modules.h"

struct cuda_parameter {
	uint32_t offset, size;
};
struct cuda_function {
	struct CUfunc_st *function;
	struct cuda_context *context;
	bool known; /* the parameters' places are known */
	unsigned n;
	struct cuda_parameter *parameters;
	uint32_t bytes; /* of all parameters */
	uint32_t registers, shared_bytes;
	char why_unknown[96];       /* of known */
	struct cuda_module *module; /* NULL: unknown */
	bool wanted;                /* the filter of names takes it */
	bool never;                 /* a collective: must run exactly once */
	const char *why;            /* of never */
};

/* Looks it up, asking the driver at the first sight. NULL: no memory. The result stays valid until
 * the session ends (functions of unloaded modules are forgotten through cuda_functions_forget). */
const struct cuda_function *cuda_functions_get(struct cuda_context *c, struct CUfunc_st *function,
					       const char *name);
/* It may wait for kernels of other devices or processes. */
bool cuda_function_talks(const struct cuda_function *f);
/* Why it must run exactly once, in one clause that lives as long as the function: a collective, or
 * what its module's variables are is not known. NULL: nothing is known against it. */
const char *cuda_function_why_not(const struct cuda_function *f);
/* A module goes: handles can come back with another meaning. */
void cuda_functions_forget(void);

#endif
