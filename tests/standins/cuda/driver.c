/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of every call of the stand-in driver, starting up, and finding functions by name. */
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char standin_name[] = "libcuda";

static const char *const names[CALLS_END] = {[CALL_NONE] = "INVALID",
#define X(name) [CALL_##name] = #name,
					     STANDIN_FUNCTIONS(X)
#undef X
};

static bool initialised(void)
{
	return gpu.initialised;
}

static bool alive(const struct CUctx_st *context)
{
	bool found = false;

	pthread_mutex_lock(&gpu.lock);
	for (const struct CUctx_st *c = gpu.contexts; c; c = c->next)
		found |= c == context && !c->destroyed;
	pthread_mutex_unlock(&gpu.lock);
	return found;
}

static void wait_idle(struct CUctx_st *context)
{
	pthread_mutex_lock(&gpu.lock);
	gpu_context_wait(context);
	pthread_mutex_unlock(&gpu.lock);
}

static void raw(const struct CUctx_st *context, uint64_t out[RAWS])
{
	pthread_mutex_lock(&gpu.lock);
	memcpy(out, gpu.raw[context->device], sizeof(gpu.raw[0]));
	pthread_mutex_unlock(&gpu.lock);
}

static bool cold(void)
{
	bool is;

	pthread_mutex_lock(&gpu.lock);
	is = gpu.cold;
	pthread_mutex_unlock(&gpu.lock);
	return is;
}

extern struct standin_driver standin_driver;
STANDIN_API struct standin_driver standin_driver = {.call_names = names,
						    .n_calls = CALLS_END - 1,
						    .initialised = initialised,
						    .current = context_current,
						    .alive = alive,
						    .wait_idle = wait_idle,
						    .raw = raw,
						    .cold = cold};

/* ---- calls ---- */

static bool is_export(enum standin_function id)
{
#define X(name) || id == CALL_##name
	return false STANDIN_EXPORTS(X);
#undef X
}

static void tell(struct call *c, int site)
{
	if (!standin_driver.hook || !standin_driver.calls[c->id])
		return;
	if (is_export(c->id) && standin_fault("given", NULL))
		return;
	c->data.site = site;
	standin_driver.hook(CUPTI_DRIVER_API, c->id, &c->data);
}

void tell_resource(uint32_t id, struct CUctx_st *context, void *descriptor)
{
	struct cupti_resource_data data = {.context = context, .descriptor = descriptor};

	if (standin_driver.hook && standin_driver.resources[id])
		standin_driver.hook(CUPTI_RESOURCE, id, &data);
}

static bool unsafe_in_capture(enum standin_function id)
{
	return id == CALL_cuMemAlloc_v2 || id == CALL_cuMemFree_v2 || id == CALL_cuMemHostAlloc ||
	       id == CALL_cuMemFreeHost || id == CALL_cuCtxSynchronize || id == CALL_cuEventQuery ||
	       id == CALL_cuEventSynchronize || id == CALL_cuMemcpyDtoH_v2 ||
	       id == CALL_cuMemcpyHtoD_v2 || id == CALL_cuMemcpy;
}

static void tell_launch(const struct call *c, bool after)
{
	bool graph = c->id == CALL_cuGraphLaunch;

	if (standin_driver.launching && c->data.context &&
	    (graph || c->id == CALL_cuLaunchKernel || c->id == CALL_cuLaunchKernelEx ||
	     c->id == CALL_cuLaunchCooperativeKernel))
		standin_driver.launching(c->data.context, graph, after);
}

cu_result call_enter(struct call *c, enum standin_function id, const void *params,
		     const char *symbol, bool needs_context, const void *caller)
{
	static uint32_t correlation;
	struct CUctx_st *context = context_current();
	unsigned code = 0;

	memset(c, 0, sizeof(*c));
	c->id = id;
	c->injected = standin_is_injected(caller);
	c->data = (struct cupti_callback_data){.function = names[id],
					       .params = params,
					       .symbol = symbol,
					       .result = &c->result,
					       .context = context,
					       .correlation = &c->correlation,
					       .correlation_id = ++correlation};
	tell(c, CUPTI_ENTER);
	tell_launch(c, false);
	pthread_mutex_lock(&gpu.lock);
	if (!c->injected && id != CALL_cuStreamSynchronize)
		gpu_peer_turn();
	/* The listener may have changed nothing of the program's. */
	if (context_current() != context)
		standin_violation("%s: the context is another one after the callback", names[id]);
	if (id != CALL_cuInit && !gpu.initialised)
		return ERROR_NOT_INITIALIZED;
	if (needs_context && !context)
		return ERROR_INVALID_CONTEXT;
	if (needs_context && context->error)
		return context->error;
	if (c->injected && standin_fault(names[id], &code)) {
		c->failed = true;
		return (cu_result)code;
	}
	if (gpu.captures && unsafe_in_capture(id)) {
		if (c->injected)
			standin_violation("%s by the injected library during a stream's capture",
					  names[id]);
		return ERROR_CAPTURE_UNSUPPORTED;
	}
	return 0;
}

