/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What our own code costs on AMD GPUs, for each dispatch and pass: runtime/hsa, source/rocm and the
 * engine over an HSA runtime and an SDK that cost nothing. A packet that gets to the device is done
 * at once, and its records are there before the writer returns. Beside it a plain loop over the
 * same device, which counts each dispatch and does nothing else. The target is at most 3 us.
 */
#include "replay/replay.h"
#include "runtime/hsa/hsa_runtime.h"
#include "runtime/hsa/hsa_tables.h"
#include "source/rocm/rocm_device.h"
#include "source/rocm/rocm_tool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DISPATCHES 50000u
#define PASSES     13u
#define COUNTERS   9u /* of a pass, each with 8 instances */
#define INSTANCES  8u
#define BYTES      4096u

#define EXPORT __attribute__((visibility("default")))

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* the machine may be busy */
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- an SDK that costs nothing ---- */

static rocp_dispatch_callback on_dispatch;
static rocp_record_callback on_records;
static rocp_tracing_callback on_tracing;
static rocp_table_callback on_table;
static char names[PASSES * COUNTERS][16];
static uint64_t next_config;

#define SDK(name, args)            \
	EXPORT uint32_t name args; \
	EXPORT uint32_t name args

SDK(rocprofiler_get_version, (uint32_t * a, uint32_t *b, uint32_t *c))
{
	*a = 1;
	*b = *c = 0;
	return 0;
}
SDK(rocprofiler_create_context, (uint64_t * context))
{
	*context = 1;
	return 0;
}
SDK(rocprofiler_start_context, (uint64_t context))
{
	(void)context;
	return 0;
}
SDK(rocprofiler_stop_context, (uint64_t context))
{
	(void)context;
	return 0;
}
SDK(rocprofiler_context_is_active, (uint64_t context, int *active))
{
	(void)context;
	*active = 1;
	return 0;
}
SDK(rocprofiler_query_available_agents,
    (uint32_t version, rocp_agents_callback callback, size_t size, void *data))
{
	static struct rocp_agent a = {
		.size = sizeof(a), .id = 9, .type = ROCP_AGENT_GPU, .name = "gfx90a", .node_id = 1};
	const void *all[] = {&a};

	(void)size;
	return callback(version, all, 1, data);
}
SDK(rocprofiler_iterate_agent_supported_counters,
    (uint64_t agent, rocp_counters_callback callback, void *data))
{
	static uint64_t ids[PASSES * COUNTERS];

	for (uint64_t i = 0; i < PASSES * COUNTERS; i++)
		ids[i] = i + 1;
	return callback(agent, ids, PASSES * COUNTERS, data);
}
SDK(rocprofiler_query_counter_info, (uint64_t counter, uint32_t version, void *out))
{
	static const struct rocp_dimension_info d = {"DIMENSION_INSTANCE", INSTANCES, 1};
	static const struct rocp_dimension_info *const dimensions[] = {&d};
	struct rocp_counter_info_v1 info = {
		.size = sizeof(info), .id = counter, .name = names[counter - 1], .n_dimensions = 1};

	(void)version;
	info.dimensions = (const struct rocp_dimension_info **)(uintptr_t)dimensions;
	memcpy(out, &info, sizeof(info));
	return 0;
}
SDK(rocprofiler_query_record_counter_id, (uint64_t record, uint64_t *counter))
{
	*counter = record >> 8;
	return 0;
}
SDK(rocprofiler_query_record_dimension_position,
    (uint64_t record, uint64_t dimension, size_t *position))
{
	(void)dimension;
	*position = record & 0xff;
	return 0;
}
SDK(rocprofiler_create_counter_config,
    (uint64_t agent, uint64_t *counters, size_t n, uint64_t *config))
{
	(void)agent, (void)n;
	next_config++;
	*config = counters[0]; /* the first of nine that follow each other */
	return 0;
}
SDK(rocprofiler_destroy_counter_config, (uint64_t config))
{
	(void)config;
	return 0;
}
SDK(rocprofiler_configure_callback_dispatch_counting_service,
    (uint64_t context, rocp_dispatch_callback dispatch, void *a, rocp_record_callback record,
     void *b))
{
	(void)context, (void)a, (void)b;
	on_dispatch = dispatch;
	on_records = record;
	return 0;
}
SDK(rocprofiler_configure_callback_tracing_service,
    (uint64_t context, uint32_t kind, const int32_t *operations, size_t n,
     rocp_tracing_callback callback, void *arg))
{
	(void)context, (void)kind, (void)operations, (void)n, (void)arg;
	on_tracing = callback;
	return 0;
}
SDK(rocprofiler_at_intercept_table_registration,
    (rocp_table_callback callback, int kinds, void *data))
{
	(void)kinds, (void)data;
	on_table = callback;
	return 0;
}

