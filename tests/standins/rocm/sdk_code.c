/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects and kernel symbols as the SDK announces them, and rocTX's calls. */
#include "sdk_standin.h"

#include <stdlib.h>
#include <string.h>

struct kernel {
	struct kernel *next;
	struct rocp_kernel_symbol symbol;
	uint64_t executable;
	char name[];
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels;
static uint64_t n_kernels, n_objects;
static uint32_t (*next_freeze)(uint64_t executable, const char *options);
static uint32_t (*next_destroy)(uint64_t executable);

uint64_t code_kernel_id(uint64_t kernel_object)
{
	uint64_t id = 0;
	pthread_mutex_lock(&lock);
	for (const struct kernel *k = kernels; k && !id; k = k->next)
		if (k->symbol.kernel_object == kernel_object)
			id = k->symbol.kernel_id;
	pthread_mutex_unlock(&lock);
	return id;
}

static void announce(const struct rocp_kernel_symbol *symbol, uint32_t phase)
{
	struct {
		struct rocp_kernel_symbol symbol;
		uint8_t more[48]; /* RETALLY_T0_MUTATE=sizes */
	} payload = {.symbol = *symbol};
	if (t0_config()->mutate & T0_SIZES) {
		payload.symbol.size = sizeof payload;
		memset(payload.more, 0xee, sizeof payload.more);
	}
	trace(ROCP_TRACING_CODE_OBJECT, ROCP_KERNEL_SYMBOL, phase, &payload);
}

struct loading {
	uint64_t executable, object;
};

static uint32_t add_symbol(uint64_t executable, uint64_t agent, uint64_t symbol, void *data)
{
	const struct loading *l = data;
	uint32_t kind = 0, length = 0;
	(void)agent;
	sdk_core.hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_TYPE, &kind);
	if (kind != HSA_SYMBOL_KERNEL)
		return HSA_OK;
	sdk_core.hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_NAME_LENGTH, &length);
	struct kernel *k = calloc(1, sizeof *k + length + 1);
	if (!k)
		return HSA_OUT_OF_RESOURCES;
	sdk_core.hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_NAME, k->name);
	struct rocp_kernel_symbol *s = &k->symbol;
	*s = (struct rocp_kernel_symbol){.size = sizeof *s,
					 .code_object_id = l->object,
					 .name = k->name,
					 .sgpr_count = 16,
					 .arch_vgpr_count = 8,
					 .accum_vgpr_count = 4};
	sdk_core.hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_KERNEL_OBJECT,
						&s->kernel_object);
	sdk_core.hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_KERNARG_SIZE,
						&s->kernarg_segment_size);
	sdk_core.hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_KERNARG_ALIGNMENT,
						&s->kernarg_segment_alignment);
	sdk_core.hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_GROUP_SIZE,
						&s->group_segment_size);
	k->executable = executable;
	pthread_mutex_lock(&lock);
	s->kernel_id = ++n_kernels;
	k->next = kernels;
	kernels = k;
	pthread_mutex_unlock(&lock);
	announce(s, ROCP_PHASE_ENTER);
	return HSA_OK;
}

static uint32_t freeze(uint64_t executable, const char *options)
{
	uint32_t status = next_freeze(executable, options);
	if (status != HSA_OK)
		return status;
	if (!sdk_agents[0].hsa)
		agents_match();
	for (unsigned i = 0; i < sdk_n_agents; i++) {
		struct loading l = {executable,
				    __atomic_add_fetch(&n_objects, 1, __ATOMIC_RELAXED)};
		struct rocp_code_object object = {.size = sizeof object,
						  .code_object_id = l.object,
						  .agent = sdk_agents[i].public->id,
						  .hsa_agent = sdk_agents[i].hsa,
						  .uri = "memory://model",
						  .storage_type = 2};
		if (sdk_agents[i].public->type != ROCP_AGENT_GPU)
			continue;
		trace(ROCP_TRACING_CODE_OBJECT, ROCP_CODE_OBJECT_LOAD, ROCP_PHASE_ENTER, &object);
		sdk_core.hsa_executable_iterate_agent_symbols(executable, sdk_agents[i].hsa,
							      add_symbol, &l);
	}
	return HSA_OK;
}

static uint32_t destroy(uint64_t executable)
{
	pthread_mutex_lock(&lock);
	struct kernel *gone = NULL;
	for (struct kernel **k = &kernels; *k;) {
		struct kernel *it = *k;
		if (it->executable != executable) {
			k = &it->next;
			continue;
		}
		*k = it->next;
		it->next = gone;
		gone = it;
	}
	pthread_mutex_unlock(&lock);
	while (gone) {
		struct kernel *next = gone->next;
		announce(&gone->symbol, ROCP_PHASE_EXIT);
		memset(gone->name, '?', strlen(gone->name)); /* whoever kept the pointer sees it */
		gone = next;                                 /* and it stays, for that */
	}
	return next_destroy(executable);
}

