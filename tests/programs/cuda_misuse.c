/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses the stand-in CUPTI against its rules, one way a line: prints what each call returns. The
 * self-check of the stand-in has to find all that is marked so, or it would find nothing in the
 * product either.
 */
#include "functions.h"
#include "source/cuda/cuda_range_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *library;

#define NEW(type, variable, last) \
	struct type variable = {.size = CUPTI_STRUCT_SIZE(struct type, last)}

static int call(const char *symbol, void *params)
{
	int (*function)(void *);

	*(void **)&function = dlsym(library, symbol);
	if (!function)
		exit(4);
	return function(params);
}

static void show(const char *what, int result)
{
	printf("%-28s %d\n", what, result);
}

static void must(const char *what, int result)
{
	if (!result)
		return;
	printf("%s: %d\n", what, result);
	exit(3);
}

static const char *names[] = {"smsp__inst_executed.sum", "smsp__threads_launched.sum"};
static uint8_t config[256], *data;
static size_t config_size, data_size;

static void make_config(void)
{
	NEW(cupti_host_initialize, open, host);
	NEW(cupti_host_add_metrics, add, n);
	NEW(cupti_host_image_size, size, image_size);
	NEW(cupti_host_image, image, image);
	NEW(cupti_host_deinitialize, done, host);
	const char *wrong[] = {"no__such.sum"};

	open.chip = "SD100";
	must("host", call("cuptiProfilerHostInitialize", &open));
	size.host = image.host = add.host = done.host = open.host;
	show("an image before any metric", call("cuptiProfilerHostGetConfigImageSize", &size));
	add.names = names;
	add.n = 2;
	must("add", call("cuptiProfilerHostConfigAddMetrics", &add));
	must("size", call("cuptiProfilerHostGetConfigImageSize", &size));
	config_size = image.image_size = size.image_size;
	image.image = config;
	image.image_size--;
	show("an image too small", call("cuptiProfilerHostGetConfigImage", &image));
	image.image_size++;
	must("image", call("cuptiProfilerHostGetConfigImage", &image));
	add.names = wrong;
	add.n = 1;
	show("(unknown name)", call("cuptiProfilerHostConfigAddMetrics", &add));
	add.names = names;
	show("a name after that", call("cuptiProfilerHostConfigAddMetrics", &add));
	must("done", call("cuptiProfilerHostDeinitialize", &done));
}

static int set_config(struct cupti_range_profiler *profiler, size_t ranges, size_t bytes)
{
	NEW(cupti_range_config, p, target_level);

	p.profiler = profiler;
	p.config = config;
	p.config_size = config_size;
	p.data = data;
	p.data_size = bytes;
	p.range = CUPTI_RANGE_USER;
	p.replay = CUPTI_REPLAY_USER;
	p.max_ranges = ranges;
	p.n_levels = p.min_level = 1;
	return call("cuptiRangeProfilerSetConfig", &p);
}

static void ranges(struct CUctx_st *context, struct CUctx_st *other)
{
	NEW(cupti_range_enable, enable, profiler);
	NEW(cupti_range_data_size, size, data_size);
	NEW(cupti_range_data_initialize, initialize, data);
	NEW(cupti_range_profiler_only, only, profiler);
	NEW(cupti_range_push, push, name);
	NEW(cupti_range_stop, stop, all_passes);
	NEW(cupti_range_decode, decode, dropped);
	NEW(cupti_availability, availability, image);
	struct CUctx_st *popped;

	enable.context = context;
	must("enable", call("cuptiRangeProfilerEnable", &enable));
	only.profiler = push.profiler = stop.profiler = decode.profiler = enable.profiler;
	size.profiler = initialize.profiler = enable.profiler;
	enable.context = context;
	show("a second profiler", call("cuptiRangeProfilerEnable", &enable));
	availability.context = context;
	show("availability in a session",
	     call("cuptiProfilerGetCounterAvailability", &availability));
	show("start without configuration", call("cuptiRangeProfilerStart", &only));
	size.names = names;
	size.n = 2;
	size.max_ranges = 4;
	size.max_nodes = 3;
	show("fewer nodes than ranges", call("cuptiRangeProfilerGetCounterDataSize", &size));
	size.max_nodes = 4;
	must("data size", call("cuptiRangeProfilerGetCounterDataSize", &size));
	data_size = size.data_size;
	data = calloc(1, data_size);
	show("data not initialised", set_config(only.profiler, 4, data_size));
	initialize.data = data;
	initialize.data_size = data_size;
	must("data", call("cuptiRangeProfilerCounterDataImageInitialize", &initialize));
	show("data too small", set_config(only.profiler, 400, data_size));
	must("config", set_config(only.profiler, 4, data_size));
	only.size--;
	show("a struct of another size", call("cuptiRangeProfilerStart", &only));
	only.size++;
	must("push", cuCtxPushCurrent_v2(other));
	show("from another context", call("cuptiRangeProfilerStart", &only));
	must("pop", cuCtxPopCurrent_v2(&popped));
	show("stop before start", call("cuptiRangeProfilerStop", &stop));
	must("start", call("cuptiRangeProfilerStart", &only));
	show("start twice", call("cuptiRangeProfilerStart", &only));
	show("pop before push", call("cuptiRangeProfilerPopRange", &only));
	show("configuration in a pass", set_config(only.profiler, 4, data_size));
	show("decode before stop", call("cuptiRangeProfilerDecodeData", &decode));
	push.name = "0";
	must("push", call("cuptiRangeProfilerPushRange", &push));
	show("a range too deep", call("cuptiRangeProfilerPushRange", &push));
	show("stop in a range", call("cuptiRangeProfilerStop", &stop));
	must("pop", call("cuptiRangeProfilerPopRange", &only));
	must("stop", call("cuptiRangeProfilerStop", &stop));
	show("(passes submitted)", stop.all_passes);
	must("start", call("cuptiRangeProfilerStart", &only));
	show("disable in a pass", call("cuptiRangeProfilerDisable", &only));
	show("start when disabled", call("cuptiRangeProfilerStart", &only));
}

int main(void)
{
	NEW(cupti_profiler_initialize, initialize, reserved);
	NEW(cupti_chip_name, chip, chip);
	struct CUctx_st *context, *other, *popped;
	cu_ptr device;
	pid_t pid;
	int status;

	must("cuInit", cuInit(0));
	must("context", cuCtxCreate_v2(&other, 0, 0));
	must("pop", cuCtxPopCurrent_v2(&popped));
	must("context", cuCtxCreate_v2(&context, 0, 0));
	library = dlopen("libcupti.so.13", RTLD_NOW);
	if (!library)
		return 4;
	show("chip before initialisation", call("cuptiDeviceGetChipName", &chip));
	must("initialise", call("cuptiProfilerInitialize", &initialize));
	make_config();
	ranges(context, other);
	must("alloc", cuMemAlloc_v2(&device, 4096));
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(*(volatile char *)(uintptr_t)device);
	waitpid(pid, &status, 0);
	show("the host reads the device", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return 0;
}
