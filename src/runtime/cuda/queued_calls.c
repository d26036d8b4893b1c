/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that put work into a queue which is not recorded: copies with boxes or by the kind of their
 * addresses, fills of rows, writes of words. The window ends before them. What they do goes on
 * after the call, beside later windows, so that their streams are waited for before those are
 * replayed: what is saved and put back may share a memory with it.
 */
#include "runtime/cuda/calls.h"
#include "runtime/cuda/crossing.h"
#include "runtime/cuda/drain.h"

#include <string.h>

void cuda_queued(struct cuda_context *c, struct CUstream_st *stream, cu_ptr to)
{
	struct program_memory m;

	if (cuda_is_captured(stream))
		return;
	cuda_drain_note_passed(c, stream);
	if (cuda_session.n_contexts < 2)
		return;
	if (!to)
		cuda_crossing_note(c, NULL, stream);
	else if (memories_find(&cuda_session.memories, to, &m) && m.owner != c->number)
		cuda_crossing_note(c, &cuda_session.contexts[m.owner], stream);
}

/* The stream among the arguments, at so many bytes. */
static void queued(struct cuda_context *c, const struct cupti_callback_data *data, size_t at,
		   cu_ptr to)
{
	struct CUstream_st *stream;

	memcpy(&stream, (const char *)data->params + at, sizeof(stream));
	cuda_queued(c, cuda_stream_name(stream), to);
}

/* Where it writes is not looked for. */
#define AT(n)                                                                              \
	static void at_##n(struct cuda_context *c, const struct cupti_callback_data *data) \
	{                                                                                  \
		queued(c, data, n, 0);                                                     \
	}
AT(0)
AT(8)
AT(24)
AT(32)
AT(56)
AT(64)
#undef AT

/* To the address that is the first argument. */
#define TO(n)                                                                              \
	static void to_##n(struct cuda_context *c, const struct cupti_callback_data *data) \
	{                                                                                  \
		queued(c, data, n, *(const cu_ptr *)data->params);                         \
	}
TO(24)
TO(40)
#undef TO

const struct cuda_call_entry cuda_queued_calls[] = {
	{"cuMemcpyAsync", cuda_call_boundary, to_24},
	{"cuMemcpyPeerAsync", cuda_call_boundary, to_40},
	{"cuMemcpyHtoAAsync_v2", cuda_call_boundary, at_32},
	{"cuMemcpyAtoHAsync_v2", cuda_call_boundary, at_32},
	{"cuMemcpy2DAsync_v2", cuda_call_boundary, at_8},
	{"cuMemcpy3DAsync_v2", cuda_call_boundary, at_8},
	{"cuMemcpy3DPeerAsync", cuda_call_boundary, at_8},
	{"cuMemcpyBatchAsync", cuda_call_boundary, at_64},
	{"cuMemcpyBatchAsync_v2", cuda_call_boundary, at_56},
	{"cuMemcpy3DBatchAsync", cuda_call_boundary, at_32},
	{"cuMemcpy3DBatchAsync_v2", cuda_call_boundary, at_24},
	{"cuMemsetD2D8Async", cuda_call_boundary, to_40},
	{"cuMemsetD2D16Async", cuda_call_boundary, to_40},
	{"cuMemsetD2D32Async", cuda_call_boundary, to_40},
	{"cuStreamWriteValue32", cuda_call_boundary, at_0},
	{"cuStreamWriteValue32_v2", cuda_call_boundary, at_0},
	{"cuStreamWriteValue64", cuda_call_boundary, at_0},
	{"cuStreamWriteValue64_v2", cuda_call_boundary, at_0},
	{"cuStreamBatchMemOp", cuda_call_boundary, at_0},
	{"cuStreamBatchMemOp_v2", cuda_call_boundary, at_0},
};
const size_t cuda_n_queued_calls = sizeof(cuda_queued_calls) / sizeof(*cuda_queued_calls);
