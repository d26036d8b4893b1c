/* SPDX-License-Identifier: Apache-2.0 */
/* How tools are found, configured, initialised and finalised, in the order of the real library. */
#include "sdk_standin.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CLIENTS 8

static struct client {
	rocp_configure configure;
	struct rocp_configure_result result;
	bool has_result, finalized;
	struct rocp_client_id id;
	unsigned number;
} clients[MAX_CLIENTS];
static unsigned n_clients;
static rocp_configure forced;
static int init_status, fini_status;

int sdk_init_status(void)
{
	return __atomic_load_n(&init_status, __ATOMIC_ACQUIRE);
}

int sdk_fini_status(void)
{
	return __atomic_load_n(&fini_status, __ATOMIC_ACQUIRE);
}

static void set(int *status, int to)
{
	__atomic_store_n(status, to, __ATOMIC_RELEASE);
}

/* ---- finding ---- */

static void add_client(void *symbol)
{
	rocp_configure configure = (rocp_configure)symbol;
	for (unsigned i = 0; i < n_clients; i++)
		if (clients[i].configure == configure)
			return;
	if (!configure || n_clients == MAX_CLIENTS)
		return;
	struct client *c = &clients[n_clients];
	c->configure = configure;
	c->number = 1000 + n_clients;
	c->id = (struct rocp_client_id){sizeof c->id, NULL, c->number};
	n_clients++;
}

static int add_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size, (void)data;
	if (!info->dlpi_name || !*info->dlpi_name)
		return 0;
	void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	if (handle) {
		add_client(dlsym(handle, "rocprofiler_configure"));
		dlclose(handle);
	}
	return 0;
}

static void find_clients(void)
{
	if (forced)
		add_client((void *)(uintptr_t)forced);
	/* Of a list the real library 1.0.0 forgets what follows the last colon. */
	const char *list = getenv("ROCP_TOOL_LIBRARIES");
	bool one = list && !strchr(list, ':');
	while (list && *list) {
		size_t n = strcspn(list, ":");
		char path[4096];
		snprintf(path, sizeof path, "%.*s", (int)n, list);
		if (n && (list[n] == ':' || one)) {
			void *handle = dlopen(path, RTLD_LOCAL | RTLD_LAZY);
			if (!handle)
				t0_abort("ROCP_TOOL_LIBRARIES: %s", dlerror());
			void *symbol = dlsym(handle, "rocprofiler_configure");
			if (symbol)
				add_client(symbol);
			else
				t0_say("%s has no rocprofiler_configure", path);
		}
		list += n + (list[n] == ':');
	}
	void *visible = dlsym(RTLD_DEFAULT, "rocprofiler_configure");
	add_client(visible);
	if (visible)
		dl_iterate_phdr(add_loaded, NULL);
}

/* ---- start ---- */

static uint32_t version(const char **text_out)
{
	unsigned mutate = t0_config()->mutate;
	*text_out = mutate & T0_OLD      ? "0.5.0"
		    : mutate & T0_MAJOR  ? "2.0.0"
		    : mutate & T0_MINOR  ? "1.9.7"
		    : mutate & T0_REPLAY ? "1.4.1"
					 : "1.0.0";
	return mutate & T0_OLD      ? 500
	       : mutate & T0_MAJOR  ? 20000
	       : mutate & T0_MINOR  ? 10907
	       : mutate & T0_REPLAY ? 10401
				    : 10000;
}

uint32_t rocprofiler_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch)
{
	const char *text;
	uint32_t v = version(&text);
	if (major)
		*major = v / 10000;
	if (minor)
		*minor = v % 10000 / 100;
	if (patch)
		*patch = v % 100;
	return ROCP_OK;
}

static void finalize_client(struct client *c)
{
	if (c->finalized)
		return;
	c->finalized = true;
	contexts_stop_client(c->number);
	queues_sync();
	if (c->has_result && c->result.finalize) {
		int was = sdk_fini_status();
		set(&fini_status, -1);
		c->result.finalize(c->result.tool_data);
		set(&fini_status, was);
	}
}

static void finalize(void)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	if (sdk_fini_status() || pthread_mutex_trylock(&once))
		return;
	set(&fini_status, -1);
	queues_sync();
	for (unsigned i = 0; i < n_clients; i++)
		finalize_client(&clients[i]);
	set(&fini_status, 1);
	t0_say("sdk: %llu dispatches counted, %llu record callbacks, %u configurations are left",
	       (unsigned long long)sdk_dispatches_counted, (unsigned long long)sdk_records_given,
	       configs_live());
	for (unsigned i = 0; i < sdk_n_contexts; i++)
		if (sdk_contexts[i].active)
			t0_misuse("context %u is active at the end", i);
	t0_say("%s", t0_misuses() ? "NOT CLEAN" : "clean");
}

