/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the stand-in for librocprofiler-sdk.so.1, with the statuses that rocprofiler-sdk 1.0.0
 * gives (measured with the probe, tests/programs/rocm_probe.c). What the real library forgives or
 * dies of is written to the report (t0.h). One file a subject:
 *
 *   sdk_registration.c  how tools are found, started and ended; tables of the runtimes
 *   sdk_contexts.c      contexts, services, tracing
 *   sdk_agents.c        agents
 *   sdk_counters.c      counters and configurations
 *   sdk_replay.c        kernel replay of later versions
 *   sdk_queues.c        queues of the program: the interceptor, completion
 *   sdk_records.c       counts to records, when and on which thread they come
 *   sdk_code.c          code objects, kernel symbols, rocTX
 */
#ifndef RETALLY_TESTS_STANDINS_SDK_H
#define RETALLY_TESTS_STANDINS_SDK_H

#include "runtime/hsa/hsa_tables.h"
#include "source/rocm/rocm_abi.h"
#include "t0.h"
#include "t0_device.h"

#include <pthread.h>

#define SDK_EXPORT __attribute__((visibility("default")))

/* Prototypes of what is exported. */
#define SDK_DECLARE(name, args) SDK_EXPORT uint32_t name args;
ROCP_FUNCTIONS(SDK_DECLARE, SDK_DECLARE)
#undef SDK_DECLARE
SDK_EXPORT const char *rocprofiler_get_status_name(uint32_t status);
SDK_EXPORT const char *rocprofiler_get_status_string(uint32_t status);
SDK_EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
					 void **tables, uint64_t n);

/* ---- state of the library ---- */

int sdk_init_status(void); /* 0 before, -1 configuring, 1 ready */
int sdk_fini_status(void); /* 0, -1 finalising, 1 over */
/* The runtime's functions as they were before anybody patched them. */
extern struct hsa_core_table sdk_core;
extern struct hsa_amd_table sdk_amd;
extern bool sdk_hsa_known;

/* ---- contexts ---- */

struct counting {
	rocp_dispatch_callback dispatch;
	void *dispatch_arg;
	rocp_record_callback record;
	void *record_arg;
	bool late; /* configured too late: never called */
};
struct tracer {
	uint32_t kind;
	uint64_t operations; /* bits; 0: all */
	rocp_tracing_callback callback;
	void *arg;
};
struct context {
	uint64_t id;
	unsigned client;
	struct counting counting[4];
	unsigned n_counting;
	struct tracer tracers[8];
	unsigned n_tracers;
	bool device, active;
};
#define SDK_MAX_CONTEXTS 32
extern struct context sdk_contexts[SDK_MAX_CONTEXTS];
extern unsigned sdk_n_contexts;
extern unsigned sdk_client; /* being initialised */
struct context *context_of(uint64_t id);
void contexts_stop_client(unsigned client);
/* This thread is inside a dispatch or record callback of a tool. */
enum sdk_inside {
	SDK_OUTSIDE,
	SDK_IN_DISPATCH,
	SDK_IN_RECORD
};
extern _Thread_local enum sdk_inside sdk_inside;
extern _Thread_local bool sdk_touched_context; /* in the dispatch callback: started, stopped */
bool contexts_counting(void);                  /* any context counts now */
/* Calls the tracers of active contexts. */
void trace(uint32_t kind, int32_t operation, uint32_t phase, void *payload);

/* ---- agents and counters ---- */

struct sdk_agent {
	struct rocp_agent *public; /* larger than the struct with RETALLY_T0_MUTATE=sizes */
	enum t0_gfx gfx;
	uint32_t xccs, ses_per_xcc;
	uint64_t hsa; /* handle, once known */
	/* of counted dispatches: they run one after the other */
	pthread_mutex_t serial_lock;
	uint64_t last_done; /* signal of the latest one; 0 */
};
extern struct sdk_agent sdk_agents[1 + T0_MAX_AGENTS];
extern unsigned sdk_n_agents;
struct sdk_agent *agent_by_id(uint64_t id);
struct sdk_agent *agent_by_hsa(uint64_t handle);
void agents_init(void);
void agents_match(void); /* with HSA's, once that is up */

enum block {
	BLOCK_CPC,
	BLOCK_CPF,
	BLOCK_GRBM,
	BLOCK_SPI,
	BLOCK_SQ,
	BLOCK_TA,
	BLOCK_TCC,
	BLOCK_TCP,
	BLOCK_TD,
	N_BLOCKS
};
struct counter {
	const char *name;
	enum block block;
	unsigned event;
	const struct counter *base; /* derived: the sum over its instances */
	bool accumulator;
	uint64_t id;
	enum t0_gfx gfx;
};
const struct counter *counter_of(uint64_t id);
uint32_t counter_instances(const struct counter *c, const struct sdk_agent *a);
uint64_t counter_record_id(const struct counter *c, const struct sdk_agent *a, uint32_t instance);
double counter_value(const struct counter *c, const struct sdk_agent *a, uint32_t instance,
		     const struct t0_counts *counts);

struct config {
	uint64_t id;
	const struct sdk_agent *agent;
	const struct counter **counters;
	uint32_t n;
	unsigned uses; /* dispatches in flight */
	bool dead;
};
/* With one use more; NULL: there is none of that id. */
struct config *config_use(uint64_t id);
void config_done(struct config *c);
unsigned configs_live(void);
/* Whether the packets of it can be built: accumulators need a slot more than they were asked for.
 */
bool config_buildable(const struct config *c);

/* ---- queues and records ---- */

struct session { /* one dispatch that went through the interceptor */
	struct sdk_queue *queue;
	const struct sdk_agent *agent;
	struct context *context;
	struct {
		struct counting *counting;
		struct config *config;
		union rocp_user_data user_data;
	} counted[4];
	unsigned n_counted;
	struct rocp_dispatch_data data;
	struct t0_counts counts;
	uint64_t kernel_signal, done_signal, waits_for;
};
void queues_patch(struct hsa_core_table *core);
void queues_sync(void); /* every dispatch that was taken has completed */
/* A counting context is about to be started or stopped. With a dispatch between its report and the
 * count of those under way, or half submitted, the real library's queues stand still for ever. */
void queues_change(void);
/* The session's counts are there; calls the record callbacks now or later, then session_free. */
void records_take(struct session *s);
void records_start(void);
void records_stop(void); /* what is pending is delivered */
void session_free(struct session *s);
extern uint64_t sdk_dispatches_counted, sdk_records_given;

/* ---- kernel replay ---- */
#define SDK_REPLAY_KIND 22u
void replay_patch(struct hsa_amd_table *amd);
/* Submits the packet as often as whoever subscribed wants; false: nobody did, and it was not. */
bool replay_take(const struct rocp_dispatch_info *dispatch, struct hsa_kernel_packet *packet,
		 void (*submit)(void *arg, struct hsa_kernel_packet *packet), void *arg);

/* ---- code ---- */

void code_patch(struct hsa_core_table *core);
uint64_t code_kernel_id(uint64_t kernel_object); /* 0: unknown */
void roctx_patch(void **tables, uint64_t n);

#endif
