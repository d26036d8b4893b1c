/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts and their services. Statuses as measured, see tests/golden/rocm/probe.txt. */
#include "sdk_standin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct context sdk_contexts[SDK_MAX_CONTEXTS];
unsigned sdk_n_contexts, sdk_client;
_Thread_local enum sdk_inside sdk_inside;
_Thread_local bool sdk_touched_context;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t first_id;

struct context *context_of(uint64_t id)
{
	uint64_t i = id - first_id;
	return first_id && id >= first_id && i < sdk_n_contexts ? &sdk_contexts[i] : NULL;
}

uint32_t rocprofiler_create_context(uint64_t *context)
{
	if (*context)
		return ROCP_CONTEXT_ID_NOT_ZERO;
	if (sdk_init_status() > -1)
		return ROCP_CONFIGURATION_LOCKED;
	if (!first_id)
		first_id = 0x100 + t0_random(0x1000000);
	if (sdk_n_contexts == SDK_MAX_CONTEXTS)
		return ROCP_CONTEXT_ERROR;
	struct context *c = &sdk_contexts[sdk_n_contexts];
	*c = (struct context){.id = first_id + sdk_n_contexts, .client = sdk_client};
	sdk_n_contexts++;
	*context = c->id;
	return ROCP_OK;
}

uint32_t rocprofiler_start_context(uint64_t id)
{
	struct context *c = context_of(id);
	if (!c)
		return ROCP_CONTEXT_NOT_FOUND;
	if (sdk_fini_status())
		return ROCP_CONFIGURATION_LOCKED;
	if (sdk_inside == SDK_IN_DISPATCH) {
		sdk_touched_context = true;
		return ROCP_OK;
	}
	uint32_t status = ROCP_OK;
	pthread_mutex_lock(&lock);
	if (!c->active) {
		for (unsigned i = 0; i < sdk_n_contexts; i++)
			if (sdk_contexts[i].active && sdk_contexts[i].n_counting && c->n_counting)
				status = ROCP_CONTEXT_CONFLICT;
		if (status == ROCP_OK) {
			if (c->n_counting)
				queues_change();
			__atomic_store_n(&c->active, true, __ATOMIC_RELEASE);
			if (c->n_counting)
				records_start();
			if (c->device && !sdk_hsa_known) /* and active all the same */
				status = ROCP_HSA_NOT_LOADED;
		}
	}
	pthread_mutex_unlock(&lock);
	return status;
}

