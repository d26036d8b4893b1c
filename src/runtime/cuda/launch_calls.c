/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that give the device work, and calls that wait for it. */
#include "runtime/cuda/calls.h"
#include "runtime/cuda/crossing.h"
#include "runtime/cuda/drain.h"
#include "runtime/cuda/functions.h"
#include "runtime/cuda/launch.h"

#include <string.h>

/* The operation between enter and leave of this thread's call. */
static _Thread_local struct {
	bool open;
	bool passed; /* left out by the filter, with nothing going on */
	struct cuda_context *context;
	struct runtime_op op;
} pending __attribute__((tls_model("initial-exec")));

bool cuda_is_captured(struct CUstream_st *stream)
{
	int status = 0;

	return cuda_session.captures > 0 &&
	       !cuda_session.driver.stream_capturing(stream, &status) && status;
}

static void operation_begin(struct cuda_context *c, const struct runtime_op *op)
{
	enum replay_verdict verdict;

	pending.open = true;
	pending.context = c;
	pending.op = *op;
	verdict = replay_before(c->device, op);
	cuda_drain_note(c, op->queue_native);
	if (verdict != REPLAY_RECORDED) {
		cuda_op_free(op->recorded);
		pending.op.recorded = NULL;
	}
}

static void operation_end(struct cuda_context *c, const struct cupti_callback_data *data)
{
	(void)c;
	if (pending.passed) {
		pending.passed = false;
		replay_passed(pending.context->device);
	}
	if (!pending.open)
		return;
	pending.open = false;
	replay_after(pending.context->device, &pending.op, cuda_result(data) == CU_OK);
}

/* While a stream is captured most calls of ours are not allowed, and would spoil the capture: what
 * goes to other streams is left alone. Begun and ended like an operation. */
static bool leave_alone(struct cuda_context *c, struct CUstream_st *stream, const char *name)
{
	struct runtime_op op = {.kind = RUNTIME_DISPATCH,
				.flags = RUNTIME_OP_NEVER_REPLAY | RUNTIME_OP_NO_WAIT_BEFORE |
					 RUNTIME_OP_LEAVE_ALONE,
				.why = "a stream is being captured",
				.queue = (uint64_t)(uintptr_t)stream,
				.queue_native = stream,
				.kernel = name ? name : "?"};

	if (cuda_session.captures <= 0)
		return false;
	if (c->device)
		operation_begin(c, &op);
	else
		cuda_drain_note_passed(c, stream);
	return true;
}

static void launch(struct cuda_context *c, const struct cu_launch_config *config,
		   struct CUfunc_st *function, void **arguments, void **extra, bool cooperative,
		   const char *name)
{
	struct cu_launch_config k = *config;
	const struct cuda_function *f;
	struct runtime_op op;
	bool wanted;

	k.stream = cuda_stream_name(config->stream);
	if (cuda_is_captured(k.stream) || leave_alone(c, k.stream, name))
		return;
	f = cuda_functions_get(c, function, name);
	wanted = !f || (f->wanted && !replay_outside(cuda_session.replay));
	/* Taking the counters costs half a second: not for a program without a wanted kernel. */
	if (!wanted && !c->opening) {
		cuda_drain_note_passed(c, k.stream);
		return;
	}
	cuda_session_open_device(c);
	if (!c->device)
		return;
	if (!wanted && replay_pass_over(c->device)) {
		cuda_drain_note_passed(c, k.stream);
		pending.passed = true;
		pending.context = c;
		return;
	}
	cuda_launch_describe(c, &k, function, arguments, extra, cooperative, name, &op);
	operation_begin(c, &op);
}

static void launch_kernel(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_launch_params *p = data->params;
	struct cu_launch_config k = {.shared_bytes = p->shared_bytes, .stream = p->stream};

	memcpy(k.grid, p->grid, sizeof(k.grid));
	memcpy(k.block, p->block, sizeof(k.block));
	launch(c, &k, p->function, p->arguments, p->extra, false, data->symbol);
}

static void launch_cooperative(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_launch_params *p = data->params;
	struct cu_launch_config k = {.shared_bytes = p->shared_bytes, .stream = p->stream};

	memcpy(k.grid, p->grid, sizeof(k.grid));
	memcpy(k.block, p->block, sizeof(k.block));
	launch(c, &k, p->function, p->arguments, NULL, true, data->symbol);
}

