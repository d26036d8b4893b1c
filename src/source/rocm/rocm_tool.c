/* SPDX-License-Identifier: Apache-2.0 */
/* Client of rocprofiler-sdk: see rocm_tool.h. */
#include "source/rocm/rocm_tool.h"

#include "source/rocm/rocm_dispatch.h"
#include "source/rocm/rocm_markers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_MAX    256u
#define KERNELS_ROOM 1024u /* lists by hash of the object */

static struct {
	bool configured;
	char version[48];     /* of the library, as it says */
	uint32_t replay_kind; /* of its own kernel replay; 0: not wanted */
	atomic_bool over;     /* the library finalised */
	struct rocm_tool_hooks hooks;
	struct rocm_api api;
	uint64_t counting, watching; /* contexts */
	struct rocm_agent agents[ROCM_AGENTS_MAX];
	unsigned n_agents;
	bool (*turn)(void (*call)(void *data), void *data); /* NULL: just call */
	pthread_mutex_t start_lock; /* held over starting and stopping, which call nobody back */
	atomic_uint started;
	pthread_rwlock_t kernels_lock;
	struct rocm_kernel_list {
		struct rocm_kernel **items;
		size_t n, room;
	} kernels[KERNELS_ROOM];
} tool = {.start_lock = PTHREAD_MUTEX_INITIALIZER, .kernels_lock = PTHREAD_RWLOCK_INITIALIZER};

const struct rocm_api *rocm_tool_api(void)
{
	return &tool.api;
}

void rocm_tool_tell(const char *text)
{
	tool.hooks.tell(tool.hooks.data, text);
}

/* ---- agents ---- */

unsigned rocm_tool_read_agents(struct rocm_agent *out, unsigned room, const void **agents, size_t n)
{
	unsigned n_out = 0;

	for (size_t i = 0; agents && i < n && n_out < room; i++) {
		const struct rocp_agent *a = agents[i];
		struct rocm_agent *to = &out[n_out];

		/* An older library's is shorter. */
		if (!a || a->size < offsetof(struct rocp_agent, logical_node_id) ||
		    a->type != ROCP_AGENT_GPU || !a->name)
			continue;
		*to = (struct rocm_agent){.id = a->id, .node = a->node_id, .number = n_out};
		snprintf(to->name, sizeof(to->name), "%.60s", a->name);
		n_out++;
	}
	return n_out;
}

static uint32_t on_agents(uint32_t version, const void **agents, size_t n, void *data)
{
	(void)data;
	if (version == ROCP_AGENT_VERSION_0)
		tool.n_agents = rocm_tool_read_agents(tool.agents, ROCM_AGENTS_MAX, agents, n);
	return ROCP_OK;
}

const struct rocm_agent *rocm_tool_agent(uint32_t node)
{
	for (unsigned i = 0; i < tool.n_agents; i++)
		if (tool.agents[i].node == node)
			return &tool.agents[i];
	return NULL;
}

unsigned rocm_tool_agents(const struct rocm_agent **agents_out)
{
	*agents_out = tool.agents;
	return tool.n_agents;
}

/* ---- kernels ---- */

static struct rocm_kernel_list *list_of(uint64_t object)
{
	return &tool.kernels[(object >> 6 ^ object >> 16) % KERNELS_ROOM];
}

struct rocm_kernel *rocm_tool_kernel(uint64_t object)
{
	struct rocm_kernel_list *l = list_of(object);
	struct rocm_kernel *k = NULL;

	pthread_rwlock_rdlock(&tool.kernels_lock);
	for (size_t i = 0; i < l->n && !k; i++)
		if (l->items[i]->object == object)
			k = l->items[i];
	pthread_rwlock_unlock(&tool.kernels_lock);
	return k;
}

struct rocm_kernel *rocm_tool_kernel_by_id(uint64_t id)
{
	struct rocm_kernel *k = NULL;

	pthread_rwlock_rdlock(&tool.kernels_lock);
	for (size_t list = 0; list < KERNELS_ROOM && !k; list++)
		for (size_t i = 0; i < tool.kernels[list].n && !k; i++)
			if (tool.kernels[list].items[i]->id == id)
				k = tool.kernels[list].items[i];
	pthread_rwlock_unlock(&tool.kernels_lock);
	return k;
}

static struct rocm_kernel *kernel_new(const struct rocp_kernel_symbol *s)
{
	struct rocm_kernel *k = calloc(1, sizeof(*k));
	size_t n = strnlen(s->name, 65536);

	if (!k)
		return NULL;
	if (n > 3 && !strncmp(s->name + n - 3, ".kd", 3))
		n -= 3;
	k->name = strndup(s->name, n);
	if (!k->name) {
		free(k);
		return NULL;
	}
	k->id = s->kernel_id;
	k->object = s->kernel_object;
	k->argument_bytes = s->kernarg_segment_size;
	k->group_bytes = s->group_segment_size;
	k->registers = s->arch_vgpr_count + s->accum_vgpr_count;
	return k;
}