uint32_t rocprofiler_stop_context(uint64_t id)
{
	struct context *c = context_of(id);
	if (!c)
		return ROCP_CONTEXT_NOT_FOUND;
	if (sdk_fini_status() > 0)
		return ROCP_OK;
	if (sdk_inside == SDK_IN_DISPATCH) {
		sdk_touched_context = true;
		return ROCP_OK;
	}
	if (sdk_inside == SDK_IN_RECORD)
		t0_abort("rocprofiler_stop_context in a record callback waits for its own thread");
	pthread_mutex_lock(&lock);
	bool was = c->active;
	if (was && c->n_counting)
		queues_change();
	__atomic_store_n(&c->active, false, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	if (!was)
		return ROCP_CONTEXT_NOT_FOUND;
	if (c->n_counting)
		records_stop();
	return ROCP_OK;
}

void contexts_stop_client(unsigned client)
{
	for (unsigned i = 0; i < sdk_n_contexts; i++)
		if (sdk_contexts[i].client == client && sdk_contexts[i].active)
			rocprofiler_stop_context(sdk_contexts[i].id);
}

uint32_t rocprofiler_context_is_active(uint64_t id, int *active_out)
{
	const struct context *c = context_of(id);
	*active_out = c && __atomic_load_n(&c->active, __ATOMIC_ACQUIRE);
	return c ? ROCP_OK : ROCP_CONTEXT_NOT_FOUND;
}

uint32_t rocprofiler_context_is_valid(uint64_t id, int *valid_out)
{
	*valid_out = context_of(id) != NULL;
	return *valid_out ? ROCP_OK : ROCP_CONTEXT_NOT_FOUND;
}

bool contexts_counting(void)
{
	for (unsigned i = 0; i < sdk_n_contexts; i++)
		if (sdk_contexts[i].n_counting &&
		    __atomic_load_n(&sdk_contexts[i].active, __ATOMIC_ACQUIRE))
			return true;
	return false;
}

/* ---- counting ---- */

uint32_t rocprofiler_configure_callback_dispatch_counting_service(uint64_t id,
								  rocp_dispatch_callback dispatch,
								  void *dispatch_arg,
								  rocp_record_callback record,
								  void *record_arg)
{
	struct context *c = context_of(id);
	if (!c)
		return ROCP_CONTEXT_INVALID;
	if (c->device)
		return ROCP_AGENT_DISPATCH_CONFLICT;
	if (c->n_counting == sizeof c->counting / sizeof *c->counting)
		return ROCP_OUT_OF_RESOURCES;
	if (c->n_counting)
		t0_misuse("dispatch counting twice in one context: every record comes twice");
	bool late = sdk_hsa_known || sdk_init_status() > 0;
	if (late)
		t0_misuse("dispatch counting configured too late: it will never be called");
	c->counting[c->n_counting++] =
		(struct counting){dispatch, dispatch_arg, record, record_arg, late};
	return ROCP_OK;
}

uint32_t rocprofiler_configure_buffer_dispatch_counting_service(uint64_t context, uint64_t buffer,
								rocp_dispatch_callback dispatch,
								void *arg)
{
	(void)context, (void)buffer, (void)dispatch, (void)arg;
	return ROCP_NOT_IMPLEMENTED; /* the model delivers to callbacks only */
}

/* Not declared in rocm_abi.h: retally does not use it, the probe does. */
SDK_EXPORT uint32_t rocprofiler_configure_device_counting_service(uint64_t id, uint64_t buffer,
								  uint64_t agent, void *callback,
								  void *data);
uint32_t rocprofiler_configure_device_counting_service(uint64_t id, uint64_t buffer, uint64_t agent,
						       void *callback, void *data)
{
	(void)buffer, (void)agent, (void)callback, (void)data;
	struct context *c = context_of(id);
	if (!c)
		return ROCP_CONTEXT_INVALID;
	if (c->n_counting)
		return ROCP_AGENT_DISPATCH_CONFLICT;
	c->device = true;
	return ROCP_OK;
}

/* ---- buffers: only as far as the rules of when they may be made ---- */

uint32_t rocprofiler_create_buffer(uint64_t context, size_t bytes, size_t watermark,
				   uint32_t policy, rocp_buffer_callback callback, void *data,
				   uint64_t *buffer_out)
{
	static uint64_t buffers;
	(void)bytes, (void)watermark, (void)policy, (void)callback, (void)data;
	if (sdk_init_status() > -1)
		return ROCP_CONFIGURATION_LOCKED;
	if (!context_of(context))
		return ROCP_CONTEXT_INVALID;
	*buffer_out = ++buffers;
	return ROCP_OK;
}

uint32_t rocprofiler_flush_buffer(uint64_t buffer)
{
	return buffer ? ROCP_OK : ROCP_BUFFER_NOT_FOUND;
}

uint32_t rocprofiler_destroy_buffer(uint64_t buffer)
{
	return buffer ? ROCP_OK : ROCP_BUFFER_NOT_FOUND;
}

/* ---- tracing ---- */

uint32_t rocprofiler_configure_callback_tracing_service(uint64_t id, uint32_t kind,
							const int32_t *operations, size_t n,
							rocp_tracing_callback callback, void *arg)
{
	struct context *c = context_of(id);
	if (sdk_init_status() > -1)
		return ROCP_CONFIGURATION_LOCKED;
	if (!c)
		return ROCP_CONTEXT_NOT_FOUND;
	if (!kind || kind > 22)
		return ROCP_KIND_NOT_FOUND;
	for (unsigned i = 0; i < c->n_tracers; i++)
		if (c->tracers[i].kind == kind)
			return ROCP_SERVICE_ALREADY_CONFIGURED;
	if (c->n_tracers == sizeof c->tracers / sizeof *c->tracers)
		return ROCP_OUT_OF_RESOURCES;
	struct tracer *t = &c->tracers[c->n_tracers++];
	*t = (struct tracer){.kind = kind, .callback = callback, .arg = arg};
	for (size_t i = 0; i < n; i++)
		t->operations |= (uint64_t)1 << (operations[i] & 63);
	return ROCP_OK;
}

void trace(uint32_t kind, int32_t operation, uint32_t phase, void *payload)
{
	for (unsigned i = 0; i < sdk_n_contexts; i++) {
		struct context *c = &sdk_contexts[i];
		if (!__atomic_load_n(&c->active, __ATOMIC_ACQUIRE))
			continue;
		for (unsigned k = 0; k < c->n_tracers; k++) {
			struct tracer *t = &c->tracers[k];
			if (t->kind != kind ||
			    (t->operations && !(t->operations >> (operation & 63) & 1)))
				continue;
			union rocp_user_data data = {0};
			struct rocp_tracing_record r = {.context = c->id,
							.thread = (uint64_t)syscall(SYS_gettid),
							.kind = kind,
							.operation = operation,
							.phase = phase,
							.payload = payload};
			t->callback(r, &data, t->arg);
		}
	}
}

static const char *const kind_names[] = {"none",
					 "HSA_CORE_API",
					 "HSA_AMD_EXT_API",
					 "HSA_IMAGE_EXT_API",
					 "HSA_FINALIZE_EXT_API",
					 "HIP_RUNTIME_API",
					 "HIP_COMPILER_API",
					 "MARKER_CORE_API",
					 "MARKER_CONTROL_API",
					 "MARKER_NAME_API",
					 "CODE_OBJECT",
					 "SCRATCH_MEMORY",
					 "KERNEL_DISPATCH",
					 "MEMORY_COPY",
					 "RCCL_API",
					 "OMPT",
					 "MEMORY_ALLOCATION",
					 "RUNTIME_INITIALIZATION",
					 "ROCDECODE_API",
					 "ROCJPEG_API",
					 "HIP_STREAM",
					 "MARKER_CORE_RANGE_API",
					 "KERNEL_REPLAY"};

/* The last came with a later version. */
static uint32_t n_kinds(void)
{
	return SDK_REPLAY_KIND + (t0_config()->mutate & T0_REPLAY ? 1 : 0);
}

uint32_t rocprofiler_query_callback_tracing_kind_operation_name(uint32_t kind, int32_t operation,
								const char **name_out,
								uint64_t *length_out)
{
	static const char *const names[] = {"KERNEL_REPLAY_NONE", "KERNEL_REPLAY_CONFIG",
					    "KERNEL_REPLAY_PASS"};
	if (kind != SDK_REPLAY_KIND || kind >= n_kinds() || operation < 0 || operation > 2)
		return ROCP_KIND_NOT_FOUND;
	if (name_out)
		*name_out = names[operation];
	if (length_out)
		*length_out = strlen(names[operation]);
	return ROCP_OK;
}

uint32_t rocprofiler_query_callback_tracing_kind_name(uint32_t kind, const char **name_out,
						      uint64_t *length_out)
{
	if (!kind || kind >= n_kinds())
		return ROCP_KIND_NOT_FOUND;
	if (name_out)
		*name_out = kind_names[kind];
	if (length_out)
		*length_out = strlen(kind_names[kind]);
	return ROCP_OK;
}

uint32_t rocprofiler_iterate_callback_tracing_kinds(int (*callback)(uint32_t kind, void *data),
						    void *data)
{
	for (uint32_t i = 1; i < n_kinds(); i++)
		if (callback(i, data))
			break;
	return ROCP_OK;
}

const char *rocprofiler_get_status_name(uint32_t status)
{
	static const struct {
		uint32_t status;
		const char *name;
	} names[] = {
		{ROCP_OK, "SUCCESS"},
		{ROCP_ERROR, "ERROR"},
		{ROCP_CONTEXT_NOT_FOUND, "ERROR_CONTEXT_NOT_FOUND"},
		{ROCP_BUFFER_NOT_FOUND, "ERROR_BUFFER_NOT_FOUND"},
		{ROCP_KIND_NOT_FOUND, "ERROR_KIND_NOT_FOUND"},
		{ROCP_AGENT_NOT_FOUND, "ERROR_AGENT_NOT_FOUND"},
		{ROCP_COUNTER_NOT_FOUND, "ERROR_COUNTER_NOT_FOUND"},
		{ROCP_CONTEXT_INVALID, "ERROR_CONTEXT_INVALID"},
		{ROCP_CONTEXT_CONFLICT, "ERROR_CONTEXT_CONFLICT"},
		{ROCP_CONTEXT_ID_NOT_ZERO, "ERROR_CONTEXT_ID_NOT_ZERO"},
		{ROCP_SERVICE_ALREADY_CONFIGURED, "ERROR_SERVICE_ALREADY_CONFIGURED"},
		{ROCP_CONFIGURATION_LOCKED, "ERROR_CONFIGURATION_LOCKED"},
		{ROCP_NOT_IMPLEMENTED, "ERROR_NOT_IMPLEMENTED"},
		{ROCP_INCOMPATIBLE_ABI, "ERROR_INCOMPATIBLE_ABI"},
		{ROCP_INVALID_ARGUMENT, "ERROR_INVALID_ARGUMENT"},
		{ROCP_METRIC_NOT_VALID_FOR_AGENT, "ERROR_METRIC_NOT_VALID_FOR_AGENT"},
		{ROCP_FINALIZED, "ERROR_FINALIZED"},
		{ROCP_HSA_NOT_LOADED, "ERROR_HSA_NOT_LOADED"},
		{ROCP_DIM_NOT_FOUND, "ERROR_DIM_NOT_FOUND"},
		{ROCP_AGENT_DISPATCH_CONFLICT, "ERROR_AGENT_DISPATCH_CONFLICT"},
		{ROCP_EXCEEDS_HW_LIMIT, "ERROR_EXCEEDS_HW_LIMIT"},
		{ROCP_AGENT_ARCH_NOT_SUPPORTED, "ERROR_AGENT_ARCH_NOT_SUPPORTED"},
	};
	static char text[sizeof names / sizeof *names][64];
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].status == status) {
			strcpy(text[i], "ROCPROFILER_STATUS_");
			strncat(text[i], names[i].name, sizeof text[i] - 20);
			return text[i];
		}
	return NULL;
}

const char *rocprofiler_get_status_string(uint32_t status)
{
	return rocprofiler_get_status_name(status);
}
