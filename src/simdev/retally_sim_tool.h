/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated device, for tools: what a vendor offers to profilers.
 *
 * Interception. The first call of a program into libretallysim.so looks at RETALLY_SIM_TOOL; when
 * it names a shared object, that is opened and its function `retally_sim_tool` is called once,
 * before anything else happened (as CUDA does with CUDA_INJECTION64_PATH and OpenCL with
 * OPENCL_LAYERS). It gets the functions of tools, and the table through which all calls of the
 * program go; it may replace entries of the table, and calls what it replaced through tools->next.
 * A tool that cannot be opened, or returns an error, is left out, with one line on stderr when
 * RETALLY_SIM_VERBOSE is set.
 *
 * Functions of struct sim_tools are never intercepted, nor are the calls that the device makes by
 * itself. Codes are those of enum sim_result.
 */
#ifndef RETALLY_SIM_TOOL_H
#define RETALLY_SIM_TOOL_H

#include "retally_sim.h"

#include <stdatomic.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct sim_api { /* one entry for each function of retally_sim.h that does something */
	int (*open)(uint32_t number, struct sim_device **device_out);
	int (*open_with)(uint32_t number, const struct sim_config *config,
			 struct sim_device **device_out);
	int (*close)(struct sim_device *device);
	int (*malloc)(struct sim_device *device, uint64_t bytes, uint64_t *address_out);
	int (*malloc_shared)(struct sim_device *device, uint64_t bytes, void **pointer_out);
	int (*free)(struct sim_device *device, uint64_t address);
	int (*queue_create)(struct sim_device *device, struct sim_queue **queue_out);
	int (*queue_destroy)(struct sim_queue *queue);
	int (*launch)(struct sim_queue *queue, const struct sim_launch *launch);
	int (*copy_in)(struct sim_queue *queue, uint64_t to, const void *from, uint64_t bytes);
	int (*copy_out)(struct sim_queue *queue, void *to, uint64_t from, uint64_t bytes);
	int (*copy)(struct sim_queue *queue, uint64_t to, uint64_t from, uint64_t bytes);
	int (*fill)(struct sim_queue *queue, uint64_t to, uint8_t value, uint64_t bytes);
	int (*queue_callback)(struct sim_queue *queue, void (*function)(void *data), void *data);
	int (*event_create)(struct sim_device *device, struct sim_event **event_out);
	int (*event_destroy)(struct sim_event *event);
	int (*event_record)(struct sim_event *event, struct sim_queue *queue);
	int (*queue_wait_event)(struct sim_queue *queue, struct sim_event *event);
	int (*event_query)(struct sim_event *event);
	int (*event_wait)(struct sim_event *event);
	int (*queue_query)(struct sim_queue *queue);
	int (*queue_wait)(struct sim_queue *queue);
	int (*wait)(struct sim_device *device);
};

/* ---- kernels ---- */
enum sim_argument_kind {
	SIM_ARGUMENT_NUMBER,
	SIM_ARGUMENT_READ,  /* memory that the kernel never writes */
	SIM_ARGUMENT_WRITE, /* memory whose contents it never reads */
	SIM_ARGUMENT_UPDATE,
	SIM_ARGUMENT_SIGNAL, /* memory that it waits for, and never writes */
};
struct sim_kernel_info {
	const char *name;
	uint32_t n_arguments;
	enum sim_argument_kind arguments[SIM_ARGUMENTS_MAX];
	bool stays; /* touches nothing but its arguments */
};

/* ---- counters ---- */
enum sim_counter_flag {
	SIM_COUNTER_LEVEL = 1 << 0,       /* says little without its accumulator */
	SIM_COUNTER_ACCUMULATOR = 1 << 1, /* must be in the slot behind its level counter */
	SIM_COUNTER_NOISY = 1 << 2,       /* of cycles: subject to sim_config.noise */
};
struct sim_block {
	const char *name;
	uint32_t slots, instances;
};
struct sim_counter {
	uint32_t id;
	const char *name;
	uint32_t block; /* index into the blocks */
	uint32_t bits;
	uint32_t flags;     /* enum sim_counter_flag */
	uint32_t level;     /* id, of an accumulator */
	uint32_t exclusive; /* counters with different numbers other than 0 exclude each other */
};
struct sim_reading {
	uint64_t begin, end; /* of the register; it counts modulo 2^bits */
	uint32_t bits;
	bool overflowed; /* it went round more than once: end - begin is not the count */
};
struct sim_stats {
	uint64_t executions; /* of kernels */
	uint64_t operations; /* and of copies and fills */
	uint64_t programmings;
	uint64_t tool_copies;
	uint64_t memory_used, tool_memory_used; /* bytes */
};

/* What tools have taken in this process and not given back; devices that were closed with some of
 * it count. For the self-check of RETALLY_SIM_CHECK, and for tests. */