static void launch_ex(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_launch_ex_params *p = data->params;

	if (p->config)
		launch(c, p->config, p->function, p->arguments, p->extra, false, data->symbol);
}

/* On several devices at once, whose kernels wait for each other. What is launched is not looked at:
 * it runs as it does. */
static void launch_on_several(struct cuda_context *c, const struct cupti_callback_data *data)
{
	struct runtime_op op = {.kind = RUNTIME_DISPATCH,
				.flags = RUNTIME_OP_NEVER_REPLAY | RUNTIME_OP_NO_WAIT_BEFORE,
				.why = "a cooperative launch on several devices",
				.kernel = data->symbol ? data->symbol : "(on several devices)"};

	cuda_boundary(c, data->function);
	cuda_session_open_device(c);
	if (!c->device)
		return;
	operation_begin(c, &op);
	c->busy_overflow = true; /* which streams get work is not known: all are waited for */
}

static void launch_graph(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_graph_launch_params *p = data->params;
	struct CUstream_st *stream = cuda_stream_name(p->stream);
	struct runtime_op op;

	if (cuda_is_captured(stream) || leave_alone(c, stream, "CUDA graph"))
		return;
	cuda_session_open_device(c);
	if (!c->device)
		return;
	cuda_graph_describe(c, p->graph, stream, &op);
	operation_begin(c, &op);
}

/* A function of the host in a queue: the window ends before it. It is bracketed like an operation,
 * so that no passes run while it is put there: their drain would wait for it, and it for the
 * engine. */
static void host_function(struct cuda_context *c, const struct cupti_callback_data *data)
{
	struct runtime_op op = {.kind = RUNTIME_TRANSFER,
				.flags = RUNTIME_OP_REACH_EXACT,
				.why = "a function of the host in a queue"};
	/* The stream is the first argument of both. */
	struct CUstream_st *stream = cuda_stream_name(*(struct CUstream_st *const *)data->params);

	if (!c->device || cuda_is_captured(stream))
		return;
	op.queue = (uint64_t)(uintptr_t)stream;
	op.queue_native = stream;
	cuda_boundary(c, data->function);
	operation_begin(c, &op);
}

/* ---- streams being captured ---- */

static void capture_begun(struct cuda_context *c, const struct cupti_callback_data *data)
{
	(void)c;
	if (!cuda_result(data))
		cuda_session.captures++;
}

static void capture_ended(struct cuda_context *c, const struct cupti_callback_data *data)
{
	(void)c;
	(void)data;
	if (cuda_session.captures > 0)
		cuda_session.captures--;
}

/* ---- marks ---- */

#define PROFILER_RANGE "cuProfilerStart"

/* They do not nest: what is on stays on. The driver's functions are what the runtime's call. */
static _Atomic bool profiler_on;

static void profiler_started(struct cuda_context *c, const struct cupti_callback_data *data)
{
	cuda_boundary(c, data->function);
	if (cuda_session.mark && !atomic_exchange(&profiler_on, true))
		cuda_session.mark(cuda_session.user, PROFILER_RANGE, true);
}

static void profiler_stopped(struct cuda_context *c, const struct cupti_callback_data *data)
{
	cuda_boundary(c, data->function);
	if (cuda_session.mark && atomic_exchange(&profiler_on, false))
		cuda_session.mark(cuda_session.user, PROFILER_RANGE, false);
}

/* ---- waiting ---- */

/* A query that says "done" lets the host look; one that says "not yet" lets it do nothing. */
static void queried(struct cuda_context *c, const struct cupti_callback_data *data)
{
	if (cuda_result(data) != CU_NOT_READY)
		cuda_boundary(c, data->function);
}

struct gone_stream {
	struct cuda_context *context;
	struct CUstream_st *stream;
};
static void forget_stream(void *data)
{
	const struct gone_stream *gone = data;

	cuda_drain_forget(gone->context, gone->stream);
}