/* ---- a device that is done at once ---- */

static hsa_packet_handler handler;
static void *handler_data;
static struct hsa_queue queue = {.size = 4096};

static void do_packet(const struct hsa_kernel_packet *p)
{
	struct rocp_dispatch_data data = {.size = sizeof(data)};
	struct rocp_counter_record records[COUNTERS * INSTANCES];
	struct hsa_signal_body *done = (void *)(uintptr_t)p->completion;
	union rocp_user_data user = {0};
	uint64_t config = 0;

	on_dispatch(data, &config, &user, NULL);
	for (uint32_t i = 0; config && i < COUNTERS * INSTANCES; i++) {
		records[i].id = (config + i / INSTANCES) << 8 | i % INSTANCES;
		records[i].value = i;
	}
	if (config)
		on_records(data, records, COUNTERS * INSTANCES, user, NULL);
	if (done)
		done->value--;
}

static void writer(const void *packets, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		do_packet((const struct hsa_kernel_packet *)packets + i);
}

static uint32_t agent_info(uint64_t agent, uint32_t attribute, void *out)
{
	uint32_t value = attribute == HSA_AGENT_DEVICE ? agent == 2 : 1;

	memcpy(out, &value, sizeof(value));
	return 0;
}
static uint32_t agents(uint32_t (*callback)(uint64_t agent, void *data), void *data)
{
	callback(1, data);
	return callback(2, data);
}
static uint32_t pools(uint64_t agent, uint32_t (*callback)(uint64_t pool, void *data), void *data)
{
	callback(agent, data);
	return agent == 1 ? callback(3, data) : 0;
}
static uint32_t pool_info(uint64_t pool, uint32_t attribute, void *out)
{
	uint32_t flags = pool == 2   ? HSA_POOL_COARSE_GRAINED
			 : pool == 3 ? HSA_POOL_KERNARG
				     : HSA_POOL_FINE_GRAINED;

	if (attribute == HSA_POOL_ALLOC_ALLOWED)
		*(bool *)out = true;
	else
		*(uint32_t *)out = attribute == HSA_POOL_GLOBAL_FLAGS ? flags : HSA_SEGMENT_GLOBAL;
	return 0;
}
static uint32_t pool_allocate(uint64_t pool, size_t bytes, uint32_t flags, void **out)
{
	(void)pool, (void)flags;
	*out = calloc(1, bytes);
	return *out ? 0 : HSA_OUT_OF_RESOURCES;
}
static uint32_t pool_free(void *p)
{
	free(p);
	return 0;
}
static uint32_t allow(uint32_t n, const uint64_t *all, const uint32_t *flags, const void *p)
{
	(void)n, (void)all, (void)flags, (void)p;
	return 0;
}
static uint32_t pointer_info(const void *p, struct hsa_pointer_info *out, void *(*alloc)(size_t),
			     uint32_t *n, uint64_t **accessible)
{
	(void)p, (void)alloc, (void)n, (void)accessible;
	out->type = HSA_ADDRESS_HSA;
	out->owner = 2;
	out->global_flags = HSA_POOL_COARSE_GRAINED;
	return 0;
}
static uint32_t copy(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	return 0;
}
static uint32_t signal_create(int64_t value, uint32_t n, const uint64_t *consumers, uint64_t *out)
{
	struct hsa_signal_body *s = calloc(1, sizeof(*s));

	(void)n, (void)consumers;
	if (!s)
		return HSA_OUT_OF_RESOURCES;
	s->value = value;
	*out = (uint64_t)(uintptr_t)s;
	return 0;
}
static uint32_t signal_destroy(uint64_t signal)
{
	free((void *)(uintptr_t)signal);
	return 0;
}
static void signal_store(uint64_t signal, int64_t value)
{
	((struct hsa_signal_body *)(uintptr_t)signal)->value = value;
}
/* The program's queue, which is never read, and the one that passes outside a handler go into. */
static struct hsa_packet ring[1024];
static uint64_t written;
static struct hsa_queue own = {.size = 1024, .base = ring, .doorbell = 7};