void code_patch(struct hsa_core_table *core)
{
	next_freeze = core->hsa_executable_freeze;
	next_destroy = core->hsa_executable_destroy;
	core->hsa_executable_freeze = freeze;
	core->hsa_executable_destroy = destroy;
}

/* ---- rocTX: core and control tables ---- */

static struct roctx_core_table roctx;
static struct roctx_control_table control;

static void around(uint32_t kind, int32_t operation, uint32_t phase, const char *message,
		   uint64_t number, int32_t level)
{
	struct {
		struct rocp_marker_data data;
		uint8_t more[32]; /* RETALLY_T0_MUTATE=sizes */
	} p = {.data = {.size = sizeof p.data}};
	if (t0_config()->mutate & T0_SIZES)
		p.data.size = sizeof p;
	if (message)
		p.data.args.message = message;
	else
		p.data.args.range_id = number;
	if (phase == ROCP_PHASE_EXIT) {
		if (operation == ROCP_MARKER_RANGE_START)
			p.data.result.range_id = number;
		else
			p.data.result.level = level;
	}
	trace(kind, operation, phase, &p);
}

static void mark(const char *message)
{
	around(ROCP_TRACING_MARKER_CORE_API, ROCP_MARKER_MARK, ROCP_PHASE_ENTER, message, 0, 0);
	roctx.mark(message);
	around(ROCP_TRACING_MARKER_CORE_API, ROCP_MARKER_MARK, ROCP_PHASE_EXIT, message, 0, 0);
}

static int push(const char *message)
{
	int32_t op = ROCP_MARKER_RANGE_PUSH;
	around(ROCP_TRACING_MARKER_CORE_API, op, ROCP_PHASE_ENTER, message, 0, 0);
	int level = roctx.range_push(message);
	around(ROCP_TRACING_MARKER_CORE_API, op, ROCP_PHASE_EXIT, message, 0, level);
	return level;
}

static int pop(void)
{
	int32_t op = ROCP_MARKER_RANGE_POP;
	around(ROCP_TRACING_MARKER_CORE_API, op, ROCP_PHASE_ENTER, NULL, 0, 0);
	int level = roctx.range_pop();
	around(ROCP_TRACING_MARKER_CORE_API, op, ROCP_PHASE_EXIT, NULL, 0, level);
	return level;
}

static uint64_t start(const char *message)
{
	int32_t op = ROCP_MARKER_RANGE_START;
	around(ROCP_TRACING_MARKER_CORE_API, op, ROCP_PHASE_ENTER, message, 0, 0);
	uint64_t id = roctx.range_start(message);
	around(ROCP_TRACING_MARKER_CORE_API, op, ROCP_PHASE_EXIT, message, id, 0);
	return id;
}

static void stop(uint64_t id)
{
	int32_t op = ROCP_MARKER_RANGE_STOP;
	around(ROCP_TRACING_MARKER_CORE_API, op, ROCP_PHASE_ENTER, NULL, id, 0);
	roctx.range_stop(id);
	around(ROCP_TRACING_MARKER_CORE_API, op, ROCP_PHASE_EXIT, NULL, id, 0);
}

static int pause_profiler(uint64_t id)
{
	around(ROCP_TRACING_MARKER_CONTROL_API, ROCP_MARKER_PAUSE, ROCP_PHASE_ENTER, NULL, id, 0);
	int status = control.pause(id);
	around(ROCP_TRACING_MARKER_CONTROL_API, ROCP_MARKER_PAUSE, ROCP_PHASE_EXIT, NULL, id, 0);
	return status;
}

static int resume_profiler(uint64_t id)
{
	around(ROCP_TRACING_MARKER_CONTROL_API, ROCP_MARKER_RESUME, ROCP_PHASE_ENTER, NULL, id, 0);
	int status = control.resume(id);
	around(ROCP_TRACING_MARKER_CONTROL_API, ROCP_MARKER_RESUME, ROCP_PHASE_EXIT, NULL, id, 0);
	return status;
}

void roctx_patch(void **tables, uint64_t n)
{
	struct roctx_core_table *t = tables[0];
	roctx = *t;
	t->mark = mark;
	t->range_push = push;
	t->range_pop = pop;
	t->range_start = start;
	t->range_stop = stop;
	if (n < 2)
		return;
	struct roctx_control_table *c = tables[1];
	control = *c;
	c->pause = pause_profiler;
	c->resume = resume_profiler;
}
