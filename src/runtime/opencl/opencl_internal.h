/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the OpenCL layer: what it knows of the program's objects, and what its files offer each
 * other. Nobody outside src/runtime/opencl includes this.
 *
 * The objects are in one table by handle (opencl_track.c) under one lock, which is never held while
 * the vendor's library or the engine is called. An object found there stays valid as long as the
 * program may use its handle, which it must not do while it releases it.
 */
#ifndef RETALLY_RUNTIME_OPENCL_INTERNAL_H
#define RETALLY_RUNTIME_OPENCL_INTERNAL_H

#include "runtime/opencl/opencl.h"
#include "runtime/opencl/opencl_abi.h"
#include "runtime/opencl/opencl_pool.h"

#include <pthread.h>
#include <stdatomic.h>

#define OPENCL_DEVICES 16u   /* that are counted; on others everything is live */
#define OPENCL_THREADS 1024u /* of all CPU devices together */
#define OPENCL_EPOCH   1024u /* operations whose order is remembered, see opencl_order.c */
#define OPENCL_POCL    "Portable Computing Language" /* PoCL's platform */

enum object_kind {
	OBJECT_CONTEXT = 1,
	OBJECT_QUEUE,
	OBJECT_MEMORY,
	OBJECT_KERNEL
};
struct object {
	void *handle;
	enum object_kind kind;
	uint32_t refs; /* the program's own references */
	struct object *next;
};

struct device;
struct context {
	struct object object;
	uint32_t n_devices;
	struct device *devices[OPENCL_DEVICES];
	uint32_t children; /* queues, memories and kernels in the table; table lock */
	bool failed_event; /* a user event was set to an error */
	bool device_queue; /* kernels may enqueue by themselves */
	/* Our own queue for replays on each of the devices, in order. */
	struct vendor_queue *replays[OPENCL_DEVICES];
	struct vendor_event *last[OPENCL_DEVICES]; /* on it; replay lock */
};

struct queue {
	struct object object;
	struct context *context;
	struct device *device; /* NULL: not counted */
	uint64_t number;
	bool out_of_order;
	_Atomic bool used;  /* since it was last known to be idle */
	uint32_t busy;      /* drains that use it; table lock */
	bool dead;          /* whoever makes busy 0 releases it; table lock */
	struct queue *next; /* of the device; table lock */
};

struct memory {
	struct object object;
	struct context *context;
	struct memory *parent; /* buffer that it is a part or a view of; only roots are saved */
	uint32_t children;     /* table lock */
	uint32_t type;         /* CL_MEM_TYPE */
	uint64_t flags;
	size_t offset;             /* in the root */
	size_t size;               /* of a root: bytes that are saved */
	size_t element, region[3]; /* images */
	_Atomic uint32_t mapped;   /* of a root: times that the host has it mapped */
	bool limited;              /* CL_MEM_HOST_NO_ACCESS or _WRITE_ONLY or _READ_ONLY */
	unsigned char *direct;     /* where the device has it; NULL: unknown. Replay lock */
	bool dense;                /* most of it was written when it was last tracked */
	struct replay_memory *replay[OPENCL_DEVICES];
};

struct argument {
	size_t size;
	bool is_set;
	bool is_local; /* only a size */
	size_t room;
	unsigned char *bytes; /* of the pool */
};
struct kernel_copy { /* our own kernel object, for replays on one device */
	struct device *device;
	struct vendor_kernel *handle;
	struct kernel_copy *next;
};
struct kernel {
	struct object object;
	struct context *context;
	struct vendor_program *program;
	char *name;
	uint32_t n_arguments;
	struct argument *arguments;
	bool examined;        /* why is known for its program */
	const char *why;      /* it is never replayed; static */
	const char *argument; /* ... because of an argument: until that is set again */
	uint32_t svm_argument;
	uint32_t users;             /* recorded operations, and 1 for the table; table lock */
	struct kernel_copy *copies; /* replay lock of the device; the list: table lock */
};

/* What happened on a device since its last window ended, to know which operations are in order. */
struct epoch_op {
	struct queue *queue;
	struct vendor_event *event; /* that the program got, or NULL */
	bool barrier;               /* later commands of an out-of-order queue wait for it */
	uint32_t n_memories;
	struct memory *memories[16];
	bool many;                          /* more than fit: in touch with everything */
	uint64_t before[OPENCL_EPOCH / 64]; /* operations that surely end before it begins */
};

struct device {
	struct vendor_device *handle;
	uint32_t number;
	char name[128], platform[128];
	bool is_cpu;
	bool is_direct; /* its memory is this process's memory, at addresses that stay */
	struct replay_device *replay;
	struct queue *queues;      /* table lock */
	_Atomic uint64_t enqueues; /* by the program, counts up */
	uint32_t n_replaying;      /* contexts whose replay queue may be busy; replay lock */
	struct context *replaying[OPENCL_DEVICES];
	pthread_mutex_t order; /* of the epoch; held for no call of anybody */
	uint32_t n_epoch;
	struct epoch_op *epoch;
	struct runtime_threads threads;
};