static uint64_t load_index(const struct hsa_queue *q)
{
	(void)q;
	return written;
}
static uint64_t add_index(const struct hsa_queue *q, uint64_t n)
{
	(void)q;
	written += n;
	return written - n;
}
/* The thread that calls handlers: of one signal at a time, which is all that anybody wants here. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool runs, due;
	uint64_t signal;
	hsa_signal_handler handler;
	void *data;
} events = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *call_handlers(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&events.lock);
	for (;;) {
		hsa_signal_handler call = events.handler;
		void *data = events.data;

		if (!events.due) {
			pthread_cond_wait(&events.changed, &events.lock);
			continue;
		}
		events.due = false;
		pthread_mutex_unlock(&events.lock);
		(void)call(0, data);
		pthread_mutex_lock(&events.lock);
	}
	return NULL;
}
static uint32_t async_handler(uint64_t signal, uint32_t condition, int64_t value,
			      hsa_signal_handler call, void *data)
{
	pthread_t thread;

	(void)condition, (void)value;
	if (!events.runs && pthread_create(&thread, NULL, call_handlers, NULL))
		return HSA_OUT_OF_RESOURCES;
	events.runs = true;
	pthread_mutex_lock(&events.lock);
	events.signal = signal;
	events.handler = call;
	events.data = data;
	pthread_mutex_unlock(&events.lock);
	return 0;
}
static void store_or_ring(uint64_t signal, int64_t value)
{
	bool due;

	if (signal == own.doorbell) {
		writer(&ring[(uint64_t)value % 1024], 1);
		return;
	}
	signal_store(signal, value);
	pthread_mutex_lock(&events.lock);
	due = events.due |= signal == events.signal;
	pthread_mutex_unlock(&events.lock);
	if (due) /* the thread does not find the lock taken */
		pthread_cond_signal(&events.changed);
}
static uint32_t queue_destroy(struct hsa_queue *q)
{
	(void)q;
	return 0;
}
static uint32_t queue_create(uint64_t agent, uint32_t size, uint32_t type,
			     hsa_queue_callback callback, void *data, uint32_t a, uint32_t b,
			     struct hsa_queue **out)
{
	(void)agent, (void)size, (void)type, (void)callback, (void)data, (void)a, (void)b;
	*out = handler ? &own : &queue;
	return 0;
}
static uint32_t intercept(struct hsa_queue *q, hsa_packet_handler h, void *data)
{
	(void)q;
	handler = h;
	handler_data = data;
	return 0;
}

static struct hsa_core_table core = {
	.version = {HSA_CORE_TABLE_MAJOR, sizeof(core), 0, 0},
	.hsa_agent_get_info = agent_info,
	.hsa_iterate_agents = agents,
	.hsa_queue_create = queue_create,
	.hsa_queue_destroy = queue_destroy,
	.hsa_queue_load_read_index_scacquire = load_index,
	.hsa_queue_load_write_index_relaxed = load_index,
	.hsa_queue_add_write_index_relaxed = add_index,
	.hsa_signal_store_screlease = store_or_ring,
	.hsa_memory_copy = copy,
	.hsa_signal_create = signal_create,
	.hsa_signal_destroy = signal_destroy,
	.hsa_signal_store_relaxed = signal_store,
};
static struct hsa_amd_table amd = {
	.version = {HSA_AMD_TABLE_MAJOR, sizeof(amd), 0, 0},
	.hsa_amd_agent_iterate_memory_pools = pools,
	.hsa_amd_memory_pool_get_info = pool_info,
	.hsa_amd_memory_pool_allocate = pool_allocate,
	.hsa_amd_memory_pool_free = pool_free,
	.hsa_amd_agents_allow_access = allow,
	.hsa_amd_pointer_info = pointer_info,
	.hsa_amd_queue_intercept_register = intercept,
	.hsa_amd_signal_async_handler = async_handler,
};
static struct hsa_api_table api = {
	.version = {HSA_API_TABLE_MAJOR, sizeof(api), 0, 0}, .core = &core, .amd = &amd};

/* ---- the two loops ---- */

static struct replay *replay;
static bool alone;

static bool use(void)
{
	return true;
}
static void say(const char *text)
{
	fprintf(stderr, "%s\n", text);
}
static void say_data(void *data, const char *text)
{
	(void)data;
	say(text);
}
static int append(void *data, enum spool_type type, const void *a, size_t na, const void *b,
		  size_t nb, struct error *err)
{
	(void)type, (void)a, (void)na, (void)b, (void)nb, (void)err;
	if (type == SPOOL_SAMPLES)
		++*(uint64_t *)data;
	return 0;
}
static void take_tables(void *data, void **tables, uint64_t n)
{
	struct runtime_hsa_options options = {
		.source = &source_rocm, .use = use, .say = say, .alone = alone};
	struct error err = {0};

	(void)data;
	if (runtime_hsa_attach(replay, tables, n, &options, &err))
		say(err.message);
}

