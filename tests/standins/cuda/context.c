/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, contexts, streams and events of the stand-in driver. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

#define STACK 16

static _Thread_local struct {
	struct CUctx_st *stack[STACK];
	unsigned n;
} current;
static struct CUctx_st *primaries[STANDIN_DEVICES];
static unsigned primary_users[STANDIN_DEVICES];

static bool is_device(int device)
{
	return device >= 0 && device < standin_devices();
}

struct CUctx_st *context_current(void)
{
	return current.n ? current.stack[current.n - 1] : NULL;
}

struct CUstream_st *stream_of(struct CUstream_st *handle)
{
	struct CUctx_st *c = context_current();

	if (!c)
		return NULL;
	if ((uintptr_t)handle <= 2) /* NULL and the names of the default streams */
		return &c->legacy;
	for (struct CUstream_st *s = c->streams; s; s = s->next)
		if (s == handle)
			return s;
	return NULL;
}

/* ---- devices ---- */

cu_result cuDeviceGetCount(int *n)
{
	struct {
		int *n;
	} p = {n};

	BEGIN_PLAIN(cuDeviceGetCount);
	*n = standin_devices();
	END(CU_OK);
}

cu_result cuDeviceGet(int *device, int ordinal)
{
	struct {
		int *device;
		int ordinal;
	} p = {device, ordinal};

	BEGIN_PLAIN(cuDeviceGet);
	*device = ordinal;
	END(is_device(ordinal) ? CU_OK : ERROR_INVALID_DEVICE);
}

cu_result cuDeviceGetName(char *name, int size, int device)
{
	struct {
		char *name;
		int size, device;
	} p = {name, size, device};

	BEGIN_PLAIN(cuDeviceGetName);
	if (!is_device(device) || size < 1)
		END(ERROR_INVALID_DEVICE);
	strncpy(name, "Stand-in device", (size_t)size - 1);
	name[size - 1] = 0;
	END(CU_OK);
}

cu_result cuDeviceGetUuid(unsigned char *uuid, int device)
{
	struct {
		unsigned char *uuid;
		int device;
	} p = {uuid, device};

	BEGIN_PLAIN(cuDeviceGetUuid);
	memcpy(uuid, "\x5d\x10\x5d\x10\x5d\x10\x5d\x10\x5d\x10\x5d\x10\x5d\x10\x5d\x10", 16);
	uuid[15] = (unsigned char)(uuid[15] + device);
	END(is_device(device) ? CU_OK : ERROR_INVALID_DEVICE);
}
cu_result cuDeviceGetUuid_v2(unsigned char *uuid, int device)
{
	return cuDeviceGetUuid(uuid, device);
}

cu_result cuDeviceGetAttribute(int *value, int attribute, int device)
{
	static const struct {
		int attribute, value;
	} known[] = {
		{1, 1024},              /* threads of a block */
		{10, 32},               /* of a warp */
		{13, 2000000},          /* kHz */
		{16, 4},                /* multiprocessors */
		{38, GPU_L2},           /* bytes of the L2 cache */
		{41, 1},                /* unified addresses */
		{75, 9},                /* compute capability */
		{76, 0},       {83, 1}, /* managed memory */
		{95, 1},                /* cooperative launches */
		{115, 1},               /* memory pools */
	};
	struct {
		int *value;
		int attribute, device;
	} p = {value, attribute, device};

	BEGIN_PLAIN(cuDeviceGetAttribute);
	*value = attribute == 133 && standin_fault("mps", NULL); /* MPS */
	if (attribute == CU_DEVICE_REACHES_PAGEABLE && gpu_reaches_pageable()) {
		*value = !call.injected || !standin_fault("pageable", NULL);
		if (call.injected && standin_fault("attribute", NULL))
			END(ERROR_OPERATING_SYSTEM);
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].attribute == attribute)
			*value = known[i].value;
	END(is_device(device) ? CU_OK : ERROR_INVALID_DEVICE);
}

cu_result cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	struct {
		size_t *bytes;
		int device;
	} p = {bytes, device};

	BEGIN_PLAIN(cuDeviceTotalMem_v2);
	*bytes = GPU_MEMORY;
	END(is_device(device) ? CU_OK : ERROR_INVALID_DEVICE);
}

/* ---- contexts ---- */

static struct CUctx_st *context_new(int device)
{
	struct CUctx_st *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->device = device;
	c->legacy.context = c;
	c->legacy.is_default = true;
	c->next = gpu.contexts;
	gpu.contexts = c;
	return c;
}

/* The record stays, so that a listener that looks at it later finds it gone and not garbage. */
static void context_end(struct CUctx_st *c)
{
	gpu_context_wait(c);
	c->destroyed = true;
}

cu_result cuDevicePrimaryCtxRetain(struct CUctx_st **context, int device)
{
	struct {
		struct CUctx_st **context;
		int device;
	} p = {context, device};

	BEGIN_PLAIN(cuDevicePrimaryCtxRetain);
	if (!is_device(device))
		END(ERROR_INVALID_DEVICE);
	if (!primaries[device] || primaries[device]->destroyed) {
		primaries[device] = context_new(device);
		primaries[device]->primary = true;
	}
	primary_users[device]++;
	*context = primaries[device];
	END(CU_OK);
}

