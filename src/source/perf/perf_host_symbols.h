/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of a program and its libraries: where a function or a variable is, as a place in a file.
 * The program is never executed; its loader is asked for the list of libraries. Command side only.
 */
#ifndef RETALLY_SOURCE_PERF_HOST_SYMBOLS_H
#define RETALLY_SOURCE_PERF_HOST_SYMBOLS_H

#include "base/arena.h"
#include "source/perf/perf_abi.h"

enum perf_symbol_kind {
	PERF_SYMBOL_FUNCTION,
	PERF_SYMBOL_VARIABLE
};

struct perf_place {
	char object[PERF_OBJECT_SIZE];     /* real path of the file */
	char build_id[PERF_BUILD_ID_SIZE]; /* "" when it has none */
	uint64_t load_offset;              /* from where file offset 0 is mapped */
	uint64_t file_offset;              /* UINT64_MAX: not in the file (.bss) */
	uint64_t size;                     /* bytes; 0: unknown */
};

/* Finds symbol in program, or in the library named by object (may be NULL: the program, then its
 * libraries in the loader's order; otherwise a path, a file name or its beginning, "libc"). Without
 * a slash program is looked up in PATH; a script stands for its interpreter. RC_NOT_FOUND has up to
 * three near names and says when the program is stripped; RC_INVALID when several functions have
 * the name; RC_UNSUPPORTED for what has no fixed place (IFUNC, thread-local). */
int perf_symbol_find(const char *program, const char *symbol, const char *object,
		     enum perf_symbol_kind kind, struct perf_place *place_out, struct error *err);

/* Calls found(name, data) for each such symbol defined in the program itself, in order of address.
 */
int perf_symbol_list(const char *program, enum perf_symbol_kind kind,
		     void (*found)(const char *name, void *data), void *data, struct error *err);

/* The ELF file that runs when program is started (PATH, "#!" lines and env(1) followed), as a real
 * path in arena; *script_out is the script's path or NULL. */
int perf_program_resolve(struct arena *arena, const char *program, const char **path_out,
			 const char **script_out, struct error *err);
/* The libraries of an ELF program in the loader's order (real paths in arena, without the program);
 * none for a static one. */
int perf_program_libraries(struct arena *arena, const char *path, const char ***libraries_out,
			   size_t *n_out, struct error *err);

#endif
