/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool that misuses rocprofiler-sdk in the way MISUSE names and prints what each call returned.
 * Preloaded into a program that launches the same kernel twice and calls probe_middle before the
 * second. Its output on the real SDK 1.0.0 is tests/golden/rocm/probe.txt; the stand-in has to
 * print the same. Counters and handles are not compared, so they are not printed.
 */
#include "source/rocm/rocm_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define POINTER(name, args) static uint32_t(*name) args;
ROCP_FUNCTIONS(POINTER, POINTER)
static const char *(*rocprofiler_get_status_name)(uint32_t status);
static uint32_t (*rocprofiler_configure_device_counting_service)(uint64_t context, uint64_t buffer,
								 uint64_t agent, void *callback,
								 void *data);

static const char *misuse = "none";
static uint64_t context, second, gpu, cpu, other_gpu, config, waves, cycles, others;
static uint64_t sq[16];
static unsigned n_sq, n_records, n_dispatches, n_values;
static rocp_client_finalize finalize_tool;

static int is(const char *name)
{
	return !strcmp(misuse, name);
}

static void say(const char *what, uint32_t status)
{
	const char *name = rocprofiler_get_status_name(status);
	printf("%s -> %u %s\n", what, status, name ? name + strlen("ROCPROFILER_STATUS_") : "?");
}
#define SAY(call) say(#call, (call))

static uint32_t on_agents(uint32_t version, const void **agents, size_t n, void *data)
{
	(void)version, (void)data;
	for (size_t i = 0; i < n; i++) {
		const struct rocp_agent *a = agents[i];
		if (a->type != ROCP_AGENT_GPU)
			cpu = a->id;
		else if (!gpu)
			gpu = a->id;
		else
			other_gpu = a->id;
	}
	return ROCP_OK;
}

static uint32_t on_counters(uint64_t agent, uint64_t *counters, size_t n, void *data)
{
	struct rocp_counter_info_v0 info;
	(void)data;
	for (size_t i = 0; i < n; i++) {
		if (rocprofiler_query_counter_info(counters[i], ROCP_COUNTER_INFO_VERSION_0, &info))
			continue;
		if (agent != gpu) {
			others = counters[i];
			continue;
		}
		if (!strcmp(info.name, "SQ_WAVES"))
			waves = counters[i];
		if (!strcmp(info.name, "GRBM_COUNT"))
			cycles = counters[i];
		if (!strncmp(info.name, "SQ_INSTS_", 9) && n_sq < 16 && !info.expression[0])
			sq[n_sq++] = counters[i];
	}
	return ROCP_OK;
}

static void on_dispatch(struct rocp_dispatch_data data, uint64_t *config_out,
			union rocp_user_data *user, void *arg)
{
	(void)data, (void)user, (void)arg;
	n_dispatches++;
	*config_out = config;
	if (is("bad handle"))
		*config_out = 4242;
	if (is("destroyed"))
		SAY(rocprofiler_destroy_counter_config(config));
	if (is("other agent"))
		*config_out = second;
	if (is("config in callback") && n_dispatches == 1) {
		uint64_t made = 0;
		SAY(rocprofiler_create_counter_config(gpu, &cycles, 1, &made));
		*config_out = made;
	}
	if (is("none chosen"))
		*config_out = 0;
	if (is("stop in callback"))
		SAY(rocprofiler_stop_context(context));
}

static void on_record(struct rocp_dispatch_data data, struct rocp_counter_record *records, size_t n,
		      union rocp_user_data user, void *arg)
{
	(void)data, (void)records, (void)user, (void)arg;
	n_records++;
	n_values += (unsigned)n;
	if (is("stop in record"))
		SAY(rocprofiler_stop_context(context));
}

