/* SPDX-License-Identifier: Apache-2.0 */
/* Recording launches and device-side operations, and doing them again. */
#ifndef RETALLY_RUNTIME_CUDA_LAUNCH_H
#define RETALLY_RUNTIME_CUDA_LAUNCH_H

#include "runtime/cuda/session.h"

#define CUDA_REACH_MAX 4096 /* of one operation; more: it is not recorded */

enum cuda_op_kind {
	CUDA_OP_KERNEL,
	CUDA_OP_GRAPH,
	CUDA_OP_COPY,
	CUDA_OP_HTOD, /* from a copy of the source, in `bytes` */
	CUDA_OP_SET8,
	CUDA_OP_SET16,
	CUDA_OP_SET32,
};
/* One recorded operation. Owned by the engine or, before and without it, by the callback. */
struct cuda_op {
	enum cuda_op_kind kind;
	struct cuda_op *next; /* in the pool */
	size_t room;          /* of bytes */
	struct CUstream_st *stream;
	bool cooperative;
	union {
		struct {
			struct CUfunc_st *function;
			struct cu_launch_config config; /* attributes behind the parameters */
			unsigned n_arguments;           /* UINT_MAX: `bytes` is one buffer */
			size_t n_bytes;
		} kernel;
		struct CUgraphExec_st *graph;
		struct {
			cu_ptr to, from;
			size_t n;
			unsigned value;
		} transfer;
	} u;
	/* For kernels: n_arguments pointers into what follows, the parameters, the attributes. */
	_Alignas(16) unsigned char bytes[];
};

/* Of the pool or new; NULL: no memory. */
struct cuda_op *cuda_op_new(size_t bytes);
void cuda_op_free(struct cuda_op *op);

/* The buffer of packed parameters that `extra` of a launch or of a graph's node names, and its
 * bytes. False: it names none, or has keys that are not known. */
bool cuda_extra_buffer(void *const *extra, const void **buffer_out, size_t *size_out);
/* What a launch is: filled for replay_before. reach lives in a buffer of the thread until the next
 * call; op.recorded is NULL when it cannot be done again (why says so). */
void cuda_launch_describe(struct cuda_context *c, const struct cu_launch_config *config,
			  struct CUfunc_st *function, void **arguments, void **extra,
			  bool cooperative, const char *name, struct runtime_op *op_out);
void cuda_graph_describe(struct cuda_context *c, struct CUgraphExec_st *graph,
			 struct CUstream_st *stream, struct runtime_op *op_out);
/* A copy or fill; from 0 for fills and for copies from the host. False: it reaches memory that is
 * not known. */
bool cuda_transfer_describe(struct cuda_context *c, struct cuda_op *recorded, cu_ptr to,
			    cu_ptr from, size_t n, struct runtime_op *op_out);

/* runtime.launch */
int cuda_launch_again(void *device, void *recorded, struct error *err);
void cuda_launch_release(void *device, void *recorded);

#endif
