/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernels for people. Compilers give C++ kernels mangled names (Itanium ABI, "_Z..."); the
 * C++ run-time library, opened when it is there, knows what they mean. Every other name, and all of
 * them where no such library is installed, stays as it is.
 */
#ifndef RETALLY_REPORT_KERNEL_NAME_H
#define RETALLY_REPORT_KERNEL_NAME_H

#include "base/arena.h"

enum kernel_name_style {
	KERNEL_NAME_FULL,   /* "void ns::scale<float>(float*, int)" */
	KERNEL_NAME_SHORT,  /* "scale": without result, folders, template arguments, parameters */
	KERNEL_NAME_MANGLED /* as the vendor gives it */
};

/* In the arena, or name itself. NULL when memory is out. Not thread-safe. */
const char *kernel_name_show(struct arena *arena, const char *name, enum kernel_name_style style);
/* The short form of a demangled name; for tests. */
const char *kernel_name_shorten(struct arena *arena, const char *full);

#endif