static void on_trace(struct rocp_tracing_record record, union rocp_user_data *user, void *arg)
{
	const struct rocp_kernel_symbol *k = record.payload;
	(void)user, (void)arg;
	if (is("none") && record.operation == ROCP_KERNEL_SYMBOL &&
	    record.phase == ROCP_PHASE_ENTER && !strcmp(k->name, "accumulate.kd"))
		printf("kernel %s, size %llu\n", k->name, (unsigned long long)k->size);
}

static void on_buffer(uint64_t c, uint64_t buffer, struct rocp_record_header **headers, size_t n,
		      void *data, uint64_t dropped)
{
	(void)c, (void)buffer, (void)headers, (void)n, (void)data, (void)dropped;
}

static void on_table(uint32_t kind, uint64_t version, uint64_t instance, void **tables, uint64_t n,
		     void *data)
{
	(void)kind, (void)version, (void)instance, (void)tables, (void)n, (void)data;
}

static uint32_t count_in(uint64_t c)
{
	return rocprofiler_configure_callback_dispatch_counting_service(c, on_dispatch, NULL,
									on_record, NULL);
}

static uint32_t count_device(void)
{
	return rocprofiler_configure_device_counting_service(context, 0, gpu,
							     (void *)(uintptr_t)on_table, NULL);
}

static uint32_t trace_code(void)
{
	return rocprofiler_configure_callback_tracing_service(context, ROCP_TRACING_CODE_OBJECT,
							      NULL, 0, on_trace, NULL);
}

static uint32_t make(uint64_t agent, uint64_t *list, size_t n, uint64_t start_from)
{
	uint64_t made = start_from;
	return rocprofiler_create_counter_config(agent, list, n, &made);
}

static void misuse_configs(void)
{
	uint64_t unknown = 0xfffe, made = 0;
	if (is("configs")) {
		say("8 SQ counters", make(gpu, sq, 8, 0));
		say("9 SQ counters", rocprofiler_create_counter_config(gpu, sq, 9, &made));
		printf("handle %s\n", made ? "written" : "untouched");
		say("no counters", make(gpu, NULL, 0, 0));
		say("unknown agent", make(77, &waves, 1, 0));
		say("unknown counter", make(gpu, &unknown, 1, 0));
		say("agent CPU", make(cpu, &waves, 1, 0));
		say("counters of the CPU",
		    rocprofiler_iterate_agent_supported_counters(cpu, on_counters, NULL));
		if (other_gpu)
			say("another agent's counter", make(gpu, &others, 1, 0));
	}
	if (is("extend"))
		say("onto a valid handle",
		    rocprofiler_create_counter_config(gpu, &cycles, 1, &config));
	if (is("rubbish handle"))
		say("onto a rubbish handle", make(gpu, &cycles, 1, 0xdeadbeef));
}

static int initialize(rocp_client_finalize finalize, void *data)
{
	(void)data;
	finalize_tool = finalize;
	SAY(rocprofiler_create_context(&context));
	rocprofiler_query_available_agents(ROCP_AGENT_VERSION_0, on_agents,
					   sizeof(struct rocp_agent), NULL);
	if (other_gpu)
		rocprofiler_iterate_agent_supported_counters(other_gpu, on_counters, NULL);
	rocprofiler_iterate_agent_supported_counters(gpu, on_counters, NULL);
	SAY(rocprofiler_create_counter_config(gpu, &waves, 1, &config));
	if (is("agents")) {
		say("version 0", rocprofiler_query_available_agents(
					 0, on_agents, sizeof(struct rocp_agent), NULL));
		say("too large", rocprofiler_query_available_agents(
					 1, on_agents, sizeof(struct rocp_agent) + 8, NULL));
	}
	if (is("context not zero")) {
		uint64_t five = 5, again = context;
		SAY(rocprofiler_create_context(&five));
		SAY(rocprofiler_create_context(&again));
	}
	misuse_configs();
	if (is("other agent"))
		say("a configuration of the other agent",
		    rocprofiler_create_counter_config(other_gpu, &others, 1, &second));
	if (is("device first"))
		say("device counting", count_device());
	if (is("unknown context"))
		say("counting in an unknown context", count_in(7));
	say("code object tracing", trace_code());
	if (is("tracing twice"))
		say("code object tracing", trace_code());
	if (!is("late"))
		say("dispatch counting", count_in(context));
	if (is("device second"))
		say("device counting", count_device());
	if (is("counting twice"))
		say("dispatch counting", count_in(context));
	if (is("two contexts")) {
		SAY(rocprofiler_create_context(&second));
		say("dispatch counting", count_in(second));
	}
	SAY(rocprofiler_start_context(context));
	if (is("two contexts"))
		SAY(rocprofiler_start_context(second));
	if (is("start and stop twice")) {
		SAY(rocprofiler_start_context(context));
		SAY(rocprofiler_stop_context(context));
		SAY(rocprofiler_stop_context(context));
		SAY(rocprofiler_start_context(context));
	}
	int active = 9;
	SAY(rocprofiler_context_is_active(context, &active));
	printf("active %d\n", active);
	return is("initialize fails") ? -1 : 0;
}

