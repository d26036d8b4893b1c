/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated device, for programs: what a vendor's header would be. Link with -lretallysim.
 *
 * A device has memory that the host cannot touch (a device address is a real address of the process
 * that nothing can read or write), queues that run asynchronously, each in order, and a small set
 * of kernels with exact meanings. Same calls, same results, same counts: nothing depends on time,
 * except what a kernel that waits for another one or for the host waits for.
 *
 * Every function returns SIM_OK or a negative code of enum sim_result. Thread-safe; a call about an
 * object that another thread destroys at the same time is a mistake of the program. In a callback
 * of sim_queue_callback only those calls are allowed that put something into a queue and return at
 * once (not sim_copy_out); the others give SIM_NOT_PERMITTED. After fork a child cannot use what
 * its parent opened.
 *
 * Variables of the environment, read by sim_open, make it misbehave on purpose and set its size;
 * they are listed at struct sim_config. Tools can intercept every function below: see
 * retally_sim_tool.h.
 */
#ifndef RETALLY_SIM_H
#define RETALLY_SIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum sim_result {
	SIM_OK = 0,
	SIM_INVALID = -1,       /* an argument is wrong */
	SIM_NO_MEMORY = -2,     /* of the device, or of the host */
	SIM_LOST = -3,          /* the device is gone; every later call says so */
	SIM_FAULT = -4,         /* a kernel left the memory of the device; it is lost since */
	SIM_IO = -5,            /* a transfer, or programming the counters, failed */
	SIM_NOT_READY = -6,     /* of the queries: not yet */
	SIM_TIMEOUT = -7,       /* a bounded wait was not enough */
	SIM_BUSY = -8,          /* somebody else has the counters */
	SIM_NO_SLOT = -9,       /* more counters of a block than it has slots */
	SIM_CONFLICT = -10,     /* counters that cannot be programmed together */
	SIM_NOT_PERMITTED = -11 /* not from a callback */
};

struct sim_device;
struct sim_queue;
struct sim_event;

/* How the device is built and what is to go wrong. The variable beside each member sets it for
 * programs that call sim_open; numbers are decimal or 0x, sizes may end in K, M or G. */
struct sim_config {
	uint32_t size;        /* sizeof(struct sim_config) */
	uint32_t devices;     /* RETALLY_SIM_DEVICES: how many there are; 2 */
	uint64_t memory;      /* RETALLY_SIM_MEMORY: bytes of each for programs; 8G */
	uint64_t tool_memory; /* RETALLY_SIM_TOOL_MEMORY: bytes beside them for tools; 8G */
	uint64_t kernel_ns;   /* RETALLY_SIM_KERNEL_NS: each kernel takes at least so long; 0 */
	uint64_t program_ns; /* RETALLY_SIM_PROGRAM_NS: programming the counters takes so long; 0 */
	uint64_t seed;       /* RETALLY_SIM_SEED: of the noise; 1 */
	uint32_t noise;      /* RETALLY_SIM_NOISE: of counters of cycles, in 1/1000; 0 */
	uint32_t counter_bits;  /* RETALLY_SIM_COUNTER_BITS: width of all counters; 0: as built */
	uint64_t counter_start; /* RETALLY_SIM_COUNTER_START: what they show when programmed; 0 */
	/* RETALLY_SIM_CHECK=FILE is not of a device: at the end of the process a line in FILE says
	 * what tools did not give back (struct sim_left), or "nothing". */
	/* Failures. "the n-th" counts from 1 and from sim_open; 0: never. */
	uint64_t fail_copy;       /* RETALLY_SIM_FAIL_COPY: the n-th copy of a tool ends half-way */
	uint64_t fail_copy_times; /* RETALLY_SIM_FAIL_COPY_TIMES: and so many in all; 1 */
	uint64_t fail_program;    /* RETALLY_SIM_FAIL_PROGRAM: the n-th programming of counters */
	uint64_t fail_program_times; /* RETALLY_SIM_FAIL_PROGRAM_TIMES: and so many in all; 1 */
	uint64_t fail_read;          /* RETALLY_SIM_FAIL_READ: the n-th reading of a counter */
	uint64_t fail_launch; /* RETALLY_SIM_FAIL_LAUNCH: the n-th launch, whoever makes it */
	uint64_t hang_at;     /* RETALLY_SIM_HANG_AT: the n-th execution of a kernel does not end */
	uint64_t hang_ns;     /* RETALLY_SIM_HANG_NS: ... for so long; 0: until sim_close */
	uint64_t lost_after;  /* RETALLY_SIM_LOST_AFTER: the device is lost after n operations */
	uint32_t busy_counters; /* RETALLY_SIM_BUSY_COUNTERS: 1: somebody else has the counters */
	uint32_t pad;
};
/* What is not set by the environment has its default. SIM_INVALID names the variable in
 * sim_error_text. */