cu_result cuDevicePrimaryCtxRelease_v2(int device)
{
	struct {
		int device;
	} p = {device};
	struct CUctx_st *gone = NULL;

	BEGIN_PLAIN(cuDevicePrimaryCtxRelease_v2);
	if (!is_device(device) || !primary_users[device])
		END(ERROR_INVALID_CONTEXT);
	if (!--primary_users[device])
		gone = primaries[device];
	if (gone) {
		pthread_mutex_unlock(&gpu.lock);
		tell_resource(CUPTI_CONTEXT_DESTROY_STARTING, gone, NULL);
		pthread_mutex_lock(&gpu.lock);
		context_end(gone);
	}
	END(CU_OK);
}

cu_result cuCtxCreate_v2(struct CUctx_st **context, unsigned flags, int device)
{
	struct {
		struct CUctx_st **context;
		unsigned flags;
		int device;
	} p = {context, flags, device};

	BEGIN_PLAIN(cuCtxCreate_v2);
	if (!is_device(device) || current.n == STACK)
		END(ERROR_INVALID_DEVICE);
	*context = context_new(device);
	current.stack[current.n++] = *context;
	END(CU_OK);
}

cu_result cuCtxDestroy_v2(struct CUctx_st *context)
{
	struct {
		struct CUctx_st *context;
	} p = {context};

	BEGIN_PLAIN(cuCtxDestroy_v2);
	if (!context || context->destroyed)
		END(ERROR_INVALID_CONTEXT);
	pthread_mutex_unlock(&gpu.lock);
	tell_resource(CUPTI_CONTEXT_DESTROY_STARTING, context, NULL);
	pthread_mutex_lock(&gpu.lock);
	context_end(context);
	if (context_current() == context)
		current.n--;
	END(CU_OK);
}

cu_result cuCtxSetCurrent(struct CUctx_st *context)
{
	struct {
		struct CUctx_st *context;
	} p = {context};

	BEGIN_PLAIN(cuCtxSetCurrent);
	if (context && context->destroyed)
		END(ERROR_INVALID_CONTEXT);
	if (current.n)
		current.n--;
	if (context)
		current.stack[current.n++] = context;
	END(CU_OK);
}

cu_result cuCtxGetCurrent(struct CUctx_st **context)
{
	struct {
		struct CUctx_st **context;
	} p = {context};

	BEGIN_PLAIN(cuCtxGetCurrent);
	*context = context_current();
	END(CU_OK);
}

cu_result cuCtxPushCurrent_v2(struct CUctx_st *context)
{
	struct {
		struct CUctx_st *context;
	} p = {context};

	BEGIN_PLAIN(cuCtxPushCurrent_v2);
	if (!context || context->destroyed || current.n == STACK)
		END(ERROR_INVALID_CONTEXT);
	current.stack[current.n++] = context;
	END(CU_OK);
}

cu_result cuCtxPopCurrent_v2(struct CUctx_st **context)
{
	struct {
		struct CUctx_st **context;
	} p = {context};

	BEGIN_PLAIN(cuCtxPopCurrent_v2);
	if (!current.n)
		END(ERROR_INVALID_CONTEXT);
	current.n--;
	if (context)
		*context = current.stack[current.n];
	END(CU_OK);
}

cu_result cuCtxGetDevice(int *device)
{
	struct {
		int *device;
	} p = {device};

	BEGIN(cuCtxGetDevice);
	*device = context_current()->device;
	END(CU_OK);
}

cu_result cuCtxSynchronize(void)
{
	int p = 0;

	BEGIN(cuCtxSynchronize);
	gpu_context_wait(context_current());
	END(context_current()->error);
}

cu_result cuDeviceCanAccessPeer(int *can, int device, int peer)
{
	struct {
		int *can, device, peer;
	} p = {can, device, peer};

	BEGIN_PLAIN(cuDeviceCanAccessPeer);
	*can = device != peer;
	END(is_device(device) && is_device(peer) ? CU_OK : ERROR_INVALID_DEVICE);
}

cu_result cuCtxEnablePeerAccess(struct CUctx_st *peer, unsigned flags)
{
	struct {
		struct CUctx_st *peer;
		unsigned flags;
	} p = {peer, flags};

	BEGIN(cuCtxEnablePeerAccess);
	if (flags)
		END(CU_INVALID_VALUE);
	if (!peer || peer->destroyed || peer == context_current())
		END(ERROR_INVALID_CONTEXT);
	context_current()->peers[peer->device] = true;
	END(CU_OK);
}

/* ---- streams ---- */