static void finalize(void *data)
{
	(void)data;
	if (is("in finalize")) {
		uint64_t made = 0, new_context = 0;
		SAY(rocprofiler_stop_context(context));
		SAY(rocprofiler_start_context(context));
		SAY(rocprofiler_create_context(&new_context));
		SAY(rocprofiler_create_counter_config(gpu, &waves, 1, &made));
	}
	printf("dispatches %u, records %u, values %u\n", n_dispatches, n_records, n_values);
	fflush(stdout);
}

EXPORT void probe_middle(void);
void probe_middle(void)
{
	if (is("late")) {
		uint64_t buffer = 0, made = 0, new_context = 0;
		say("dispatch counting", count_in(context));
		SAY(rocprofiler_start_context(context));
		SAY(rocprofiler_create_context(&new_context));
		say("a buffer", rocprofiler_create_buffer(context, 4096, 2048, ROCP_BUFFER_LOSSLESS,
							  on_buffer, NULL, &buffer));
		say("code object tracing", trace_code());
		say("tables",
		    rocprofiler_at_intercept_table_registration(on_table, ROCP_TABLE_HSA, NULL));
		SAY(rocprofiler_create_counter_config(gpu, &cycles, 1, &made));
	}
	if (is("stop between")) {
		usleep(300000); /* the end of the first is still being handled, and the queue hangs
				 */
		SAY(rocprofiler_stop_context(context));
		SAY(rocprofiler_start_context(context));
	}
	if (is("explicit end")) {
		int is_finalized = 0;
		finalize_tool((struct rocp_client_id){sizeof(struct rocp_client_id), "probe", 0});
		rocprofiler_is_finalized(&is_finalized);
		printf("finalized %d\n", is_finalized);
	}
}

EXPORT struct rocp_configure_result *rocprofiler_configure(uint32_t version, const char *text,
							   uint32_t priority,
							   struct rocp_client_id *id);
struct rocp_configure_result *rocprofiler_configure(uint32_t version, const char *text,
						    uint32_t priority, struct rocp_client_id *id)
{
	static struct rocp_configure_result result = {.initialize = initialize,
						      .finalize = finalize};
	(void)text, (void)priority;
	if (getenv("MISUSE"))
		misuse = getenv("MISUSE");
	setvbuf(stdout, NULL, _IOLBF, 0);
	id->name = "probe";
	if (version / 10000 != 1 || is("no result"))
		return NULL;
#define FIND(name, args) *(void **)&name = dlsym(RTLD_DEFAULT, #name);
	ROCP_FUNCTIONS(FIND, FIND)
	FIND(rocprofiler_get_status_name, )
	FIND(rocprofiler_configure_device_counting_service, )
	result.size = is("size 0") ? 0 : sizeof result;
	return &result;
}