static void stream_destroyed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	struct gone_stream gone = {c, *(struct CUstream_st *const *)data->params};

	cuda_boundary(c, data->function);
	/* The handle can come back for another stream. Another thread may be waiting for the
	 * device. */
	if (!c->device || c->gone)
		forget_stream(&gone);
	else if (!replay_with_lock(c->device, forget_stream, &gone))
		cuda_drain_note_all(c);
	cuda_crossing_forget(c, gone.stream);
}

/* Its variables are memory no more. */
static void forget_module(const struct CUmod_st *module)
{
	struct program_memory m;

	while (module &&
	       memories_take_of_module(&cuda_session.memories, (uint64_t)(uintptr_t)module, &m))
		cuda_memory_remove(&m);
}

static void module_unloaded(struct cuda_context *c, const struct cupti_callback_data *data)
{
	cuda_boundary(c, data->function);
	forget_module(*(struct CUmod_st *const *)data->params);
	cuda_functions_forget();
}

/* A library has a module in each context that used it. */
static void library_unloaded(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct CUlib_st *library = *(struct CUlib_st *const *)data->params;

	cuda_boundary(c, data->function);
	for (unsigned i = 0; i < cuda_session.n_contexts && d->library_module; i++) {
		struct cuda_context *k = &cuda_session.contexts[i];
		struct CUmod_st *module = NULL;

		if (!cuda_enter(k))
			continue;
		if (!d->library_module(&module, library))
			forget_module(module);
		cuda_leave(k);
	}
	cuda_functions_forget();
}

/* ---- device-side operations, recorded with the window ---- */

static void transfer(struct cuda_context *c, struct cuda_op *op, cu_ptr to, cu_ptr from, size_t n,
		     const char *name)
{
	struct runtime_op described;

	if (!op || !c->device || !n || !cuda_transfer_describe(c, op, to, from, n, &described)) {
		cuda_op_free(op);
		if (c->device && n)
			cuda_boundary(c, name);
		return;
	}
	operation_begin(c, &described);
}

/* All of these have their stream in one place. What of them was not recorded goes on beside what
 * is. */
static void transfer_end(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_dtod_params *p = data->params;

	_Static_assert(offsetof(struct cu_dtod_params, stream) ==
				       offsetof(struct cu_htod_params, stream) &&
			       offsetof(struct cu_dtod_params, stream) ==
				       offsetof(struct cu_set8_params, stream) &&
			       offsetof(struct cu_dtod_params, stream) ==
				       offsetof(struct cu_set16_params, stream) &&
			       offsetof(struct cu_dtod_params, stream) ==
				       offsetof(struct cu_set32_params, stream),
		       "ABI");
	operation_end(c, data);
	cuda_queued(c, cuda_stream_name(p->stream), p->to);
}

static bool is_watched(struct cuda_context *c, struct CUstream_st *stream)
{
	return c->device && !cuda_is_captured(stream);
}

static struct cuda_op *transfer_op(enum cuda_op_kind kind, struct CUstream_st *stream, cu_ptr to,
				   cu_ptr from, size_t n, unsigned value, size_t room)
{
	struct cuda_op *op = cuda_op_new(room);

	if (!op)
		return NULL;
	op->kind = kind;
	op->stream = stream;
	op->u.transfer.to = to;
	op->u.transfer.from = from;
	op->u.transfer.n = n;
	op->u.transfer.value = value;
	return op;
}

static void copy_device(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_dtod_params *p = data->params;
	struct CUstream_st *stream = cuda_stream_name(p->stream);

	if (is_watched(c, stream))
		transfer(c, transfer_op(CUDA_OP_COPY, stream, p->to, p->from, p->bytes, 0, 0),
			 p->to, p->from, p->bytes, data->function);
}

#define HTOD_MOST (16u << 20) /* a larger source is not kept: the window ends instead */

static void copy_to_device(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_htod_params *p = data->params;
	struct CUstream_st *stream = cuda_stream_name(p->stream);
	struct cuda_op *op;

	if (!is_watched(c, stream))
		return;
	op = p->bytes <= HTOD_MOST
		     ? transfer_op(CUDA_OP_HTOD, stream, p->to, 0, p->bytes, 0, p->bytes)
		     : NULL;
	if (op)
		memcpy(op->bytes, p->from, p->bytes);
	transfer(c, op, p->to, 0, p->bytes, data->function);
}

