/* SPDX-License-Identifier: Apache-2.0 */
/* The tests' own fallocate (see meson.build): counts its calls, and can play a file system without
 * it. */
#ifndef RETALLY_TESTS_SYSCALL_WRAP_H
#define RETALLY_TESTS_SYSCALL_WRAP_H

#include <stdbool.h>

extern unsigned pwrite_calls;
extern bool fallocate_is_unsupported;

#endif
