/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's driver calls, by name: which are watched, and what each means. A call that is in no
 * list ends the window: what a newer driver adds is taken for something by which the host could see
 * or change the device.
 */
#ifndef RETALLY_RUNTIME_CUDA_CALLS_H
#define RETALLY_RUNTIME_CUDA_CALLS_H

#include "runtime/cuda/session.h"

/* Called at the begin (site CUPTI_ENTER) and the end of a call. c is the context's record. */
typedef void cuda_call(struct cuda_context *c, const struct cupti_callback_data *data);

struct cuda_call_entry {
	const char *name; /* as CUPTI gives it, without _ptsz and _ptds */
	cuda_call *enter, *leave;
};

/* What is to be done for the function `name`. False: nothing, it need not be watched. The entry's
 * name is the caller's. per_thread: it is a _ptsz variant, whose stream 0 is the thread's own. */
bool cuda_calls_find(const char *name, struct cuda_call_entry *entry_out, bool *per_thread_out);

/* The call needs no context: its functions get c NULL where there is none. */
bool cuda_calls_anywhere(const char *name);

/* In launch_calls.c. */
extern const struct cuda_call_entry cuda_launch_calls[];
extern const size_t cuda_n_launch_calls;
/* In memory_calls.c. */
extern const struct cuda_call_entry cuda_memory_calls[];
extern const size_t cuda_n_memory_calls;
/* In shared.c. */
extern const struct cuda_call_entry cuda_shared_calls[];
extern const size_t cuda_n_shared_calls;
/* In pools.c. */
extern const struct cuda_call_entry cuda_pool_calls[];
extern const size_t cuda_n_pool_calls;
/* What is taken from the pool in this context. */
enum memory_kind cuda_pool_kind(const struct cuda_context *c,
				const struct CUmemPoolHandle_st *pool);
/* In arrays.c. */
extern const struct cuda_call_entry cuda_array_calls[];
extern const size_t cuda_n_array_calls;
/* In queued_calls.c. */
extern const struct cuda_call_entry cuda_queued_calls[];
extern const size_t cuda_n_queued_calls;
/* In graphs.c. */
extern const struct cuda_call_entry cuda_graph_calls[];
extern const size_t cuda_n_graph_calls;
/* After a call about graphs that no list knows: it may have changed those that were judged. */
cuda_call cuda_call_graphs_unknown;

/* The program has it; it was given back. Neither ends a window. */
void cuda_memory_add(struct cuda_context *c, uint64_t address, size_t size, enum memory_kind kind);
void cuda_memory_record(const struct program_memory *m);
void cuda_memory_remove(const struct program_memory *m);
/* The engine forgets it, the program has it still. */
void cuda_memory_unknown(const struct program_memory *m);
/* In shared.c: a memory with this mapping_of is gone. */
void cuda_mapping_gone(uint64_t mapping_of);
/* In shared.c: the engine knows it now; it may have been given to others since it was looked up. */
void cuda_memory_shared_since(const struct program_memory *m);
/* In shared.c: why the engine must not put it back, and what it is to be told; NULL: it may. */
const char *cuda_memory_why_not(const struct program_memory *m, uint32_t *flags_out);
/* Before the program takes so much: what we hold and do not use must not be missing to it. */
void cuda_memory_make_room(struct cuda_context *c, size_t bytes, const char *call);

/* runtime.enter, runtime.leave */
bool cuda_enter(void *device);
void cuda_leave(void *device);

/* The window of every device of this context's process ends here, because of `why` (static). */
void cuda_boundary(struct cuda_context *c, const char *why);
/* The same for the call itself. */
cuda_call cuda_call_boundary;
/* Work was put there that is not recorded: it is waited for before anything is replayed. to: an
 * address in what it writes; 0: not known. */
void cuda_queued(struct cuda_context *c, struct CUstream_st *stream, cu_ptr to);
/* A captured call makes a graph node and runs nothing. */
bool cuda_is_captured(struct CUstream_st *stream);
/* The result of the program's call, at CUPTI_EXIT. */
cu_result cuda_result(const struct cupti_callback_data *data);
/* The stream as it must be named outside the variant of the call. */
struct CUstream_st *cuda_stream_name(struct CUstream_st *stream);
extern _Thread_local bool cuda_call_per_thread __attribute__((tls_model("initial-exec")));

#endif
