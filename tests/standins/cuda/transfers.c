/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills of the stand-in driver. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

static bool is_device(cu_ptr address, size_t n)
{
	const struct gpu_memory *m = gpu_memory_of(address);

	return m && gpu_at(address, n) && (m->kind == MEMORY_DEVICE || m->kind == MEMORY_MANAGED);
}

static cu_result copy(const struct call *call, cu_ptr to, cu_ptr from, size_t n,
		      struct CUstream_st *handle, bool wait)
{
	struct CUstream_st *s = stream_of(handle);
	struct gpu_command *c;
	unsigned ms;

	if (!s)
		return ERROR_INVALID_HANDLE;
	if (!n)
		return CU_OK;
	if ((!gpu_is_pageable(to) && !gpu_at(to, n)) ||
	    (!gpu_is_pageable(from) && !gpu_at(from, n)))
		return CU_INVALID_VALUE;
	/* The control of the tests: nothing that the injected library puts back arrives. */
	if (call->injected && !gpu_is_pageable(to) && !gpu_memory_of(to)->own &&
	    !gpu_is_pageable(from) && gpu_memory_of(from)->own && standin_fault("restore", NULL))
		return CU_OK;
	c = gpu_command_new(COMMAND_COPY);
	c->to = to;
	c->from = from;
	c->n = n;
	/* On its way for so long; nothing else of the stream begins before. */
	if (!call->injected && !wait && standin_fault("late-copy", &ms))
		c->launch.until_ns = gpu_clock_ns() + ms * 1000000ull;
	if (call->injected && standin_fault("copy", NULL)) { /* half of it is done */
		c->n = n / 2;
		gpu_enqueue(s, c);
		return ERROR_OPERATING_SYSTEM;
	}
	if (gpu_is_pageable(from) && !s->capture) {
		c->staged = malloc(n);
		if (!c->staged)
			abort();
		memcpy(c->staged, (const void *)(uintptr_t)from, n);
	}
	wait |= gpu_is_pageable(to) && !s->capture;
	gpu_enqueue(s, c);
	if (wait)
		gpu_stream_wait(s);
	return s->context->error;
}

static cu_result fill(cu_ptr to, unsigned value, unsigned width, size_t n,
		      struct CUstream_st *handle, bool wait)
{
	struct CUstream_st *s = stream_of(handle);
	struct gpu_command *c;

	if (!s)
		return ERROR_INVALID_HANDLE;
	if (!n)
		return CU_OK;
	if (!gpu_at(to, n * width) || to % width)
		return CU_INVALID_VALUE;
	c = gpu_command_new(COMMAND_SET);
	c->to = to;
	c->value = value;
	c->width = width;
	c->n = n;
	gpu_enqueue(s, c);
	if (wait)
		gpu_stream_wait(s);
	return s->context->error;
}

cu_result cuMemcpy(cu_ptr to, cu_ptr from, size_t n)
{
	struct {
		cu_ptr to, from;
		size_t n;
	} p = {to, from, n};

	BEGIN(cuMemcpy);
	END(copy(&call, to, from, n, NULL, true));
}

cu_result cuMemcpyAsync(cu_ptr to, cu_ptr from, size_t n, struct CUstream_st *stream)
{
	struct cu_dtod_params p = {to, from, n, stream};

	BEGIN(cuMemcpyAsync);
	END(copy(&call, to, from, n, stream, false));
}

cu_result cuMemcpyHtoD_v2(cu_ptr to, const void *from, size_t n)
{
	struct {
		cu_ptr to;
		const void *from;
		size_t n;
	} p = {to, from, n};

	BEGIN(cuMemcpyHtoD_v2);
	if (!is_device(to, n))
		END(CU_INVALID_VALUE);
	END(copy(&call, to, (cu_ptr)(uintptr_t)from, n, NULL, true));
}

cu_result cuMemcpyHtoDAsync_v2(cu_ptr to, const void *from, size_t n, struct CUstream_st *stream)
{
	struct cu_htod_params p = {to, from, n, stream};

	BEGIN(cuMemcpyHtoDAsync_v2);
	if (!is_device(to, n))
		END(CU_INVALID_VALUE);
	END(copy(&call, to, (cu_ptr)(uintptr_t)from, n, stream, false));
}

cu_result cuMemcpyDtoH_v2(void *to, cu_ptr from, size_t n)
{
	struct {
		void *to;
		cu_ptr from;
		size_t n;
	} p = {to, from, n};

	BEGIN(cuMemcpyDtoH_v2);
	if (!is_device(from, n))
		END(CU_INVALID_VALUE);
	END(copy(&call, (cu_ptr)(uintptr_t)to, from, n, NULL, true));
}

cu_result cuMemcpyDtoHAsync_v2(void *to, cu_ptr from, size_t n, struct CUstream_st *stream)
{
	struct {
		void *to;
		cu_ptr from;
		size_t n;
		struct CUstream_st *stream;
	} p = {to, from, n, stream};

	BEGIN(cuMemcpyDtoHAsync_v2);
	if (!is_device(from, n))
		END(CU_INVALID_VALUE);
	END(copy(&call, (cu_ptr)(uintptr_t)to, from, n, stream, false));
}

cu_result cuMemcpyDtoD_v2(cu_ptr to, cu_ptr from, size_t n)
{
	struct {
		cu_ptr to, from;
		size_t n;
	} p = {to, from, n};

	BEGIN(cuMemcpyDtoD_v2);
	if (!is_device(to, n) || !is_device(from, n))
		END(CU_INVALID_VALUE);
	END(copy(&call, to, from, n, NULL, false));
}

cu_result cuMemcpyDtoDAsync_v2(cu_ptr to, cu_ptr from, size_t n, struct CUstream_st *stream)
{
	struct cu_dtod_params p = {to, from, n, stream};

	BEGIN(cuMemcpyDtoDAsync_v2);
	if (!is_device(to, n) || !is_device(from, n))
		END(CU_INVALID_VALUE);
	END(copy(&call, to, from, n, stream, false));
}

cu_result cuMemsetD8_v2(cu_ptr to, unsigned char value, size_t n)
{
	struct cu_set8_params p = {to, value, n, NULL};

	BEGIN(cuMemsetD8_v2);
	END(fill(to, value, 1, n, NULL, true));
}

cu_result cuMemsetD32_v2(cu_ptr to, unsigned value, size_t n)
{
	struct cu_set32_params p = {to, value, n, NULL};

	BEGIN(cuMemsetD32_v2);
	END(fill(to, value, 4, n, NULL, true));
}

cu_result cuMemsetD8Async(cu_ptr to, unsigned char value, size_t n, struct CUstream_st *stream)
{
	struct cu_set8_params p = {to, value, n, stream};

	BEGIN(cuMemsetD8Async);
	END(fill(to, value, 1, n, stream, false));
}

cu_result cuMemsetD16Async(cu_ptr to, unsigned short value, size_t n, struct CUstream_st *stream)
{
	struct cu_set16_params p = {to, value, n, stream};

	BEGIN(cuMemsetD16Async);
	END(fill(to, value, 2, n, stream, false));
}

cu_result cuMemsetD32Async(cu_ptr to, unsigned value, size_t n, struct CUstream_st *stream)
{
	struct cu_set32_params p = {to, value, n, stream};

	BEGIN(cuMemsetD32Async);
	END(fill(to, value, 4, n, stream, false));
}
