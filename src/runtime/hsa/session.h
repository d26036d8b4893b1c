/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the HSA runtime share: one session per process, a struct hsa_device for each
 * GPU with a queue, a struct hsa_tap for each of its queues. None of them is freed before the
 * process ends, so that a thread that still holds one is safe.
 *
 * Locks: session.lock (devices, queues), memories.lock, flights.lock and device->lock are leaves:
 * nothing is called with them held. events.c has one that packets pass and changes of counting
 * hold.
 */
#ifndef RETALLY_RUNTIME_HSA_SESSION_H
#define RETALLY_RUNTIME_HSA_SESSION_H

#include "replay/replay.h"
#include "runtime/common/memories.h"
#include "runtime/hsa/hsa_runtime.h"
#include "runtime/hsa/hsa_tables.h"
#include "source/rocm/rocm_device.h"

#include <pthread.h>
#include <stdatomic.h>

#define HSA_DEVICES_MAX 64u
#define HSA_RECENT      16u /* of a queue: submissions that are looked back at */

struct hsa_flight;
struct hsa_store;

struct hsa_device {
	uint64_t agent;
	uint32_t number;
	struct rocm_native native;
	struct replay_device *_Atomic engine; /* NULL: not opened */
	_Atomic bool opened;                  /* it was tried */
	uint64_t device_pool;                 /* coarse-grained, of the GPU; 0: none */
	pthread_mutex_t lock;
	struct hsa_flight *flights; /* may not be over; device->lock */
	/* All below: with the device's replay lock held. */
	struct hsa_queue *own; /* for passes that do not run inside a handler */
	struct hsa_store *free_stores;
	unsigned char *stage[2]; /* host memory that the GPU's copies reach */
};
struct hsa_tap { /* an intercepted queue of the program */
	struct hsa_tap *next;
	struct hsa_device *device;
	struct hsa_queue *queue;
	uint64_t number;
	uint32_t size;
	bool cooperative;
	_Atomic bool gone;
	/* Only inside its handler, which the runtime calls on one thread at a time. */
	struct hsa_flight *recent[HSA_RECENT];
	unsigned at;
};

struct hsa_session {
	struct replay *replay;
	struct runtime_hsa_options options;
	struct hsa_core_table core; /* as they were: what we call */
	struct hsa_amd_table amd;
	_Atomic bool attached;
	_Atomic bool sdk_replays;     /* sdk_engine.c instead: no table is patched */
	_Atomic bool off;             /* nothing is intercepted any more */
	_Atomic bool closed;          /* the runtime was shut down: nothing of it may be called */
	_Atomic unsigned inside;      /* threads in our code */
	_Atomic int users;            /* hsa_init less hsa_shut_down */
	_Atomic bool looked, watched; /* done once */
	_Atomic uint64_t activity;    /* counts packets */
	pthread_mutex_t lock;
	_Atomic unsigned n_devices;
	struct hsa_device devices[HSA_DEVICES_MAX];
	struct hsa_tap *taps;
	uint64_t n_queues;
	uint64_t host_pool, kernarg_pool; /* of a CPU; 0: none */
	uint64_t agents[HSA_DEVICES_MAX]; /* GPUs, also without a queue */
	unsigned n_agents;
	struct memories memories;
};
extern struct hsa_session hsa_session;

/* What this thread is doing. Inside a handler of ours: how packets get on. */
struct hsa_here {
	hsa_packet_writer writer;
	struct hsa_tap *tap;
	bool events; /* the thread that calls handlers of signals: passes need it, so it ends none
		      */
};
extern _Thread_local struct hsa_here hsa_here __attribute__((tls_model("initial-exec")));

extern const struct runtime hsa_runtime;

/* A thread comes into our code; false: it is to go straight on. */
bool hsa_enter(void);
void hsa_leave(void);
/* Ends the windows of all devices; not on the thread that calls handlers, which passes need. */
void hsa_boundary(const char *why);
/* What the runtime said, in a code of ours. */
int hsa_fail(uint32_t status, const char *what, struct error *err);
/* The GPU's device if it has one, by agent. */
struct hsa_device *hsa_device_find(uint64_t agent);

/* ---- queues.c, waits.c, memory_calls.c, copy_calls.c: what is patched ---- */
void hsa_patch_queues(struct hsa_core_table *core, struct hsa_amd_table *amd);
void hsa_patch_waits(struct hsa_core_table *core, struct hsa_amd_table *amd);
void hsa_patch_memory(struct hsa_core_table *core, struct hsa_amd_table *amd);
void hsa_patch_copies(struct hsa_core_table *core, struct hsa_amd_table *amd);
/* ---- watch.c ---- */
void hsa_watch_start(void);

#endif
