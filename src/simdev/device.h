/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the simulated device. Locks, in this order, never two of one kind: queue->lock;
 * device->memory_lock; device->counter_lock. No lock is held while a kernel runs or a function of
 * the program is called.
 *
 * Whatever the device keeps that grows with what tools do comes from mmap, not malloc: a program
 * must find its heap as it would without them.
 */
#ifndef RETALLY_SIMDEV_DEVICE_H
#define RETALLY_SIMDEV_DEVICE_H

#include "simdev/counter_table.h"
#include "simdev/retally_sim.h"
#include "simdev/retally_sim_tool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_QUEUES_MAX      256
#define SIM_UNIT_NONE       UINT32_MAX
#define SIM_ALIGNMENT       256u
#define SIM_FIRST_ALLOCATED 64u

/* ---- memory ---- */
struct sim_allocation {
	uint64_t address, size;
	unsigned char *real; /* where the device itself reads and writes it */
	bool shared;
	uint64_t *pages; /* tracked: a bit for each written page, atomic; else NULL */
};
struct sim_region { /* a part of the device's addresses, filled from the low end */
	uint64_t begin, end, used;
	struct sim_allocation *items; /* ascending; from mmap */
	uint32_t n, room;
};

/* ---- queues ---- */
enum sim_command_kind {
	SIM_COMMAND_KERNEL,
	SIM_COMMAND_COPY,
	SIM_COMMAND_FILL,
	SIM_COMMAND_WAIT,
	SIM_COMMAND_CALLBACK,
	SIM_COMMAND_START,
	SIM_COMMAND_STOP,
};
struct sim_kernel;
struct sim_command {
	enum sim_command_kind kind;
	union {
		struct {
			const struct sim_kernel *kernel;
			uint32_t grid[3], block[3];
			uint64_t arguments[SIM_ARGUMENTS_MAX];
			void (*done)(void *data, uint64_t begin_ns, uint64_t end_ns);
			void *data;
		} kernel;
		struct {
			uint64_t to, from, bytes;
			void *staged; /* of bytes; unmapped afterwards */
			bool tool;
			atomic_int *failed;
		} copy;
		struct {
			uint64_t to, bytes;
			uint8_t value;
		} fill;
		struct {
			struct sim_queue *other;
			uint64_t place;
		} wait;
		struct {
			void (*function)(void *data);
			void *data;
		} callback;
		uint32_t unit;
	} u;
};
struct sim_queue {
	void *tool_data;
	struct sim_device *device;
	uint32_t index;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filled, progressed;
	struct sim_command *ring; /* from mmap; room is a power of two */
	uint64_t room;
	uint64_t submitted, started, completed; /* counts of commands */
	uint32_t waiters;
	bool idle, stop, destroyed;
	uint32_t unit; /* being counted into; only its own thread uses it */
};
struct sim_event {
	void *tool_data;
	struct sim_device *device;
	struct sim_queue *queue; /* NULL: never recorded */
	uint64_t place;
};

struct sim_device {
	void *tool_data;
	struct sim_config config;
	uint32_t number;
	atomic_int lost; /* 0, SIM_LOST or SIM_FAULT */
	atomic_bool closing;
	_Atomic uint64_t executions, operations, programmings, tool_copies, launches, readings,
		varied;

	pthread_mutex_t memory_lock;
	struct sim_region own, tools;   /* of programs, of tools */
	struct sim_region shared;       /* addresses are those of the host */
	uint64_t reserve, reserve_size; /* addresses that nothing can touch */
	unsigned char *backing;         /* the memory behind them */

	pthread_mutex_t queue_list_lock; /* before queue->lock */
	struct sim_queue *queues[SIM_QUEUES_MAX];
	uint32_t n_queues;

	pthread_mutex_t counter_lock;
	bool acquired;
	uint32_t selected[SIM_SELECTED_MAX];
	uint32_t n_selected;
	struct sim_work total;   /* of everything that ran */
	struct sim_work *units;  /* from mmap */
	struct sim_work started; /* total when a unit of the whole device was started */
	uint32_t n_units, units_room;
};

