/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated device: memory that the host cannot touch, streams of commands, one thread that
 * carries them out. Everything is decided by the order of the program's calls; a kernel that waits
 * gives way to the other streams. All functions that take a lock say so; the others want gpu.lock
 * held.
 */
#ifndef RETALLY_STANDIN_GPU_H
#define RETALLY_STANDIN_GPU_H

#include "standin.h"

#include <pthread.h>

/* More results of the driver than the product knows by name. */
enum {
	ERROR_NOT_INITIALIZED = 3,
	ERROR_NO_DEVICE = 100,
	ERROR_INVALID_DEVICE = 101,
	ERROR_INVALID_IMAGE = 200,
	ERROR_INVALID_CONTEXT = 201,
	ERROR_OPERATING_SYSTEM = 304,
	ERROR_INVALID_HANDLE = 400,
	ERROR_ILLEGAL_ADDRESS = 700,
	ERROR_LAUNCH_FAILED = 719,
	ERROR_NOT_SUPPORTED = 801,
	ERROR_CAPTURE_UNSUPPORTED = 900,
	ERROR_UPDATE_FAILURE = 910,
};

#define GPU_MEMORY     (8ull << 30)
#define GPU_PARAMETERS 8
#define GPU_ARGUMENTS  128 /* bytes */

enum gpu_memory_kind {
	MEMORY_DEVICE,
	MEMORY_MANAGED,
	MEMORY_PINNED,
	MEMORY_REGISTERED
};
struct gpu_memory {
	cu_ptr address;
	size_t size;
	enum gpu_memory_kind kind;
	int device;          /* where it lies */
	bool own;            /* taken by the injected library */
	bool mapped;         /* an address reservation: */
	cu_ptr backing;      /* where its memory is; 0: nothing is mapped */
	uint64_t allocation; /* number of what is mapped, see shared.c */
};

struct gpu_global {
	char name[48];
	cu_ptr address;
	size_t size;
	bool constant;
	bool hidden; /* not in the image that a listener is shown */
};
struct CUfunc_st {
	struct CUmod_st *module;
	const struct gpu_kernel *kernel;
	struct CUfunc_st
		*real; /* of a library's kernel, which passes for a function: its function */
	struct CUfunc_st *handle; /* the other way, when a graph's node was shown with it */
	struct CUfunc_st *next;
};
struct CUmod_st {
	struct CUctx_st *context;
	bool unloaded;
	unsigned n_globals;
	struct gpu_global globals[8];
	struct CUfunc_st *functions;
	struct CUarray_st *reference; /* of its surface reference */
};

enum gpu_step {
	STEP_DONE,
	STEP_AGAIN, /* it waits for something; others go first */
	STEP_FAULT
};
struct gpu_launch {
	struct CUfunc_st *function;
	unsigned grid[3], block[3];
	unsigned char arguments[GPU_ARGUMENTS];
	size_t packed;     /* bytes, when they came in one buffer */
	uint64_t until_ns; /* a fault: not over before that time */
	uint64_t work[RAWS];
};
struct gpu_kernel {
	const char *name;
	unsigned n;
	unsigned char sizes[GPU_PARAMETERS];
	enum gpu_step (*step)(struct gpu_launch *l);
};
/* kernels.c: NULL when there is none of that name. */
const struct gpu_kernel *gpu_kernel_find(const char *name, size_t length);
size_t gpu_kernel_offset(const struct gpu_kernel *k, unsigned i);

/* launches.c: takes them as a launch gives them. */
bool gpu_launch_arguments(struct gpu_launch *l, void **list, void **extra);

