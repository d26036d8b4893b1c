/* SPDX-License-Identifier: Apache-2.0 */
/* What the traps of cuda_traps.c and the other cuda_traps_*.c share: three memories
 * of N words, two streams and the module with all kernels, and how a trap shows what became of its
 * memory. */
#ifndef RETALLY_CUDA_TRAPS_H
#define RETALLY_CUDA_TRAPS_H

#include "functions.h"

#define N     5000u
#define BYTES (N * 4ul)

extern struct CUmod_st *module;
extern struct CUstream_st *q, *q2;
extern cu_ptr a, b, c;
extern unsigned n; /* N, as an argument */

/* Ends the program when a call fails. */
void check(cu_result result, const char *what);
#define works(call) check(call, #call)

struct CUfunc_st *function(const char *name);
void launch_list(struct CUstream_st *stream, const char *name, void **arguments);
/* The arguments are lvalues of the kernel's own types. */
#define launch(stream, name, ...) launch_list(stream, name, (void *[]){__VA_ARGS__})

uint64_t hash_bytes(const unsigned char *bytes, size_t size);
uint64_t hash(cu_ptr address, size_t size);
void show(const char *name, uint64_t value);

/* cuda_traps_graph_parts.c */
void graph_whole(void);
void graph_packed(void);
void graph_changed(void);
void graph_changed_too(void);
void graph_doubted(void);
void graph_contexts(void);
void graph_large(void);
void graph_many(void);
void graph_bare(void);
void graph_late(void);
/* cuda_traps_graphs.c */
void graph(void);
void graph_only(void);
void capture(void);
void graph_kinds(void);
void collectives(void);
/* cuda_traps_pageable.c */
void pageable(void);
void numbers(void);
/* cuda_traps_shared.c */
void given(void);
void given_late(void);
void given_chain(void);
void given_copy(void);
void taken(void);
void segments(void);
void segments_left(void);
void pool_kinds(void);
void taken_frame(void);
void segments_given(void);
void segments_taken(void);
void segments_twice(void);
void multicast(void);
/* cuda_traps_arrays.c */
void surfaces(void);
void parts(void);
void handles(void);
void reference(void);
void textures(void);
void unsavable(void);
/* cuda_traps_devices.c */
void devices(void);
void borrowed(void);
void peers(void);
void crossing(void);
/* cuda_traps_modules.c */
void alone(void);
void between(void);
void late(void);

#endif