/* ---- config.c ---- */
/* Fills the sentence of this thread and returns the code. */
int sim_fail(int result, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- memory.c ---- */
int sim_memory_init(struct sim_device *d);
void sim_memory_release(struct sim_device *d);
void *sim_pages(uint64_t bytes); /* from mmap, zeroed; NULL */
void sim_pages_free(void *p, uint64_t bytes);
int sim_region_get(struct sim_device *d, struct sim_region *r, uint64_t bytes, uint64_t *address);
int sim_region_put(struct sim_device *d, struct sim_region *r, uint64_t address,
		   uint64_t *bytes_out); /* NULL: nobody asks */
int sim_memory_shared(struct sim_device *d, uint64_t bytes, void **pointer_out);
/* Where the device sees [address, +bytes); NULL when that is not within one allocation. write: it
 * will be written, for those who track. A zero length needs a live address, too. */
void *sim_memory_at(struct sim_device *d, uint64_t address, uint64_t bytes, bool write);
bool sim_memory_is_device(const struct sim_device *d, uint64_t address);
int sim_memory_track(struct sim_device *d, uint64_t address);
int sim_memory_tracked(struct sim_device *d, uint64_t address, uint64_t *pages_out);

/* ---- queue.c ---- */
uint64_t sim_now_ns(void);
bool sim_in_callback(void);
int sim_queue_put(struct sim_queue *q, const struct sim_command *c);
/* Waits until the queue got to a place; deadline_ns 0: for ever. */
int sim_queue_until(struct sim_queue *q, uint64_t place, uint64_t deadline_ns);
uint64_t sim_queue_place(struct sim_queue *q);
int sim_queue_make(struct sim_device *d, struct sim_queue **queue_out);
/* Waits, ends its thread; the object stays until the device is closed: events may name it. */
void sim_queue_end(struct sim_queue *q);
int sim_device_wait(struct sim_device *d); /* for what is in the queues now */
bool sim_device_is_busy(struct sim_device *d);
int sim_device_drain(struct sim_device *d, uint64_t bound_ns);

/* ---- execute.c ---- */
void sim_execute(struct sim_queue *q, struct sim_command *c);
/* A copy of a tool, with its failures. */
/* beside: kernels may be running, and waiting for what is copied. */
int sim_tool_copy_now(struct sim_device *d, uint64_t to, uint64_t from, uint64_t bytes,
		      bool beside);

/* ---- kernels.c ---- */
struct sim_run {
	struct sim_device *device;
	const uint64_t *a;
	uint64_t groups, items; /* of the launch; items of one group */
	struct sim_work work;
	bool fault;
};
struct sim_kernel {
	struct sim_kernel_info info;
	void (*run)(struct sim_run *r);
};
const struct sim_kernel *sim_kernel_find(const char *name);
/* A kernel that waits calls it in its loop: false when it is to give up. */
bool sim_run_may_wait(struct sim_run *r);

/* ---- counters.c ---- */
int sim_counters_acquire(struct sim_device *d);
void sim_counters_release(struct sim_device *d);
int sim_counters_program(struct sim_device *d, const uint32_t *ids, uint32_t n, uint32_t n_units);
int sim_counters_start(struct sim_device *d, struct sim_queue *q, uint32_t unit);
int sim_counters_stop(struct sim_device *d, struct sim_queue *q, uint32_t unit);
int sim_counters_read(struct sim_device *d, uint32_t unit, uint32_t id, uint32_t instance,
		      uint32_t n, struct sim_reading *readings_out);
void sim_counters_add(struct sim_device *d, uint32_t unit, const struct sim_work *work);

/* ---- device.c: the functions behind the table; tool.c: those of tools ---- */
extern const struct sim_api sim_functions;
extern const struct sim_tools sim_tools;
int sim_device_state(struct sim_device *d); /* 0, or why nothing can be done with it */
int sim_launch_with(struct sim_queue *q, const struct sim_launch *launch,
		    void (*done)(void *data, uint64_t begin_ns, uint64_t end_ns), void *data);
extern atomic_uint sim_open_devices, sim_held_counters;
/* ---- check.c ---- */
void sim_check_taken(uint64_t bytes);
void sim_check_given(uint64_t bytes);
void sim_check_left(struct sim_left *left_out);

#endif