/* The host gets what pass 0 has. Into pageable memory the call returns when all is copied; into
 * memory that the device can reach it may be read by what follows in the window. */
static void copy_to_host(struct cuda_context *c, const struct cupti_callback_data *data)
{
	struct {
		cu_ptr to; /* a host address */
		cu_ptr from;
		size_t bytes;
	} p;
	struct program_memory m;

	memcpy(&p, data->params, sizeof(p));
	if (c->device && memories_find(&cuda_session.memories, p.to, &m))
		cuda_boundary(c, data->function);
}

static void set8(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_set8_params *p = data->params;
	struct CUstream_st *stream = cuda_stream_name(p->stream);

	if (is_watched(c, stream))
		transfer(c, transfer_op(CUDA_OP_SET8, stream, p->to, 0, p->n, p->value, 0), p->to,
			 0, p->n, data->function);
}

static void set16(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_set16_params *p = data->params;
	struct CUstream_st *stream = cuda_stream_name(p->stream);

	if (is_watched(c, stream))
		transfer(c, transfer_op(CUDA_OP_SET16, stream, p->to, 0, p->n, p->value, 0), p->to,
			 0, 2 * p->n, data->function);
}

static void set32(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_set32_params *p = data->params;
	struct CUstream_st *stream = cuda_stream_name(p->stream);

	if (is_watched(c, stream))
		transfer(c, transfer_op(CUDA_OP_SET32, stream, p->to, 0, p->n, p->value, 0), p->to,
			 0, 4 * p->n, data->function);
}

const struct cuda_call_entry cuda_launch_calls[] = {
	{"cuLaunchKernel", launch_kernel, operation_end},
	{"cuLaunchKernelEx", launch_ex, operation_end},
	{"cuLaunchCooperativeKernel", launch_cooperative, operation_end},
	{"cuLaunchCooperativeKernelMultiDevice", launch_on_several, operation_end},
	{"cuGraphLaunch", launch_graph, operation_end},
	/* The window ends before: its end would record events in what is captured. */
	{"cuStreamBeginCapture", cuda_call_boundary, capture_begun},
	{"cuStreamBeginCapture_v2", cuda_call_boundary, capture_begun},
	{"cuStreamBeginCaptureToGraph", cuda_call_boundary, capture_begun},
	{"cuStreamBeginRecaptureToGraph", cuda_call_boundary, capture_begun},
	{"cuStreamEndCapture", NULL, capture_ended},
	{"cuLaunchHostFunc", host_function, operation_end},
	{"cuStreamAddCallback", host_function, operation_end},
	{"cuProfilerStart", NULL, profiler_started},
	{"cuProfilerStop", profiler_stopped, NULL},
	/* After the call the device is (nearly) idle; the program's own wait has no bound of ours.
	 */
	{"cuCtxSynchronize", NULL, cuda_call_boundary},
	{"cuCtxSynchronize_v2", NULL, cuda_call_boundary},
	{"cuStreamSynchronize", NULL, cuda_call_boundary},
	{"cuEventSynchronize", NULL, cuda_call_boundary},
	{"cuStreamQuery", NULL, queried},
	{"cuEventQuery", NULL, queried},
	{"cuEventElapsedTime", NULL, queried},
	{"cuEventElapsedTime_v2", NULL, queried},
	{"cuEventDestroy", NULL, NULL},
	{"cuEventDestroy_v2", NULL, NULL},
	{"cuStreamDestroy", stream_destroyed, NULL},
	{"cuStreamDestroy_v2", stream_destroyed, NULL},
	{"cuModuleUnload", module_unloaded, NULL},
	{"cuLibraryUnload", library_unloaded, NULL},
	{"cuMemcpyDtoDAsync_v2", copy_device, transfer_end},
	{"cuMemcpyHtoDAsync_v2", copy_to_device, transfer_end},
	{"cuMemcpyDtoHAsync_v2", copy_to_host, NULL},
	{"cuMemsetD8Async", set8, transfer_end},
	{"cuMemsetD16Async", set16, transfer_end},
	{"cuMemsetD32Async", set32, transfer_end},
};
const size_t cuda_n_launch_calls = sizeof(cuda_launch_calls) / sizeof(*cuda_launch_calls);
