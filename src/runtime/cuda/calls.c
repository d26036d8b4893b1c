/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls are watched: see calls.h. */
#include "runtime/cuda/calls.h"

#include <stdlib.h>
#include <string.h>

_Thread_local bool cuda_call_per_thread __attribute__((tls_model("initial-exec")));

/* Calls by which nothing on the device is seen or changed, or only in the order of a queue. Each
 * stands for all names that begin with it. */
static const char *const harmless[] = {
	"INVALID",
	"cu64",
	"cuInit",
	"cuDriverGet",
	"cuDeviceGet",
	"cuDeviceTotalMem",
	"cuDeviceComputeCapability",
	"cuDeviceCanAccessPeer",
	"cuDevicePrimaryCtxRetain",
	"cuDevicePrimaryCtxGetState",
	"cuDevicePrimaryCtxSetFlags",
	"cuCtxCreate",
	"cuCtxGet",
	"cuCtxSetCurrent",
	"cuCtxSetLimit",
	"cuCtxSetCacheConfig",
	"cuCtxSetSharedMemConfig",
	"cuCtxSetFlags",
	"cuCtxPushCurrent",
	"cuCtxPopCurrent",
	"cuCtxRecordEvent",
	"cuGetProcAddress",
	"cuGetError",
	"cuGetExportTable",
	"cuFunc",
	"cuKernel",
	"cuLibraryLoad",
	"cuLibraryGet",
	"cuLibraryEnumerate",
	"cuModuleLoad",
	"cuModuleGet",
	"cuModuleEnumerate",
	"cuLink",
	"cuOccupancy",
	"cuPointerGet",
	"cuStreamCreate",
	"cuStreamGet",
	"cuStreamIsCapturing",
	"cuStreamWaitEvent",
	"cuStreamCopyAttributes",
	"cuStreamSetAttribute",
	"cuStreamUpdateCaptureDependencies",
	"cuEventCreate",
	"cuEventRecord",
	"cuGraphCreate",
	"cuGraphAdd",
	"cuGraphGet",
	"cuGraphKernelNode",
	"cuGraphMemcpyNode",
	"cuGraphMemsetNode",
	"cuGraphHostNode",
	"cuGraphNodeGet",
	"cuGraphNodeFind",
	"cuGraphChildGraphNodeGet",
	"cuGraphEvent",
	"cuGraphClone",
	"cuGraphDestroy",
	"cuGraphRemoveDependencies",
	"cuGraphDebugDotPrint",
	"cuGraphRetain",
	"cuGraphRelease",
	"cuGraphExecGet",
	"cuGraphNodeSetParams",
	"cuGraphBatchMemOpNode",
	"cuGraphExternalSemaphores",
	"cuGraphMemAllocNodeGet",
	"cuGraphMemFreeNodeGet",
	"cuGraphConditionalHandleCreate",
	"cuGraphUpload",
	"cuUserObject",
	"cuTensorMapEncode",
	"cuThreadExchangeStreamCaptureMode",
	"cuMemGetInfo",
	"cuMemGetAddressRange",
	"cuMemGetAllocation",
	"cuMemGetAccess",
	"cuMemGetHandle",
	"cuMemHostGet",
	"cuMemPoolCreate",
	"cuMemPoolGet",
	"cuMemPoolSet",
	"cuDeviceSetMemPool",
	"cuMemAddressReserve",
	"cuMemAddressFree",
	"cuMemCreate",
	"cuMemSetAccess",
	"cuMemRetain",
	"cuMemAdvise",
	"cuMemPrefetchAsync",
	"cuMemRangeGet",
	"cuProfilerInitialize",
	"cuTexObjectCreate",
	"cuTexObjectGet",
	"cuTexRefCreate",
	"cuTexRefGet",
	"cuSurfObjectGet",
	"cuArrayCreate",
	"cuArray3DCreate",
	"cuArrayGet",
	"cuMipmappedArrayCreate",
	"cuMipmappedArrayGet",
	"cuIpcGet",
	"cuCoredump",
	"cuLogs",
	"cuOccupancy",
	"cuDevResource",
	"cuDevSmResource",
	"cuGreenCtxCreate",
	"cuGreenCtxGet",
};

