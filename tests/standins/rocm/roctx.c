/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in for librocprofiler-sdk-roctx.so.1: ranges and marks of a program, offered to the SDK. */
#include "register.h"
#include "source/rocm/rocm_abi.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT        __attribute__((visibility("default")))
#define ROCTX_VERSION 40100

static _Thread_local int level;

static void mark(const char *message)
{
	(void)message;
}

static int push(const char *message)
{
	(void)message;
	return level++;
}

static int pop(void)
{
	return level > 0 ? --level : -1;
}

static uint64_t start(const char *message)
{
	static uint64_t ids;
	(void)message;
	return __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
}

static void stop(uint64_t id)
{
	(void)id;
}

static int thread_id(uint64_t *id_out)
{
	*id_out = (uint64_t)syscall(SYS_gettid);
	return 0;
}

static int nothing(uint64_t thread)
{
	(void)thread;
	return 0;
}

static struct roctx_core_table core = {sizeof core, mark, push, pop, start, stop, thread_id};
static struct roctx_control_table control = {sizeof control, nothing, nothing};
static uint64_t names[5] = {sizeof names}; /* the table of names: nobody patches it */

EXPORT uint32_t rocprofiler_register_import_roctx(void);
uint32_t rocprofiler_register_import_roctx(void)
{
	return ROCTX_VERSION;
}

static void offer(void)
{
	void *tables[] = {&core, &control, names};
	struct rocp_register_id id;
	rocprofiler_register_library_api_table("roctx", rocprofiler_register_import_roctx,
					       ROCTX_VERSION, tables, 3, &id);
}

static void ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, offer);
}

EXPORT void roctxMarkA(const char *message);
EXPORT int roctxRangePushA(const char *message);
EXPORT int roctxRangePop(void);
EXPORT uint64_t roctxRangeStartA(const char *message);
EXPORT void roctxRangeStop(uint64_t id);
EXPORT int roctxProfilerPause(uint64_t thread);
EXPORT int roctxProfilerResume(uint64_t thread);

void roctxMarkA(const char *message)
{
	ready();
	core.mark(message);
}

int roctxRangePushA(const char *message)
{
	ready();
	return core.range_push(message);
}

int roctxRangePop(void)
{
	ready();
	return core.range_pop();
}

uint64_t roctxRangeStartA(const char *message)
{
	ready();
	return core.range_start(message);
}

void roctxRangeStop(uint64_t id)
{
	ready();
	core.range_stop(id);
}

int roctxProfilerPause(uint64_t thread)
{
	ready();
	return control.pause(thread);
}

int roctxProfilerResume(uint64_t thread)
{
	ready();
	return control.resume(thread);
}
