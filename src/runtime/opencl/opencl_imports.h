/* SPDX-License-Identifier: Apache-2.0 */
/* Import slots of loaded objects: where an object keeps the address of a function of another. */
#ifndef RETALLY_RUNTIME_OPENCL_IMPORTS_H
#define RETALLY_RUNTIME_OPENCL_IMPORTS_H

#include <stdint.h>

struct dl_phdr_info;

/* What to put in place of the function of that name, or NULL to leave it. *original_out: what a
 * slot that is bound already must hold to be replaced. */
typedef void *imports_choose(const char *name, void **original_out);

/* Replaces functions in the slots of one object, whose relocation must be over: not while another
 * thread may be opening it. Returns how many were replaced; 0 on machines other than x86-64 and
 * arm64. */
uint32_t imports_replace(const struct dl_phdr_info *object, imports_choose *choose);

#endif