int sim_config_read(struct sim_config *config_out);
void sim_config_default(struct sim_config *config_out);

/* Device `number`, from 0. Each sim_open makes a device of its own. */
int sim_open(uint32_t number, struct sim_device **device_out);
int sim_open_with(uint32_t number, const struct sim_config *config, struct sim_device **device_out);
/* Waits for all queues (kernels that wait for the host are told to stop), then frees everything. */
int sim_close(struct sim_device *device);
int sim_device_count(uint32_t *n_out);

/* Memory is not cleared: what was freed keeps its contents, and the lowest place that fits is given
 * out again. Freeing waits for the device. */
int sim_malloc(struct sim_device *device, uint64_t bytes, uint64_t *address_out);
/* Memory that host and kernels can use at the same time; cleared. The address is the pointer. */
int sim_malloc_shared(struct sim_device *device, uint64_t bytes, void **pointer_out);
int sim_free(struct sim_device *device, uint64_t address);

int sim_queue_create(struct sim_device *device, struct sim_queue **queue_out);
int sim_queue_destroy(struct sim_queue *queue); /* waits for it */

#define SIM_ARGUMENTS_MAX 8
struct sim_launch {
	const char *kernel;
	uint32_t grid[3], block[3]; /* in groups, in items; 0 counts as 1 */
	uint32_t n_arguments;
	const uint64_t *arguments; /* device addresses and numbers; copied */
};
/*
 * The kernels. r, w, u: device memory that is read, written from its beginning without being read,
 * or both; s: shared or device memory that the kernel waits for; the others are numbers. Elements
 * are uint32_t unless something else is said; arithmetic wraps.
 *
 *   nop()
 *   vector_add(r a, r b, w c, n)      c[i] = a[i] + b[i]
 *   update(u a, n)                    a[i] = 3 * a[i] + 1, in place
 *   set(w a, n, value)                a[i] = value + i
 *   guarded(u done, u a, n)           where done[i] is 0: much work on a[i], then done[i] = 1
 *   histogram(r bytes, u bins, n)     atomic; 256 bins
 *   chain(r next, w out, start, n)    n steps i = next[i], then out[0] = i
 *   walk(u state, u tally, n)         uint64_t state[n] (random seeds), uint64_t tally[2]: each
 *                                     walker goes on until absorbed; steps and escapes are added up
 *   append(u count, u list, n, value) n times list[count++] = value + i
 *   touch(u bytes, n, part, value)    writes `part` of 1000 blocks of 4096 bytes
 *   spin(s flag, w out)               waits until flag[0] is not 0; out[0] = flag[0]
 *   ping(u turn, me, n)               n rounds; me = 0 and me = 1 wait for each other
 *   stray(r box, value)               *(uint32_t *)box[0] += value, box[0] a stored address (64
 *                                     bits): reaches memory that is no argument
 *   vary(u out, n, mode)              takes 1 to 4 times n iterations, another number each time
 *                                     it runs; mode 1 also writes the number to out[0]
 */
int sim_launch(struct sim_queue *queue, const struct sim_launch *launch);
/* Host to device: the source has been read when the call returns. */
int sim_copy_in(struct sim_queue *queue, uint64_t to, const void *from, uint64_t bytes);
/* Device to host: done once the queue got there. */
int sim_copy_out(struct sim_queue *queue, void *to, uint64_t from, uint64_t bytes);
int sim_copy(struct sim_queue *queue, uint64_t to, uint64_t from, uint64_t bytes);
int sim_fill(struct sim_queue *queue, uint64_t to, uint8_t value, uint64_t bytes);
/* A function of the host, called from a thread of the device once the queue got there. */
int sim_queue_callback(struct sim_queue *queue, void (*function)(void *data), void *data);

/* An event marks a place in a queue. One that was never recorded counts as reached. */
int sim_event_create(struct sim_device *device, struct sim_event **event_out);
int sim_event_destroy(struct sim_event *event);
int sim_event_record(struct sim_event *event, struct sim_queue *queue);
/* What follows in the queue waits until the event, as recorded now, was reached. */
int sim_queue_wait_event(struct sim_queue *queue, struct sim_event *event);
int sim_event_query(struct sim_event *event); /* SIM_NOT_READY */
int sim_event_wait(struct sim_event *event);

int sim_queue_query(struct sim_queue *queue); /* SIM_NOT_READY */
int sim_queue_wait(struct sim_queue *queue);
int sim_wait(struct sim_device *device); /* for all queues */

/* The sentence behind the last error of this thread; never NULL. */
const char *sim_error_text(void);
const char *sim_result_name(int result);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