static void kernel_loaded(const struct rocp_kernel_symbol *s)
{
	struct rocm_kernel_list *l = list_of(s->kernel_object);
	struct rocm_kernel *k, **items;

	if (s->size < offsetof(struct rocp_kernel_symbol, kernel_code_entry_byte_offset) ||
	    !s->name || !s->kernel_object)
		return;
	k = kernel_new(s);
	if (!k)
		return;
	pthread_rwlock_wrlock(&tool.kernels_lock);
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i]->object == k->object) {
			k->older = l->items[i];
			l->items[i] = k;
			goto out;
		}
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 4;

		items = realloc(l->items, room * sizeof(*items));
		if (!items) {
			free(k->name);
			free(k);
			goto out;
		}
		l->items = items;
		l->room = room;
	}
	l->items[l->n++] = k;
out:
	pthread_rwlock_unlock(&tool.kernels_lock);
}

static void on_tracing(struct rocp_tracing_record record, union rocp_user_data *user_data,
		       void *arg)
{
	(void)arg;
	if (record.kind == ROCP_TRACING_CODE_OBJECT) {
		if (record.operation == ROCP_KERNEL_SYMBOL && record.phase == ROCP_PHASE_ENTER &&
		    record.payload)
			kernel_loaded(record.payload);
	} else if (record.kind == ROCP_TRACING_MARKER_CORE_API && tool.hooks.range) {
		rocm_markers_record(&record, tool.hooks.range, tool.hooks.data);
	} else if (tool.replay_kind && record.kind == tool.replay_kind) {
		tool.hooks.replay(tool.hooks.data, &record, user_data);
	}
}

/* ---- counting ---- */

void rocm_tool_change_by(bool (*turn)(void (*call)(void *data), void *data))
{
	tool.turn = turn;
}

static void call_start(void *status_out)
{
	*(uint32_t *)status_out = tool.api.rocprofiler_start_context(tool.counting);
}

static void call_stop(void *unused)
{
	(void)unused;
	(void)tool.api.rocprofiler_stop_context(tool.counting);
}

int rocm_tool_start(struct error *err)
{
	uint32_t status = 0;
	bool called = true;

	if (atomic_load(&tool.over))
		return error_set(err, RC_END, "rocprofiler-sdk has ended");
	pthread_mutex_lock(&tool.start_lock);
	if (!atomic_load(&tool.started) && tool.turn)
		called = tool.turn(call_start, &status);
	else if (!atomic_load(&tool.started))
		call_start(&status);
	if (called && !status)
		atomic_fetch_add(&tool.started, 1);
	pthread_mutex_unlock(&tool.start_lock);
	if (!called)
		return error_set(err, RC_ERROR,
				 "counting cannot be started: the HSA runtime's thread for signals "
				 "does not answer");
	return status ? rocm_api_fail(&tool.api, status, "starting to count", err) : 0;
}

void rocm_tool_stop(void)
{
	pthread_mutex_lock(&tool.start_lock);
	if (atomic_load(&tool.started) && atomic_fetch_sub(&tool.started, 1) == 1 &&
	    !atomic_load(&tool.over) && !(tool.turn && tool.turn(call_stop, NULL)))
		call_stop(NULL);
	pthread_mutex_unlock(&tool.start_lock);
}

bool rocm_tool_is_counting(void)
{
	return atomic_load_explicit(&tool.started, memory_order_relaxed) != 0;
}

/* ---- configured by the library ---- */

static void on_table(uint32_t kind, uint64_t version, uint64_t instance, void **tables, uint64_t n,
		     void *data)
{
	(void)version;
	(void)data;
	/* A second copy of the runtime is none that we know the queues of. */
	if (kind == ROCP_TABLE_HSA && !instance && tables && n)
		tool.hooks.tables(tool.hooks.data, tables, n);
}

static int step(uint32_t status, const char *what, struct error *err)
{
	return status ? rocm_api_fail(&tool.api, status, what, err) : 0;
}

static bool is_named(const char *name, uint64_t length, const char *wanted)
{
	return name && length == strlen(wanted) && !memcmp(name, wanted, length);
}

static bool operation_is(uint32_t kind, int32_t operation, const char *wanted)
{
	const char *name = NULL;
	uint64_t length = 0;

	return !tool.api.rocprofiler_query_callback_tracing_kind_operation_name(kind, operation,
										&name, &length) &&
	       is_named(name, length, wanted);
}

