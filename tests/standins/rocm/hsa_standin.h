/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the stand-in for libhsa-runtime64.so.1: a model device with host threads for
 * processors. One file a subject:
 *
 *   hsa_exports.c     the exported functions and the tables they go through, start and end
 *   hsa_agents.c      system, agents, pools
 *   hsa_memory.c      allocations, copies; device memory cannot be touched by the host
 *   hsa_signals.c     signals, waiting, the event thread
 *   hsa_queues.c      rings and packet processors
 *   hsa_intercept.c   queues with interceptors
 *   hsa_code.c        code objects, executables, symbols
 *   hsa_kernels.c     what the kernels do
 */
#ifndef RETALLY_TESTS_STANDINS_HSA_H
#define RETALLY_TESTS_STANDINS_HSA_H

#include "runtime/hsa/hsa_tables.h"
#include "t0.h"
#include "t0_device.h"

#include <pthread.h>

/* hsa_NAME of the table is implemented by t0_hsa_NAME. */
#define T0_DECLARE_F(result, name, args) result t0_##name args;
#define T0_DECLARE_U(name)
HSA_CORE_FUNCTIONS(T0_DECLARE_F, T0_DECLARE_U)
HSA_AMD_FUNCTIONS(T0_DECLARE_F, T0_DECLARE_U)
#undef T0_DECLARE_F
#undef T0_DECLARE_U

/* ---- agents ---- */

struct pool {
	struct agent *agent;
	uint32_t segment;
	uint32_t flags; /* enum hsa_pool_flag */
	bool device;    /* memory the host cannot touch */
};
struct agent {
	bool gpu;
	enum t0_gfx gfx;
	unsigned index; /* node */
	struct pool pools[4];
	unsigned n_pools;
	pthread_mutex_t lock; /* of counts */
	struct t0_counts counts;
	uint64_t live_bytes; /* device memory in use; under the lock of hsa_memory.c */
};
struct agent *agent_of(uint64_t handle); /* NULL: no such agent */
struct pool *pool_of(uint64_t handle);   /* NULL: no such pool */
void agents_init(void);
extern struct agent t0_agents[1 + T0_MAX_AGENTS];
extern unsigned t0_n_agents;

/* ---- memory ---- */

void memory_init(void);
/* Where the bytes can be touched by "the device": aborts with a message when they are not all in
 * one live allocation. who: for the message. */
void *memory_at(const void *address, size_t bytes, const char *who);
/* Device memory outside any pool, for executables. */
void *memory_internal(struct agent *agent, size_t bytes);
void memory_internal_free(void *address);
unsigned memory_live(void); /* allocations of pools that were not freed */
/* from -> to, both anywhere; HSA_OK, or the fault `copy` after one half. */
uint32_t memory_move(void *to, const void *from, size_t bytes, const char *who);

/* ---- signals ---- */

struct signal {
	struct hsa_signal_body body; /* the handle points here */
	uint32_t magic, seq;         /* seq: changes with the value; waited for with futex */
	struct queue *doorbell;      /* of this queue; else NULL */
};
struct signal *signal_of(uint64_t handle, const char *who); /* aborts on rubbish */
uint64_t signal_new(int64_t value, struct queue *doorbell);
void signal_delete(uint64_t handle);
void signal_changed(struct signal *s);
bool signal_holds(struct signal *s, uint32_t condition, int64_t value);
/* Waits until it holds or *stop is true (may be NULL). */
void signal_wait(struct signal *s, uint32_t condition, int64_t value, const volatile bool *stop);
void signal_complete(uint64_t handle, uint64_t start, uint64_t end); /* -1; 0: nothing */
unsigned signals_live(void);
void event_thread_call(void (*function)(void *data), void *data);
void event_thread_stop(void);

/* ---- queues ---- */

struct queue {
	struct hsa_queue public;
	uint32_t magic;
	uint64_t write, read; /* indices; atomic */
	struct agent *agent;
	hsa_queue_callback callback;
	void *data;
	struct intercept *intercept; /* this is the program's side of an intercept queue */
	struct queue *behind;        /* hardware queue -> intercept queue to wake; or NULL */
	pthread_t thread;
	bool has_thread;
	volatile bool stop;
	uint32_t in_flight; /* kernels on threads of their own; futex */
	uint64_t packets;
};
struct queue *queue_of(const struct hsa_queue *q, const char *who);
struct queue *queue_new(struct agent *agent, uint32_t size, hsa_queue_callback callback,
			void *data);
void queue_delete(struct queue *q);
unsigned queues_live(void);
bool queues_busy(void); /* packets submitted and not completed */
void intercept_doorbell(struct queue *q, int64_t value);
void intercept_room(struct queue *q); /* the ring behind it has room again */
void intercept_delete(struct intercept *i);

/* ---- code ---- */

struct kernel_call {
	const struct hsa_kernel_packet *packet;
	struct executable *executable;
	struct agent *agent;
	volatile bool *stop; /* the queue is going away: end soon */
	uint64_t bytes_read, bytes_written;
};
struct kernel_type {
	const char *name;
	uint32_t kernarg_bytes;
	void (*run)(struct kernel_call *call);
	uint32_t group_bytes, vgprs; /* what its descriptor says */
};
extern const struct kernel_type t0_kernels[];
extern const unsigned t0_n_kernels;
const struct kernel_type *code_find(uint64_t kernel_object, struct executable **executable_out);
/* The device's address of a variable; 0: the executable has none of that name. */
uint64_t code_variable(struct executable *e, const char *name);

extern bool t0_hsa_up;

#endif