struct layer {
	struct opencl_dispatch next; /* what the program's calls go to */
	_Atomic bool attached;
	struct replay *engine;
	struct runtime_opencl_options options;
	const struct runtime *callbacks;
	pthread_mutex_t table;
	_Atomic uint32_t user_events;   /* created and not yet set */
	_Atomic uint32_t callbacks_due; /* of events, registered and not yet returned */
	_Atomic(const char *)
		opaque; /* an interface in use by which kernels reach unknown memory */
	_Atomic uint64_t queue_numbers, addresses;
	uint32_t n_devices;
	struct device devices[OPENCL_DEVICES];
	_Atomic uint32_t n_threads;
	int32_t threads[OPENCL_THREADS];
};
extern struct layer layer;
extern __thread bool in_callback; /* the thread is in an event callback of the program */

/* The layer has something to do in this call. */
static inline bool layer_is_on(void)
{
	return atomic_load_explicit(&layer.attached, memory_order_relaxed);
}

/* ---- opencl_track.c ---- */
/* NULL when there is none of the kind. */
void *track_find(const void *handle, enum object_kind kind);
/* Puts it in with one reference. */
void track_add(void *object, void *handle, enum object_kind kind);
void track_retain(const void *handle, enum object_kind kind);
/* Takes one reference away; true: it was the last one, and the object is still in the table. */
bool track_release(const void *handle, enum object_kind kind);
void track_remove(void *object);
/* Calls visit for each, in no order, without the lock; nobody may release meanwhile. */
void track_lock(void);
void track_unlock(void);

struct device *device_of(struct vendor_device *handle);
struct context *context_add(struct vendor_context *handle);
void context_drop_child(struct context *c);
struct queue *queue_add(struct vendor_context *context, struct vendor_device *device,
			struct vendor_queue *handle, uint64_t properties);
struct memory *memory_add(struct context *c, struct vendor_mem *handle, const char *why);
void memory_forget(struct memory *m);
struct memory *memory_root(struct memory *m);
struct kernel *kernel_add(struct vendor_kernel *handle);
/* Gives back one use; the last one frees it. */
void kernel_leave(struct kernel *k);
uint32_t device_index(const struct context *c, const struct device *d);

/* ---- opencl_threads.c ---- */
/* Around a call by which the vendor's library may start threads. */
struct thread_watch {
	uint32_t n;
	int32_t tids[OPENCL_THREADS];
};
struct thread_watch *threads_watch(void);
void threads_watched(struct thread_watch *w);
uint32_t threads_list(void *data, int32_t *tids_out, uint32_t room);

/* ---- opencl_rules.c ---- */
/* Ends the windows that the call concerns, as the table of rules says. */
void rules_apply(const char *call, struct device *d);
/* The same for every device of the context, or for all (NULL). */
void rules_apply_context(const char *call, struct context *c);

/* ---- opencl_order.c ---- */
/* Whether an operation on the queue, about to be enqueued with this wait list, is in order with
 * every other one since the window began that shares a memory with it. */
bool order_is_clear(struct queue *q, uint32_t n_wait, struct vendor_event *const *wait,
		    struct memory *const *memories, uint32_t n_memories);
void order_note(struct queue *q, uint32_t n_wait, struct vendor_event *const *wait,
		struct memory *const *memories, uint32_t n_memories, struct vendor_event *event);
/* A marker, or a barrier, which later commands of the queue wait for. */
void order_mark(struct queue *q, uint32_t n_wait, struct vendor_event *const *wait, bool barrier,
		struct vendor_event *event);
void order_forget(struct device *d);
/* The handle may be used again for another event. */
void order_forget_event(const struct vendor_event *e);

/* ---- opencl_enqueue.c ---- */
/* A command of the program on its way, so that a save can be put in front of it. Of the thread. */
struct command {
	struct queue *queue;
	uint32_t n_wait;
	struct vendor_event *const *wait;
	bool blocking; /* over when the call returns: in order with all that comes */
	bool taken;
	uint32_t n_saves, room;
	struct vendor_event **saves; /* an out-of-order queue: what it must wait for as well */
	struct vendor_event **merged;
};
extern __thread struct command *command_now;
#define REACH_ROOM 64u
struct reach {
	uint32_t n, n_memories;
	const char *why; /* the operation cannot be replayed */
	struct runtime_reach items[REACH_ROOM];
	struct memory *memories[REACH_ROOM]; /* roots */
};
void reach_add(struct reach *r, struct device *d, struct memory *m, uint64_t offset, uint64_t size,
	       uint32_t access);
/* Why a command of this reach, on this queue and from this thread, must not be replayed, or NULL.
 */
const char *command_why(const struct queue *q, const struct reach *r);
/* The command is about to be launched; the engine decides about it. why: of command_why, or
 * another. Afterwards the command waits for what command_wait says. */
void command_begin(struct command *c, struct runtime_op *op, const struct reach *r,
		   const char *why);
/* It was launched, or could not be. Frees op->recorded unless the engine took it. */
void command_end(struct command *c, struct runtime_op *op, const struct reach *r, bool launched,
		 struct vendor_event *const *event);