struct sim_left {
	uint64_t devices;     /* open, of programs */
	uint64_t allocations; /* of tool_malloc */
	uint64_t bytes;       /* in them */
	uint64_t counters;    /* open devices whose counters are held */
};

struct sim_tools {
	uint32_t size;
	struct sim_api next; /* the functions themselves */

	/* Room for one pointer of the tool at each device, queue and event; NULL at first. */
	void **(*device_data)(struct sim_device *device);
	void **(*queue_data)(struct sim_queue *queue);
	void **(*event_data)(struct sim_event *event);
	struct sim_device *(*event_device)(struct sim_event *event);
	/* The calling thread is inside a callback of a program. */
	bool (*in_callback)(void);
	const char *(*error_text)(void); /* as sim_error_text */
	/* NULL: there is no such kernel. */
	const struct sim_kernel_info *(*kernel)(const char *name);
	void (*stats)(struct sim_device *device, struct sim_stats *stats_out);
	void (*left)(struct sim_left *left_out);

	/* All that was put into queues before the call has been done, callbacks included. */
	int (*drain)(struct sim_device *device, uint64_t bound_ns);
	/* A launch; `done` is called from a thread of the device when it is over or was given up,
	 * with its times (CLOCK_MONOTONIC; 0: it did not run). Not called when this fails. */
	int (*launch)(struct sim_queue *queue, const struct sim_launch *launch,
		      void (*done)(void *data, uint64_t begin_ns, uint64_t end_ns), void *data);
	/* A place in the queue: what was put into it until now. And waiting for it in another. */
	uint64_t (*queue_place)(struct sim_queue *queue);
	int (*queue_wait_place)(struct sim_queue *queue, struct sim_queue *other, uint64_t place);
	/* Waits on the host until the queue got there; SIM_TIMEOUT. */
	int (*queue_reach)(struct sim_queue *queue, uint64_t place, uint64_t bound_ns);

	/* Memory for tools, in a part of its own: programs never get it. */
	int (*tool_malloc)(struct sim_device *device, uint64_t bytes, uint64_t *address_out);
	int (*tool_free)(struct sim_device *device, uint64_t address);
	/* From and to may be device addresses of any kind or host pointers. queue NULL: now, and
	 * done on return; else done by the queue: then host memory must stay, and failed (which
	 * must stay as well) is set to 1 when it failed. */
	int (*copy)(struct sim_device *device, struct sim_queue *queue, uint64_t to, uint64_t from,
		    uint64_t bytes, atomic_int *failed);
	/* Where the device itself sees the memory, for comparing; only while it is drained. NULL:
	 * not within one allocation. */
	const void *(*look)(struct sim_device *device, uint64_t address, uint64_t bytes);
	/* Remembers what kernels, copies and fills of queues (not tools) write to an allocation, in
	 * pages of SIM_PAGE bytes, from now on; and: sets the
	 * bits (cleared by the caller) of the pages written since the last call of either. */
	int (*track)(struct sim_device *device, uint64_t address);
	int (*tracked)(struct sim_device *device, uint64_t address, uint64_t *pages_out);

	/* Counters: the tables, then one owner for each device. */
	const struct sim_block *(*blocks)(uint32_t *n_out);
	const struct sim_counter *(*counters)(uint32_t *n_out);
	int (*counters_acquire)(struct sim_device *device);
	void (*counters_release)(struct sim_device *device);
	/* Room for n_units units, all zero. SIM_NO_SLOT, SIM_CONFLICT, SIM_IO. */
	int (*counters_program)(struct sim_device *device, const uint32_t *ids, uint32_t n,
				uint32_t n_units);
	/* Counting into a unit. queue NULL: all kernels of the device, from now to stop. Else: the
	 * kernels between the two places in this queue. */
	int (*counters_start)(struct sim_device *device, struct sim_queue *queue, uint32_t unit);
	int (*counters_stop)(struct sim_device *device, struct sim_queue *queue, uint32_t unit);
	/* Once drained: the registers of n instances of the block, from `instance` on, in one go.
	 * SIM_INVALID when the counter is not programmed, or there are not so many. */
	int (*counters_read)(struct sim_device *device, uint32_t unit, uint32_t id,
			     uint32_t instance, uint32_t n, struct sim_reading *readings_out);
};
#define SIM_PAGE 4096u

/* A device together with the functions to use it: how the parts of a tool hand one around. device
 * is NULL once it was closed. */
struct sim_tool_device {
	struct sim_device *device;
	const struct sim_tools *tools;
};

/* What a tool exports under the name `retally_sim_tool`. 0: it is in. */
typedef int sim_tool_entry(const struct sim_tools *tools, struct sim_api *api);
#define SIM_TOOL_SYMBOL "retally_sim_tool"

/* For a tool that is linked to the program (tests): the same without a variable, while no device
 * is open. NULL takes it out again. */
int sim_install_tool(sim_tool_entry *entry);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
