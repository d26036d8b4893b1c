/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of modules. A driver can be asked for a variable by name only, and CUPTI shows a
 * module's image without its handle: the names are learnt from all images, and each module is asked
 * for each of them, once. That is one short call of the driver a name and module that is launched.
 */
#ifndef RETALLY_RUNTIME_CUDA_MODULES_H
#define RETALLY_RUNTIME_CUDA_MODULES_H

#include "runtime/cuda/session.h"

struct cuda_variable {
	struct cuda_variable *next;
	cu_ptr address;
};
struct cuda_module;

/* Looks it up, with its context current, and asks for the names that it was not asked for yet.
 * NULL: no memory. The result stays valid until the session ends. */
struct cuda_module *cuda_modules_get(struct cuda_context *c, struct CUmod_st *module);
/* Asks for the names that were learnt since; nothing is done when there are none. */
void cuda_module_refresh(struct cuda_module *m);
/* Those that kernels can write. The list only ever grows, in front. */
const struct cuda_variable *cuda_module_variables(const struct cuda_module *m);
/* It has NVSHMEM's state: its kernels may wait for those of other devices. */
bool cuda_module_talks(const struct cuda_module *m);
/* Why not all of its variables are known, in one clause that lives as long as the module; NULL:
 * they are. m may be NULL: a module that is not known at all. */
const char *cuda_module_why_not(const struct cuda_module *m);
/* Whether variables were found since this was asked last, after all of them had seemed to be known:
 * what was launched before can have written them. */
bool cuda_module_was_late(struct cuda_module *m);
/* A module goes: handles can come back with another meaning. */
void cuda_modules_forget(void);
/* A module was loaded: the names of its variables, read from its ELF image. Hostile input; after an
 * image that cannot be read no module's variables are known. */
void cuda_modules_learn(const void *cubin, size_t size);

#endif