static void make_plan(struct plan *plan)
{
	static struct plan_counter counters[PASSES * COUNTERS];
	static uint32_t indices[PASSES][COUNTERS];
	static struct plan_pass passes[PASSES];

	for (uint32_t i = 0; i < PASSES * COUNTERS; i++) {
		snprintf(names[i], sizeof(names[i]), "C%u", i);
		counters[i] = (struct plan_counter){names[i], "rocm", "", "count", 0, ""};
		indices[i / COUNTERS][i % COUNTERS] = i;
	}
	for (uint32_t i = 0; i < PASSES; i++)
		passes[i] = (struct plan_pass){COUNTERS, indices[i], "", ""};
	*plan = (struct plan){.chip = "gfx90a",
			      .n_counters = PASSES * COUNTERS,
			      .counters = counters,
			      .n_passes = PASSES,
			      .passes = passes};
}

static double plain_records;
static void plain_dispatch(struct rocp_dispatch_data data, uint64_t *config,
			   union rocp_user_data *user, void *arg)
{
	(void)data, (void)user, (void)arg;
	*config = 1;
}
static void plain_counted(struct rocp_dispatch_data data, struct rocp_counter_record *records,
			  size_t n, union rocp_user_data user, void *arg)
{
	(void)data, (void)user, (void)arg;
	for (size_t i = 0; i < n; i++)
		plain_records += records[i].value;
}

static double plain_loop(struct hsa_kernel_packet *p)
{
	rocp_dispatch_callback dispatch = on_dispatch;
	rocp_record_callback counted = on_records;
	uint64_t begin = now();

	on_dispatch = plain_dispatch;
	on_records = plain_counted;
	for (uint32_t i = 0; i < DISPATCHES * PASSES; i++)
		writer(p, 1);
	on_dispatch = dispatch;
	on_records = counted;
	return (double)(now() - begin) / (DISPATCHES * PASSES);
}

int main(int argc, char **argv)
{
	struct rocm_tool_hooks hooks = {.tables = take_tables, .say = say_data, .tell = say_data};
	struct rocp_client_id id = {.size = sizeof(id)};
	struct rocp_configure_result *result;
	struct replay_options options = {.mode = REPLAY_MODE_WINDOW};
	struct rocp_kernel_symbol symbol = {.size = sizeof(symbol),
					    .kernel_id = 1,
					    .name = "kernel.kd",
					    .kernel_object = 0x1000,
					    .kernarg_segment_size = 16};
	struct rocp_tracing_record record = {.kind = ROCP_TRACING_CODE_OBJECT,
					     .operation = ROCP_KERNEL_SYMBOL,
					     .phase = ROCP_PHASE_ENTER,
					     .payload = &symbol};
	struct hsa_kernel_packet p = {.header = HSA_PACKET_KERNEL,
				      .setup = 1,
				      .workgroup = {64, 1, 1},
				      .grid = {1024, 1, 1},
				      .kernel_object = 0x1000};
	void *tables[] = {&api}, *buffer, *arguments[2] = {0};
	struct hsa_queue *q;
	uint64_t samples = 0, begin;
	struct error err = {0};
	struct plan plan;
	double plain, ours;

	alone = argc > 1 && !strcmp(argv[1], "kernel");
	options.mode = alone ? REPLAY_MODE_KERNEL : REPLAY_MODE_WINDOW;
	make_plan(&plan);
	if (replay_open(&replay, &options, &plan, append, &samples, &err) ||
	    rocm_tool_configure(10000, "1.0.0", &id, &hooks, &result, &err)) {
		say(err.message);
		return 1;
	}
	result->initialize(NULL, NULL);
	on_table(ROCP_TABLE_HSA, 11800, 0, tables, 1, NULL);
	on_tracing(record, NULL, NULL);
	core.hsa_queue_create(2, 4096, 0, NULL, NULL, 0, 0, &q);
	amd.hsa_amd_memory_pool_allocate(2, BYTES, 0, &buffer);
	arguments[0] = buffer;
	p.kernarg = arguments;
	plain = plain_loop(&p);
	begin = now();
	for (uint32_t i = 0; i < DISPATCHES; i++)
		handler(&p, 1, i, handler_data, writer);
	runtime_hsa_detach();
	ours = (double)(now() - begin) / (DISPATCHES * PASSES);
	replay_close(replay);
	runtime_hsa_release();
	printf("hsa and rocm, %s: %.2f us a dispatch and pass of CPU time, a plain loop %.2f us: "
	       "%.2f us are "
	       "ours "
	       "(target: 3), %u dispatches, %u passes of %u records\n",
	       alone ? "kernel" : "window", ours / 1e3, plain / 1e3, (ours - plain) / 1e3,
	       DISPATCHES, PASSES, COUNTERS * INSTANCES);
	if (samples != (uint64_t)DISPATCHES * PASSES)
		fprintf(stderr, "only %llu of %u were counted\n", (unsigned long long)samples,
			DISPATCHES * PASSES);
	return samples != (uint64_t)DISPATCHES * PASSES;
}
