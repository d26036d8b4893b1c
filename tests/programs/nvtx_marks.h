/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program with NVTX's headers does: at the first mark it loads NVTX_INJECTION64_PATH, lets
 * it fill in the functions, and calls those that are there. The marks are the same as sim_program's
 * own: two rounds are "pair" (started and ended), and the second of them "inner" inside (pushed and
 * popped, with a registered name).
 */
#ifndef RETALLY_TESTS_NVTX_MARKS_H
#define RETALLY_TESTS_NVTX_MARKS_H

#include "inject/nvtx_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t (*nvtx_start)(const char *);
static void (*nvtx_end)(uint64_t);
static int (*nvtx_push)(void *, const struct nvtx_attributes *);
static int (*nvtx_pop)(void *);
static void *(*nvtx_string)(void *, const char *);

static nvtx_function **nvtx_core[16] = {[NVTX_RANGE_START_A] =
						(nvtx_function **)(void *)&nvtx_start,
					[NVTX_RANGE_END] = (nvtx_function **)(void *)&nvtx_end};
static nvtx_function **nvtx_core2[15] = {
	[NVTX_DOMAIN_RANGE_PUSH_EX] = (nvtx_function **)(void *)&nvtx_push,
	[NVTX_DOMAIN_RANGE_POP] = (nvtx_function **)(void *)&nvtx_pop,
	[NVTX_DOMAIN_REGISTER_STRING_A] = (nvtx_function **)(void *)&nvtx_string};

static int nvtx_module_table(int which, nvtx_function ****table_out, unsigned *n_out)
{
	if (which != NVTX_CORE && which != NVTX_CORE2)
		return 0;
	*table_out = which == NVTX_CORE ? nvtx_core : nvtx_core2;
	*n_out = which == NVTX_CORE ? 16 : 15;
	return 1;
}

static const void *nvtx_get(uint32_t which)
{
	static const struct nvtx_callbacks callbacks = {sizeof(callbacks), nvtx_module_table};

	return which == NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

static void nvtx_load(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*begin)(nvtx_export_table *);

	if (!library)
		return;
	*(void **)&begin = dlsym(library, "InitializeInjectionNvtx2");
	if (!begin || begin(nvtx_get) != 1)
		fputs("NVTX: not taken\n", stderr);
}

static uint64_t nvtx_id;

static void nvtx_marks_before(unsigned round)
{
	struct nvtx_attributes mark = {
		.version = 3, .size = sizeof(mark), .message_type = NVTX_MESSAGE_REGISTERED};

	if (!round)
		nvtx_load();
	if (round % 2 == 0 && nvtx_start)
		nvtx_id = nvtx_start("pair");
	if (round % 2 && nvtx_push && nvtx_string) {
		mark.message = nvtx_string(NULL, "inner");
		if (nvtx_push(NULL, &mark) != 0)
			fputs("NVTX: a wrong level\n", stderr);
	}
}

static void nvtx_marks_after(unsigned round)
{
	if (round % 2 && nvtx_pop && nvtx_end) {
		nvtx_pop(NULL);
		nvtx_end(nvtx_id);
	}
}

#endif