static bool has_prefix(const char *name)
{
	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
		if (!strncmp(name, harmless[i], strlen(harmless[i])))
			return true;
	return false;
}

cu_result cuda_result(const struct cupti_callback_data *data)
{
	return data->result ? *(const cu_result *)data->result : CU_OK;
}

struct CUstream_st *cuda_stream_name(struct CUstream_st *stream)
{
	/* The driver's names for the two default streams, the same in every variant of a call. */
	if (!stream)
		return (struct CUstream_st *)(uintptr_t)(cuda_call_per_thread ? 2 : 1);
	return stream;
}

/* Between enter and leave of this thread, which do not nest. */
static _Thread_local struct {
	bool was_inside, pushed;
} entered __attribute__((tls_model("initial-exec")));

bool cuda_enter(void *device)
{
	struct cuda_context *c = device;
	struct CUctx_st *now = NULL;

	if (!c->device || c->gone || cuda_session.off)
		return false;
	entered.was_inside = cuda_inside;
	cuda_inside = true;
	entered.pushed = cuda_session.driver.context_current(&now) || now != c->context;
	if (!entered.pushed || !cuda_session.driver.context_push(c->context))
		return true;
	cuda_inside = entered.was_inside;
	return false;
}

void cuda_leave(void *device)
{
	struct CUctx_st *popped;

	(void)device;
	if (entered.pushed)
		cuda_session.driver.context_pop(&popped);
	cuda_inside = entered.was_inside;
}

void cuda_boundary(struct cuda_context *c, const char *why)
{
	(void)c;
	for (unsigned i = 0; i < cuda_session.n_contexts; i++) {
		struct cuda_context *k = &cuda_session.contexts[i];

		if (!cuda_enter(k))
			continue;
		replay_boundary(k->device, why);
		cuda_leave(k);
	}
}

void cuda_call_boundary(struct cuda_context *c, const struct cupti_callback_data *data)
{
	cuda_boundary(c, data->function);
}

static bool find_in(const struct cuda_call_entry *entries, size_t n, const char *name,
		    struct cuda_call_entry *out)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(entries[i].name, name)) {
			*out = entries[i];
			return true;
		}
	return false;
}

bool cuda_calls_anywhere(const char *name)
{
	struct cuda_call_entry entry;

	return find_in(cuda_shared_calls, cuda_n_shared_calls, name, &entry) ||
	       find_in(cuda_pool_calls, cuda_n_pool_calls, name, &entry);
}

bool cuda_calls_find(const char *name, struct cuda_call_entry *entry_out, bool *per_thread_out)
{
	char plain[96];
	size_t n = strlen(name);

	*per_thread_out = false;
	if (n >= sizeof(plain))
		n = sizeof(plain) - 1;
	memcpy(plain, name, n);
	plain[n] = 0;
	if (n > 5 && (!strcmp(plain + n - 5, "_ptsz") || !strcmp(plain + n - 5, "_ptds"))) {
		plain[n - 5] = 0;
		*per_thread_out = true;
	}
	if (find_in(cuda_launch_calls, cuda_n_launch_calls, plain, entry_out) ||
	    find_in(cuda_memory_calls, cuda_n_memory_calls, plain, entry_out) ||
	    find_in(cuda_shared_calls, cuda_n_shared_calls, plain, entry_out) ||
	    find_in(cuda_pool_calls, cuda_n_pool_calls, plain, entry_out) ||
	    find_in(cuda_array_calls, cuda_n_array_calls, plain, entry_out) ||
	    find_in(cuda_queued_calls, cuda_n_queued_calls, plain, entry_out) ||
	    find_in(cuda_graph_calls, cuda_n_graph_calls, plain, entry_out))
		return true;
	if (has_prefix(plain))
		return false;
	if (!strncmp(plain, "cuGraph", 7) && strncmp(plain, "cuGraphics", 10)) {
		*entry_out = (struct cuda_call_entry){name, cuda_call_boundary,
						      cuda_call_graphs_unknown};
		return true;
	}
	*entry_out = (struct cuda_call_entry){.name = name, .enter = cuda_call_boundary};
	return true;
}