uint32_t command_n_wait(const struct command *c);
struct vendor_event *const *command_wait(const struct command *c);

/* ---- opencl_record.c ---- */
enum record_kind {
	RECORD_DISPATCH = 1,
	RECORD_WRITE,
	RECORD_WRITE_RECT,
	RECORD_WRITE_IMAGE,
	RECORD_COPY,
	RECORD_COPY_RECT,
	RECORD_FILL,
	RECORD_COPY_IMAGE,
	RECORD_FILL_IMAGE,
	RECORD_IMAGE_TO_BUFFER,
	RECORD_BUFFER_TO_IMAGE,
};
struct record {
	enum record_kind kind;
	struct context *context;
	struct vendor_event *event; /* of its last launch */
	struct kernel *kernel;
	uint32_t dimensions, n_arguments;
	bool has_offset, has_local;
	size_t offset[3], global[3], local[3]; /* dispatches; copies: origin, region, origin */
	struct vendor_mem *source, *target;
	size_t source_offset, target_offset, bytes, pattern;
	size_t pitch[4];     /* row and slice of either side */
	unsigned char *data; /* arguments, source of a write, or pattern */
	struct store *held;  /* what data is in when it is large; else data is of the pool */
};
struct record *record_new(enum record_kind kind, struct queue *q);
void record_free(struct record *r);
/* Room for r->data. */
bool record_room(struct record *r, size_t bytes);
/* Copies the arguments that the kernel has now. */
struct record *record_dispatch(struct kernel *k, struct queue *q, uint32_t dimensions,
			       const size_t *offset, const size_t *global, const size_t *local);
int record_launch(void *device, void *recorded, struct error *err);
int record_times(void *device, void *recorded, uint64_t *begin_ns_out, uint64_t *end_ns_out,
		 struct error *err);
void record_release(void *device, void *recorded);
/* Our own queue for the context's replays on the device. */
struct vendor_queue *replay_queue(struct context *c, struct device *d, struct error *err);

/* ---- opencl_drain.c ---- */
int drain(void *device, uint64_t bound_ns, struct error *err);
/* Waits for one event, as long as it takes. */
int wait_for(struct vendor_event *e, const char *what, struct error *err);

/* ---- opencl_memory.c, opencl_written.c: callbacks of struct runtime ---- */
int memory_store_get(void *device, uint64_t bytes, enum runtime_store_kind kind, void **store_out,
		     struct error *err);
void memory_store_put(void *device, void *store);
int memory_save(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		void *store, uint64_t store_offset, const struct runtime_op *before,
		struct error *err);
int memory_restore(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		   void *store, uint64_t store_offset, struct error *err);
int memory_compare(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		   void *store, uint64_t store_offset, uint64_t chunk, uint64_t *bitmap,
		   struct error *err);
int memory_hash(void *device, const struct runtime_memory *m, uint64_t *hash_out,
		struct error *err);
bool written_is_supported(void);
int written_track(void *device, const struct runtime_memory *m, struct error *err);
int written_changed(void *device, const struct runtime_memory *m, uint64_t chunk, uint64_t *bitmap,
		    struct error *err);
/* The same on plain memory of this process. */
int written_arm(void *begin, size_t bytes, struct error *err);
int written_read(void *begin, size_t bytes, uint64_t chunk, uint64_t *bitmap, size_t *pages_out,
		 struct error *err);

/* ---- opencl_hooks_kernels.c ---- */
/* Why the kernel is never replayed on the device, or not with its present arguments; NULL. */
const char *kernel_why(struct kernel *k, const struct device *d);

/* ---- opencl_source.c: of a text that ends with a NUL; true where it cannot be told ---- */
bool source_may_print(const char *source);
/* It has variables at program scope, or static ones in functions, that a kernel could change. */
bool source_may_keep(const char *source);
/* These options of clBuildProgram (or NULL) choose a language that has such variables. */
bool options_may_keep(const char *options);

/* ---- opencl_bitcode.c ---- */
/* The built program has a variable that a kernel could change and the next launch would see; true
 * where it cannot be told, as where there is no LLVM bitcode in it. */
bool bitcode_may_keep(const unsigned char *bytes, size_t n);

/* ---- opencl_programs.c ---- */
/* Why no kernel of the program is replayed on the device (static), or NULL. */
const char *program_why(struct vendor_program *p, const struct device *d);
/* Programs are built anew, perhaps at an address that is known. */
void programs_forget(void);

/* ---- opencl_hooks_*.c: fill in the entries that they hook ---- */
void hooks_objects(struct opencl_dispatch *t);
void hooks_kernels(struct opencl_dispatch *t);
void hooks_dispatch(struct opencl_dispatch *t);
void hooks_transfer(struct opencl_dispatch *t);
void hooks_host(struct opencl_dispatch *t);

/* ---- opencl_layer.c ---- */
/* The layer's functions, to be called in place of those of target (n entries), which they call.
 * Once per process: whoever comes second gets NULL, so that no call passes by here twice, and so
 * does everybody while nothing is attached. Entries that target lacks are NULL. */
const struct opencl_dispatch *layer_take(const struct opencl_dispatch *target, uint32_t n);

#endif