static bool is_wrong(cu_result result)
{
	return result == CU_INVALID_VALUE || result == ERROR_INVALID_CONTEXT ||
	       result == ERROR_INVALID_HANDLE || result == ERROR_NOT_INITIALIZED;
}

/* Whether a handle is a function or a kernel, and how many parameters it has, is found by trying.
 */
static bool is_question(enum standin_function id)
{
	return id == CALL_cuFuncGetParamInfo || id == CALL_cuFuncGetModule ||
	       id == CALL_cuFuncGetAttribute || id == CALL_cuFuncLoad ||
	       id == CALL_cuKernelGetParamInfo || id == CALL_cuKernelGetFunction ||
	       id == CALL_cuKernelGetAttribute || id == CALL_cuPointerGetAttribute ||
	       id == CALL_cuLibraryGetModule || id == CALL_cuFuncGetName ||
	       id == CALL_cuKernelGetName;
}

cu_result call_leave(struct call *c, cu_result result)
{
	pthread_mutex_unlock(&gpu.lock);
	c->result = result;
	tell_launch(c, true);
	if (c->injected && !c->failed && is_wrong(result) && !is_question(c->id))
		standin_violation("%s by the injected library: error %d", names[c->id], result);
	tell(c, CUPTI_EXIT);
	return result;
}

/* ---- initialisation ---- */

/* As the driver does it: a tool's library is loaded while the driver starts. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void) = NULL;

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (initialize && !initialize())
		standin_violation("the injected library failed to start");
}

cu_result cuInit(unsigned flags)
{
	struct {
		unsigned flags;
	} p = {flags};
	bool first;

	pthread_mutex_lock(&gpu.lock);
	first = !gpu.initialised;
	if (first)
		gpu_start();
	gpu.initialised = true;
	pthread_mutex_unlock(&gpu.lock);
	if (first)
		inject();
	BEGIN_PLAIN(cuInit);
	END(flags ? CU_INVALID_VALUE : CU_OK);
}

cu_result cuDriverGetVersion(int *version)
{
	*version = 13000;
	return CU_OK;
}

/* ---- errors ---- */

static const struct {
	cu_result result;
	const char *name;
} errors[] = {
	{CU_OK, "CUDA_SUCCESS"},
	{CU_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
	{CU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
	{ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
	{ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
	{ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
	{ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
	{ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM"},
	{ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
	{CU_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
	{CU_NOT_READY, "CUDA_ERROR_NOT_READY"},
	{ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
	{ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
	{ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
	{ERROR_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
	{ERROR_UPDATE_FAILURE, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"},
};

cu_result cuGetErrorName(cu_result result, const char **name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].result == result) {
			*name = errors[i].name;
			return CU_OK;
		}
	*name = NULL;
	return CU_INVALID_VALUE;
}

cu_result cuGetErrorString(cu_result result, const char **text)
{
	return cuGetErrorName(result, text);
}

/* ---- functions by name ---- */

/* The name is without the version; the newest is given. */
cu_result cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
			      int *status)
{
	static const char *const versions[] = {"_v2", ""};
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	char name[96];

	(void)version;
	(void)flags;
	*function = NULL;
	for (int i = 0; i < 2 && library && !*function; i++) {
		snprintf(name, sizeof(name), "%s%s", symbol, versions[i]);
		*function = dlsym(library, name);
	}
	if (status)
		*status = *function ? 0 : 1;
	return *function ? CU_OK : CU_NOT_FOUND;
}

cu_result cuProfilerStart(void)
{
	int p = 0;

	BEGIN(cuProfilerStart);
	END(CU_OK);
}

cu_result cuProfilerStop(void)
{
	int p = 0;

	BEGIN(cuProfilerStop);
	END(CU_OK);
}