cu_result cuStreamCreate(struct CUstream_st **stream, unsigned flags)
{
	struct {
		struct CUstream_st **stream;
		unsigned flags;
	} p = {stream, flags};
	struct CUstream_st *s, **last;

	BEGIN(cuStreamCreate);
	s = calloc(1, sizeof(*s));
	if (!s || flags > 1)
		END(CU_INVALID_VALUE);
	s->context = context_current();
	s->flags = flags;
	for (last = &s->context->streams; *last;)
		last = &(*last)->next;
	*last = s;
	*stream = s;
	END(CU_OK);
}

cu_result cuStreamDestroy_v2(struct CUstream_st *stream)
{
	struct {
		struct CUstream_st *stream;
	} p = {stream};
	struct CUstream_st *s, **at;

	BEGIN(cuStreamDestroy_v2);
	s = stream_of(stream);
	if (!s || s->is_default)
		END(ERROR_INVALID_HANDLE);
	gpu_stream_wait(s);
	for (at = &s->context->streams; *at != s;)
		at = &(*at)->next;
	*at = s->next;
	free(s);
	END(CU_OK);
}

cu_result cuStreamSynchronize(struct CUstream_st *stream)
{
	struct {
		struct CUstream_st *stream;
	} p = {stream};
	struct CUstream_st *s;

	BEGIN(cuStreamSynchronize);
	s = stream_of(stream);
	if (!s)
		END(ERROR_INVALID_HANDLE);
	if (s->capture)
		END(ERROR_CAPTURE_UNSUPPORTED);
	gpu_stream_wait(s);
	END(s->context->error);
}

cu_result cuStreamQuery(struct CUstream_st *stream)
{
	struct {
		struct CUstream_st *stream;
	} p = {stream};
	struct CUstream_st *s;

	BEGIN(cuStreamQuery);
	s = stream_of(stream);
	if (!s)
		END(ERROR_INVALID_HANDLE);
	END(gpu_stream_idle(s) ? CU_OK : CU_NOT_READY);
}

cu_result cuStreamWaitEvent(struct CUstream_st *stream, struct CUevent_st *event, unsigned flags)
{
	struct {
		struct CUstream_st *stream;
		struct CUevent_st *event;
		unsigned flags;
	} p = {stream, event, flags};
	struct CUstream_st *s;
	struct gpu_command *c;

	BEGIN(cuStreamWaitEvent);
	s = stream_of(stream);
	if (!s || !event)
		END(ERROR_INVALID_HANDLE);
	c = gpu_command_new(COMMAND_WAIT);
	c->event = event;
	c->generation = event->recorded;
	gpu_enqueue(s, c);
	END(CU_OK);
}

/* ---- events ---- */

cu_result cuEventCreate(struct CUevent_st **event, unsigned flags)
{
	struct {
		struct CUevent_st **event;
		unsigned flags;
	} p = {event, flags};

	BEGIN(cuEventCreate);
	*event = calloc(1, sizeof(**event));
	END(*event ? CU_OK : CU_OUT_OF_MEMORY);
}

/* The record is kept: commands that still name it may be in streams. */
cu_result cuEventDestroy_v2(struct CUevent_st *event)
{
	struct {
		struct CUevent_st *event;
	} p = {event};

	BEGIN(cuEventDestroy_v2);
	END(event ? CU_OK : ERROR_INVALID_HANDLE);
}

cu_result cuEventRecord(struct CUevent_st *event, struct CUstream_st *stream)
{
	struct {
		struct CUevent_st *event;
		struct CUstream_st *stream;
	} p = {event, stream};
	struct CUstream_st *s;
	struct gpu_command *c;

	BEGIN(cuEventRecord);
	s = stream_of(stream);
	if (!s || !event)
		END(ERROR_INVALID_HANDLE);
	if (s->capture && call.injected)
		standin_violation("cuEventRecord by the injected library in a captured stream");
	c = gpu_command_new(COMMAND_RECORD);
	c->event = event;
	c->generation = ++event->recorded;
	gpu_enqueue(s, c);
	END(CU_OK);
}

cu_result cuEventQuery(struct CUevent_st *event)
{
	struct {
		struct CUevent_st *event;
	} p = {event};

	BEGIN(cuEventQuery);
	if (!event)
		END(ERROR_INVALID_HANDLE);
	END(event->done < event->recorded ? CU_NOT_READY : CU_OK);
}

cu_result cuEventSynchronize(struct CUevent_st *event)
{
	struct {
		struct CUevent_st *event;
	} p = {event};
	uint64_t wanted;

	BEGIN(cuEventSynchronize);
	if (!event)
		END(ERROR_INVALID_HANDLE);
	wanted = event->recorded;
	while (event->done < wanted)
		pthread_cond_wait(&gpu.done, &gpu.lock);
	END(context_current()->error);
}

cu_result cuEventElapsedTime(float *ms, struct CUevent_st *from, struct CUevent_st *to)
{
	struct {
		float *ms;
		struct CUevent_st *from, *to;
	} p = {ms, from, to};

	BEGIN(cuEventElapsedTime);
	if (!from || !to)
		END(ERROR_INVALID_HANDLE);
	*ms = (float)(to->time_ns - from->time_ns) / 1e6f;
	END(to->done < to->recorded ? CU_NOT_READY : CU_OK);
}