static void finalize_by_tool(struct rocp_client_id id)
{
	if (n_clients == 1) {
		finalize();
		return;
	}
	for (unsigned i = 0; i < n_clients; i++)
		if (clients[i].number == id.handle)
			finalize_client(&clients[i]);
}

static void initialize(void)
{
	if (sdk_init_status())
		return;
	set(&init_status, -1);
	atexit(finalize);
	agents_init();
	find_clients();
	const char *text;
	uint32_t v = version(&text);
	for (unsigned i = 0; i < n_clients; i++) {
		struct client *c = &clients[i];
		sdk_client = c->number;
		const struct rocp_configure_result *r = c->configure(v, text, i, &c->id);
		if (!r)
			continue;
		if (r->size < sizeof *r) {
			t0_misuse("rocprofiler_configure returned a result of size %zu", r->size);
			if (t0_config()->strict)
				t0_abort("that result");
		}
		c->result = *r;
		c->has_result = true;
	}
	for (unsigned i = 0; i < n_clients; i++) {
		struct client *c = &clients[i];
		if (!c->has_result || !c->result.initialize)
			continue;
		sdk_client = c->number;
		int status = c->result.initialize(finalize_by_tool, c->result.tool_data);
		if (!status)
			continue;
		t0_say("initialize returned %d", status);
		if (t0_config()->strict) /* what the vendor's header says; 1.0.0 ignores it */
			contexts_stop_client(c->number);
	}
	set(&init_status, 1);
}

static pthread_once_t initialize_once = PTHREAD_ONCE_INIT;

uint32_t rocprofiler_force_configure(rocp_configure configure)
{
	if (sdk_init_status() || forced)
		return ROCP_CONFIGURATION_LOCKED;
	forced = configure;
	pthread_once(&initialize_once, initialize);
	return ROCP_OK;
}

uint32_t rocprofiler_is_initialized(int *status_out)
{
	*status_out = sdk_init_status();
	return ROCP_OK;
}

uint32_t rocprofiler_is_finalized(int *status_out)
{
	*status_out = sdk_fini_status();
	return ROCP_OK;
}

/* ---- tables ---- */

static struct {
	rocp_table_callback callback;
	int kinds;
	void *data;
} table_callbacks[16];
static unsigned n_table_callbacks;

uint32_t rocprofiler_at_intercept_table_registration(rocp_table_callback callback, int kinds,
						     void *data)
{
	if (sdk_init_status() > -1)
		return ROCP_CONFIGURATION_LOCKED;
	if (n_table_callbacks == 16)
		return ROCP_OUT_OF_RESOURCES;
	table_callbacks[n_table_callbacks].callback = callback;
	table_callbacks[n_table_callbacks].kinds = kinds;
	table_callbacks[n_table_callbacks++].data = data;
	return ROCP_OK;
}

static void notify(uint32_t kind, uint64_t v, uint64_t instance, void **tables, uint64_t n)
{
	for (unsigned i = 0; i < n_table_callbacks; i++)
		if (!table_callbacks[i].kinds || table_callbacks[i].kinds & (int)kind)
			table_callbacks[i].callback(kind, v, instance, tables, n,
						    table_callbacks[i].data);
}

static bool wants_queues(void)
{
	for (unsigned i = 0; i < sdk_n_contexts; i++)
		if (sdk_contexts[i].n_counting || sdk_contexts[i].device)
			return true;
	return false;
}

int rocprofiler_set_api_table(const char *name, uint64_t v, uint64_t instance, void **tables,
			      uint64_t n)
{
	pthread_once(&initialize_once, initialize);
	if (!strcmp(name, "hsa")) {
		struct hsa_api_table *api = tables[0];
		memcpy(&sdk_core, api->core, sizeof sdk_core);
		memcpy(&sdk_amd, api->amd, sizeof sdk_amd);
		sdk_hsa_known = true;
		/* decided now, from the contexts that there are: later ones count nothing */
		if (wants_queues())
			queues_patch(api->core);
		replay_patch(api->amd);
		code_patch(api->core);
		notify(ROCP_TABLE_HSA, v, instance, tables, n);
		return 0;
	}
	if (!strcmp(name, "roctx")) {
		roctx_patch(tables, n);
		for (uint64_t i = 0; i < n && i < 3; i++)
			notify((uint32_t)ROCP_TABLE_MARKER_CORE << i, v, instance, &tables[i], 1);
		return 0;
	}
	return 1;
}

uint32_t rocprofiler_at_internal_thread_create(rocp_thread_callback before,
					       rocp_thread_callback after, int libraries,
					       void *data)
{
	(void)before, (void)after, (void)libraries, (void)data;
	return sdk_init_status() > 0 ? ROCP_CONFIGURATION_LOCKED : ROCP_OK;
}