enum gpu_command_kind {
	COMMAND_KERNEL,
	COMMAND_COPY,
	COMMAND_BOX, /* a copy with arrays, or with pitches */
	COMMAND_SET,
	COMMAND_RECORD,
	COMMAND_WAIT,
	COMMAND_HOST,
	COMMAND_FREE,
	COMMAND_NOTHING
};
struct gpu_command {
	struct gpu_command *next;
	enum gpu_command_kind kind;
	uint64_t number; /* in the order of the calls */
	struct gpu_launch launch;
	struct cu_copy_3d box;
	cu_ptr to, from;
	void *staged; /* source of a copy, ours; freed with it */
	size_t n;     /* bytes, or elements of a fill */
	unsigned value, width;
	struct CUevent_st *event;
	uint64_t generation; /* of the event */
	void (*call)(void *data);
	void *data;
};
struct CUevent_st {
	uint64_t recorded, done; /* generations */
	uint64_t time_ns;
};
struct CUgraphNode_st {
	struct gpu_command command;
	int type;
	bool off;                            /* of an executable graph: switched off */
	bool updatable;                      /* kernels may change it */
	const struct CUgraphNode_st *origin; /* of an executable graph's: what it is called by */
	struct CUgraph_st *inside;           /* of a graph in a graph: its own copy */
	void *arguments[GPU_PARAMETERS];     /* as they are shown */
	void *extra[7];
};
struct CUgraph_st {
	unsigned n, room;
	struct CUgraphNode_st **nodes;
};
struct CUgraphExec_st {
	struct CUgraph_st graph; /* copies of its nodes */
};
struct CUstream_st {
	struct CUstream_st *next;
	struct CUctx_st *context;
	unsigned flags; /* 1: it does not wait for the default stream */
	bool is_default;
	struct gpu_command *first, *last;
	struct CUgraph_st *capture;
};
struct CUctx_st {
	struct CUctx_st *next;
	int device;
	bool destroyed, primary;
	bool peers[STANDIN_DEVICES]; /* whose memory its kernels may use */
	struct CUstream_st legacy;
	struct CUstream_st *streams; /* all but the default one */
	cu_result error;             /* sticks */
};

#define GPU_L2 (1u << 20) /* bytes */

extern struct gpu {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	bool started, initialised;
	char *host_base, *base; /* what the host sees of device memory, and what the device sees */
	struct gpu_memory *memories;
	size_t n_memories, room;
	uint64_t used;
	struct CUctx_st *contexts;
	uint64_t next_number, now_ns;
	uint64_t raw[STANDIN_DEVICES][RAWS];
	const struct CUctx_st *running; /* whose kernel does its work now */
	unsigned captures;
	bool cold;    /* the L2 holds nothing that a kernel or copy left there */
	bool stalled; /* nothing could go on at the last look */
} gpu;

/* Maps the device's memory and starts the thread; once. */
void gpu_start(void);
cu_ptr gpu_allocate(size_t bytes, size_t align);
/* On the device of the context that is current. */
bool gpu_memory_add(cu_ptr address, size_t size, enum gpu_memory_kind kind);
struct gpu_memory *gpu_memory_of(cu_ptr address);
bool gpu_memory_remove(cu_ptr address);
/* The address of plain memory for one that may be mapped to it. */
cu_ptr gpu_backing(const struct gpu_memory *m, cu_ptr address);
/* Where the device finds n bytes; NULL: not (all) of one live memory. */
void *gpu_at(cu_ptr address, size_t n);
/* Memory of the host that the device does not know can be copied all the same: its source is read
 * before the call returns, and a copy into it is over when the call returns. */
bool gpu_is_pageable(cu_ptr address);
/* RETALLY_STANDIN_PAGEABLE is set: kernels use memory of the host that nobody registered. */
bool gpu_reaches_pageable(void);

/* What another process has to do it does now; see standin_peer_add. */
void gpu_peer_turn(void);

uint64_t gpu_clock_ns(void);
struct gpu_command *gpu_command_new(enum gpu_command_kind kind);
/* Takes the command; into the stream, or into the graph that it is being captured to. */
void gpu_enqueue(struct CUstream_st *s, struct gpu_command *c);
/* graphs.c: a new node at the end, all 0. */
struct CUgraphNode_st *gpu_node_add(struct CUgraph_st *graph);
bool gpu_stream_idle(const struct CUstream_st *s);
bool gpu_context_idle(const struct CUctx_st *c);
/* Wait with the lock held; it is let go meanwhile. */
void gpu_stream_wait(struct CUstream_st *s);
void gpu_context_wait(struct CUctx_st *c);

#endif
