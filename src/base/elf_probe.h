/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a program can load a preloaded library of this build, by looking at its file: `run` and
 * `doctor` name the reason when it cannot. libc only; no allocation; thread-safe. Reads at most the
 * program headers and a few strings; hostile input is answered with "not an ELF file".
 */
#ifndef RETALLY_BASE_ELF_PROBE_H
#define RETALLY_BASE_ELF_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* True when LD_PRELOAD will work for path (a script: for its interpreter). Else false
 * and one phrase in reason_out, for example "it is statically linked". A set-user-id program or one
 * with capabilities counts as unable unless it gives the caller nothing new. */
bool elf_can_preload(const char *path, char *reason_out, size_t size);
/* Whether the file names a function of a library that it need not have: among its dynamic symbols,
 * or as a constant beside dlsym. Only for names that nobody has by chance. Scripts, and programs
 * without dynamic symbols: false. */
bool elf_names_symbol(const char *path, const char *name);

#endif
