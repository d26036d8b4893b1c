/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the sim runtime: hooks.c has the program's calls, record.c what is needed to do an
 * operation again, callbacks.c what the engine asks for.
 *
 * Locks: device->lock protects the lists of a device and of its queues and events; it is held
 * neither during calls into the library nor during calls of the engine.
 */
#ifndef RETALLY_RUNTIME_SIM_INTERNAL_H
#define RETALLY_RUNTIME_SIM_INTERNAL_H

#include "runtime/sim/runtime_sim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rt_device;
struct rt_queue;

/* Recorded operations that something must come after: at most one for each queue, the latest,
 * because a queue is in order. Holds a reference to each. */
struct rt_waits {
	struct rt_record **items;
	uint32_t n, room;
	bool failed; /* no memory: what depends on it cannot be recorded */
};

enum rt_kind {
	RT_KERNEL,
	RT_COPY_IN,
	RT_COPY,
	RT_FILL,
};
/* What is needed to do an operation again. Shared by the engine, by queues and events that name it
 * as a place, and by executions on their way. */
struct rt_record {
	atomic_uint references;
	enum rt_kind kind;
	struct rt_queue *queue;
	struct sim_launch launch;
	uint64_t arguments[SIM_ARGUMENTS_MAX];
	uint64_t to, from, bytes;
	uint8_t value;
	void *source;          /* RT_COPY_IN: a copy of what the program gave; of the pool */
	struct rt_waits waits; /* on other queues */
	uint64_t place;        /* in its queue, behind its last execution; under device->lock */
	_Atomic uint64_t begin_ns, end_ns; /* of the last execution; 0: not over */
};

struct rt_memory {
	struct runtime_memory m;
	struct replay_memory *engine; /* NULL: the engine had no memory left for it */
};
struct rt_queue {
	struct rt_device *device;
	struct sim_queue *native; /* NULL: destroyed */
	uint64_t number;
	struct rt_record *last;  /* latest recorded operation, or NULL */
	struct rt_waits pending; /* what the next one comes after */
	struct rt_queue *next;
};
struct rt_event {
	struct rt_waits reached; /* once these are over */
};
struct rt_store {
	enum runtime_store_kind kind;
	uint64_t bytes, room;
	uint64_t address;  /* of the device, or a host pointer */
	atomic_int failed; /* a save into it ended in the middle */
	struct rt_store *next;
	/* A save on its way: of [saved, +saved_bytes), done once the queue got to the place. */
	struct sim_queue *queue; /* NULL: none */
	uint64_t place, saved, saved_bytes;
	struct rt_store *next_saving;
};
struct rt_device {
	struct sim_tool_device native; /* what the source gets */
	struct replay_device *engine;
	pthread_mutex_t lock;
	struct rt_memory *memories; /* ascending by address; of the pool */
	uint32_t n_memories, memories_room;
	struct rt_queue *queues;
	uint64_t n_queues;
	struct rt_store *stores; /* free ones on the device, kept warm */
	struct rt_store *saving; /* stores with a save on its way */
	struct rt_device *next;
};

struct rt {
	atomic_bool attached;
	atomic_uint inside; /* threads in the engine */
	const struct sim_tools *tools;
	struct sim_api next;
	struct replay *replay;
	const struct source *source;
	const char *why;
	struct runtime_sim_options options;
	struct runtime runtime;
	pthread_mutex_t lock; /* of the list of devices */
	struct rt_device *devices;
	_Atomic uint64_t n_stores, n_records; /* that live; of stores, those that the engine has */
};
extern struct rt rt;

/* ---- record.c ---- */
struct rt_record *rt_record_new(struct rt_queue *q, enum rt_kind kind);
void rt_record_ref(struct rt_record *r);
void rt_record_unref(struct rt_record *r);
/* Adds r with a reference of its own, in the place of an earlier one of the same queue. */
void waits_add(struct rt_waits *w, struct rt_record *r);
void waits_copy(struct rt_waits *to, const struct rt_waits *from);
void waits_clear(struct rt_waits *w);
void waits_release(struct rt_waits *w);
/* The library calls it when an execution is over. Gives a reference back. */
void rt_record_done(void *data, uint64_t begin_ns, uint64_t end_ns);

/* ---- callbacks.c ---- */
void runtime_fill(struct runtime *runtime, const struct runtime_sim_options *o);
void stores_release(struct rt_device *d);
/* Before work of a queue is launched that reaches this memory: saves of it that another queue has
 * still to do must be over, or they would hold what the work writes. Waits for them a moment; one
 * that takes longer is given up, and its window declined. may_wait false: at once. */
void saves_precede(struct rt_device *d, struct sim_queue *q, const struct runtime_memory *m,
		   bool may_wait);

/* ---- hooks.c ---- */
void hooks_fill(struct sim_api *api);

#endif