/* The kinds of a version are numbered without holes. 0: it has none of that name. */
static uint32_t find_replay(void)
{
	const struct rocm_api *a = &tool.api;
	const char *name = NULL;
	uint64_t length = 0;

	if (!a->rocprofiler_query_callback_tracing_kind_name ||
	    !a->rocprofiler_query_callback_tracing_kind_operation_name)
		return 0;
	for (uint32_t kind = 1; kind < KINDS_MAX; kind++) {
		if (a->rocprofiler_query_callback_tracing_kind_name(kind, &name, &length))
			return 0;
		if (is_named(name, length, ROCP_TRACING_KERNEL_REPLAY_NAME))
			return operation_is(kind, ROCP_REPLAY_CONFIG, "KERNEL_REPLAY_CONFIG") &&
					       operation_is(kind, ROCP_REPLAY_PASS,
							    "KERNEL_REPLAY_PASS")
				       ? kind
				       : 0;
	}
	return 0;
}

static int watch_replay(struct error *err)
{
	uint32_t kind = find_replay();

	if (!kind)
		return error_set(err, RC_UNSUPPORTED,
				 "rocprofiler-sdk %s has no kernel replay of its own that "
				 "--engine sdk could use (1.4.1 and later have)",
				 tool.version);
	tool.replay_kind = kind;
	return step(tool.api.rocprofiler_configure_callback_tracing_service(
			    tool.watching, kind, NULL, 0, on_tracing, NULL),
		    "asking for its kernel replay", err);
}

static int set_up(struct error *err)
{
	const struct rocm_api *a = &tool.api;
	int rc;

	rc = step(a->rocprofiler_query_available_agents(ROCP_AGENT_VERSION_0, on_agents,
							sizeof(struct rocp_agent), NULL),
		  "listing the devices", err);
	if (!rc && !tool.n_agents)
		return error_set(err, RC_NOT_FOUND, "rocprofiler-sdk sees no AMD GPU");
	if (!rc)
		rc = step(a->rocprofiler_create_context(&tool.counting), "making a context", err);
	if (!rc)
		rc = step(a->rocprofiler_create_context(&tool.watching), "making a context", err);
	if (!rc)
		rc = step(a->rocprofiler_configure_callback_dispatch_counting_service(
				  tool.counting, rocm_dispatch_begins, NULL, rocm_dispatch_counted,
				  NULL),
			  "asking for counters of dispatches", err);
	if (!rc)
		rc = step(
			a->rocprofiler_configure_callback_tracing_service(
				tool.watching, ROCP_TRACING_CODE_OBJECT, NULL, 0, on_tracing, NULL),
			"asking for the names of kernels", err);
	/* Without it there are no marked ranges. */
	if (!rc && tool.hooks.range)
		(void)a->rocprofiler_configure_callback_tracing_service(
			tool.watching, ROCP_TRACING_MARKER_CORE_API, NULL, 0, on_tracing, NULL);
	if (!rc && tool.hooks.replay)
		rc = watch_replay(err);
	else if (!rc)
		rc = step(a->rocprofiler_at_intercept_table_registration(on_table, ROCP_TABLE_HSA,
									 NULL),
			  "asking for the HSA runtime's functions", err);
	if (!rc)
		rc = step(a->rocprofiler_start_context(tool.watching), "starting a context", err);
	if (!rc && tool.hooks.replay)
		rc = rocm_tool_start(err); /* what is not active then never counts in a replay */
	if (!rc && tool.hooks.replay)
		tool.hooks.ready(tool.hooks.data);
	return rc;
}

static int initialize(rocp_client_finalize finalize, void *data)
{
	struct error err = {0};

	(void)finalize;
	(void)data;
	if (!set_up(&err))
		return 0;
	/* The library goes on as if nothing had happened: the program runs uncounted. */
	atomic_store(&tool.over, true);
	tool.hooks.say(tool.hooks.data, err.message);
	return -1;
}

static void finalize_(void *data)
{
	(void)data;
	atomic_store(&tool.over, true);
}

int rocm_tool_configure(uint32_t version, const char *text, struct rocp_client_id *id,
			const struct rocm_tool_hooks *hooks,
			struct rocp_configure_result **result_out, struct error *err)
{
	static struct rocp_configure_result result = {
		.size = sizeof(result), .initialize = initialize, .finalize = finalize_};
	int rc;

	*result_out = NULL;
	if (tool.configured)
		return RC_EXISTS;
	rc = rocm_api_check_version(version, text, err);
	if (!rc)
		rc = rocm_api_find(&tool.api, err);
	if (rc)
		return rc;
	tool.configured = true;
	snprintf(tool.version, sizeof(tool.version), "%u.%u.%u", version / 10000,
		 version / 100 % 100, version % 100);
	tool.hooks = *hooks;
	if (id)
		id->name = "retally";
	*result_out = &result;
	return 0;
}
