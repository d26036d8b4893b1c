/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Own declarations of the public C ABI of the HSA runtime (ROCr) that retally uses: AQL packets,
 * queues, signals, memory pools, executables, and the two tables of functions that tools patch.
 * Nothing of the vendor is included or linked. Facts: HSA 1.2 and ROCr 1.18 (HSA_API_TABLE 3, core
 * table 2, AMD table 2), x86-64; layouts were measured, scripts/check-rocm-abi compares all of them
 * with the headers of an installed ROCm.
 *
 * Handles (agent, signal, pool, region, executable, symbol...) are structs of one uint64_t in the
 * vendor's headers; such a struct is passed and returned like the number itself, so they are
 * numbers here. Enums are 32 bits wide. A table is only ever extended at its end within a major
 * version: its minor version is its size in bytes; what lies behind that must not be touched
 * (HSA_TABLE_HAS).
 */
#ifndef RETALLY_RUNTIME_HSA_ABI_H
#define RETALLY_RUNTIME_HSA_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hsa_result {
	HSA_OK = 0,
	HSA_BREAK = 1, /* a callback ended an iteration; no error */
	HSA_FAILED = 0x1000,
	HSA_INVALID_ARGUMENT = 0x1001,
	HSA_INVALID_QUEUE_CREATION = 0x1002,
	HSA_INVALID_ALLOCATION = 0x1003,
	HSA_INVALID_AGENT = 0x1004,
	HSA_INVALID_SIGNAL = 0x1006,
	HSA_INVALID_QUEUE = 0x1007,
	HSA_OUT_OF_RESOURCES = 0x1008,
	HSA_INVALID_PACKET_FORMAT = 0x1009,
	HSA_NOT_INITIALIZED = 0x100b,
	HSA_INVALID_CODE_OBJECT = 0x1010,
	HSA_INVALID_EXECUTABLE = 0x1011,
	HSA_FROZEN_EXECUTABLE = 0x1012,
	HSA_INVALID_SYMBOL_NAME = 0x1013,
	HSA_EXCEPTION = 0x1016,
	HSA_INVALID_EXECUTABLE_SYMBOL = 0x1019,
	HSA_INVALID_CODE_OBJECT_READER = 0x1021,
	HSA_FATAL = 0x1026,
	HSA_INVALID_POOL = 40,
	HSA_APERTURE_VIOLATION = 41,
	HSA_MEMORY_FAULT = 43,
	HSA_NOT_SUPPORTED = 47,
};

/* ---- packets ---- */

enum hsa_packet_kind { /* bits 0 to 7 of the header */
	HSA_PACKET_VENDOR = 0,
	HSA_PACKET_INVALID = 1, /* a free slot of the ring: whoever writes the packet sets the
				 * header last, with release; the processor sets it back to this */
	HSA_PACKET_KERNEL = 2,
	HSA_PACKET_BARRIER_AND = 3,
	HSA_PACKET_AGENT = 4,
	HSA_PACKET_BARRIER_OR = 5,
};
enum hsa_packet_bits {
	HSA_PACKET_KIND_MASK = 0xff,
	HSA_PACKET_BARRIER = 1 << 8, /* waits for every packet before it to complete */
	HSA_PACKET_ACQUIRE_SHIFT = 9,
	HSA_PACKET_RELEASE_SHIFT = 11, /* both 2 bits of enum hsa_fence */
};
enum hsa_fence {
	HSA_FENCE_NONE = 0,
	HSA_FENCE_AGENT = 1,
	HSA_FENCE_SYSTEM = 2,
};
enum hsa_vendor_format { /* byte 2 of a vendor packet */
	HSA_VENDOR_PM4 = 1,
	HSA_VENDOR_BARRIER_VALUE = 2,
	HSA_VENDOR_INTERCEPT_MARKER = 0xfe, /* seen by interceptors only, never in a ring */
};

/* Every packet: 64 bytes, the header first, the completion signal last. The signal (0: none) is
 * decremented by 1 when the packet completes. */
struct hsa_packet {
	uint16_t header;
	uint8_t body[54];
	uint64_t completion;
};
struct hsa_kernel_packet {
	uint16_t header;
	uint16_t setup; /* dimensions, 1 to 3, in bits 0 and 1 */
	uint16_t workgroup[3];
	uint16_t reserved0;
	uint32_t grid[3]; /* in work-items */
	uint32_t private_bytes;
	uint32_t group_bytes;
	uint64_t kernel_object;
	void *kernarg;
	uint64_t reserved2;
	uint64_t completion;
};
struct hsa_barrier_packet { /* and, or */
	uint16_t header;
	uint16_t reserved0;
	uint32_t reserved1;
	uint64_t dependency[5]; /* signals, 0: none; and: all are 0, or: one is 0 */
	uint64_t reserved2;
	uint64_t completion;
};
struct hsa_barrier_value_packet {
	uint16_t header; /* HSA_PACKET_VENDOR */
	uint8_t format;  /* HSA_VENDOR_BARRIER_VALUE */
	uint8_t reserved;
	uint32_t reserved0;
	uint64_t signal;
	int64_t value;
	int64_t mask;       /* (signal & mask) is compared */
	uint32_t condition; /* enum hsa_condition */
	uint32_t reserved1;
	uint64_t reserved2;
	uint64_t reserved3;
	uint64_t completion;
};

/* ---- queues and signals ---- */

enum hsa_queue_kind {
	HSA_QUEUE_MULTI = 0,
	HSA_QUEUE_SINGLE = 1, /* one thread submits */
	HSA_QUEUE_COOPERATIVE = 2,
};
struct hsa_queue {
	uint32_t type;
	uint32_t features; /* bit 0: kernel dispatches */
	void *base;        /* size packets */
	uint64_t doorbell; /* a signal: the index of the last packet submitted is stored into it */
	uint32_t size;     /* packets, a power of two */
	uint32_t reserved1;
	uint64_t id;
};

enum hsa_condition {
	HSA_EQ = 0,
	HSA_NE = 1,
	HSA_LT = 2,
	HSA_GTE = 3,
};
enum hsa_wait {
	HSA_WAIT_BLOCKED = 0,
	HSA_WAIT_ACTIVE = 1,
};

/* What the handle of a signal points to in ROCr; only for `value` and the times of a dispatch. */
struct hsa_signal_body {
	int64_t kind;  /* 1 user, -1 doorbell */
	int64_t value; /* volatile; doorbell: a pointer to the register */
	uint64_t mailbox;
	uint32_t event;
	uint32_t reserved1;
	uint64_t start_ts, end_ts; /* of the packet that completed it, ticks of the agent */
	uint64_t queue;
	uint32_t reserved3[2];
};

/* Passes packets on: to the interceptor registered before this one, the last one into the ring.
 * Only inside the handler that it was given to, from the same thread; whole packets, headers valid.
 */
typedef void (*hsa_packet_writer)(const void *packets, uint64_t n);
/* Gets what was submitted (one packet a call, except from another interceptor), on the thread that
 * rang the doorbell, with a lock of the queue held. index: of the first packet, in the program's
 * ring. Packets that it does not write are lost. */
typedef void (*hsa_packet_handler)(const void *packets, uint64_t n, uint64_t index, void *data,
				   hsa_packet_writer writer);
typedef void (*hsa_queue_callback)(uint32_t status, struct hsa_queue *queue, void *data);
/* true: to be called again. */
typedef bool (*hsa_signal_handler)(int64_t value, void *data);

/* ---- agents and memory ---- */

enum hsa_device_kind {
	HSA_KIND_CPU = 0,
	HSA_KIND_GPU = 1,
};
enum hsa_agent_attribute {
	HSA_AGENT_NAME = 0,        /* char[64], "gfx90a" */
	HSA_AGENT_VENDOR_NAME = 1, /* char[64] */
	HSA_AGENT_FEATURE = 2,
	HSA_AGENT_WAVEFRONT_SIZE = 6,
	HSA_AGENT_QUEUES_MAX = 12,
	HSA_AGENT_QUEUE_MIN_SIZE = 13,
	HSA_AGENT_QUEUE_MAX_SIZE = 14,
	HSA_AGENT_NODE = 16,   /* uint32_t */
	HSA_AGENT_DEVICE = 17, /* enum hsa_device_kind */
	HSA_AGENT_COMPUTE_UNITS = 0xa002,
	HSA_AGENT_DRIVER_NODE = 0xa004,  /* uint32_t: node_id of the SDK's agent */
	HSA_AGENT_BDF = 0xa006,          /* uint32_t */
	HSA_AGENT_PRODUCT_NAME = 0xa009, /* char[64] */
	HSA_AGENT_DOMAIN = 0xa00f,       /* uint32_t */
	HSA_AGENT_UUID = 0xa011,         /* char[24] */
};
enum hsa_system_attribute {
	HSA_SYSTEM_VERSION_MAJOR = 0, /* uint16_t */
	HSA_SYSTEM_VERSION_MINOR = 1, /* uint16_t */
	HSA_SYSTEM_TIMESTAMP = 2,     /* uint64_t, ticks of CLOCK_BOOTTIME's kind */
	HSA_SYSTEM_TIMESTAMP_FREQUENCY = 3,
};

enum hsa_pool_segment {
	HSA_SEGMENT_GLOBAL = 0,
	HSA_SEGMENT_READONLY = 1,
	HSA_SEGMENT_PRIVATE = 2,
	HSA_SEGMENT_GROUP = 3,
};
enum hsa_pool_flag { /* of the pool: HSA_POOL_GLOBAL_FLAGS, also of hsa_pointer_info */
	HSA_POOL_KERNARG = 1,
	HSA_POOL_FINE_GRAINED = 2,
	HSA_POOL_COARSE_GRAINED = 4,
	HSA_POOL_EXTENDED_FINE_GRAINED = 8,
};
enum hsa_pool_attribute {
	HSA_POOL_SEGMENT = 0,            /* uint32_t */
	HSA_POOL_GLOBAL_FLAGS = 1,       /* uint32_t */
	HSA_POOL_SIZE = 2,               /* size_t */
	HSA_POOL_ALLOC_ALLOWED = 5,      /* bool */
	HSA_POOL_ALLOC_GRANULE = 6,      /* size_t */
	HSA_POOL_ACCESSIBLE_BY_ALL = 15, /* bool */
	HSA_POOL_LOCATION = 17,          /* uint32_t: 0 CPU, 1 GPU */
};
enum hsa_alloc_flag { /* of one allocation */
	HSA_ALLOC_STANDARD = 0,
	HSA_ALLOC_EXECUTABLE = 1 << 2, /* device code */
};
/* Legacy regions (hsa_memory_allocate): the same numbers as pools where they exist. */
enum hsa_region_attribute {
	HSA_REGION_SEGMENT = 0,
	HSA_REGION_GLOBAL_FLAGS = 1,
	HSA_REGION_SIZE = 2,
};

enum hsa_pointer_kind {
	HSA_ADDRESS_UNKNOWN = 0,
	HSA_ADDRESS_HSA = 1,
	HSA_ADDRESS_LOCKED = 2, /* host memory of the program, pinned */
	HSA_ADDRESS_GRAPHICS = 3,
	HSA_ADDRESS_IPC = 4,
	HSA_ADDRESS_RESERVED = 5, /* virtual memory: address range without or with memory */
};
struct hsa_pointer_info {
	uint32_t size; /* sizeof of who asks */
	uint32_t type; /* enum hsa_pointer_kind */
	void *agent_base;
	void *host_base;
	size_t bytes;
	void *user_data;
	uint64_t owner;
	uint32_t global_flags; /* enum hsa_pool_flag */
};
struct hsa_dispatch_time {
	uint64_t start, end; /* ticks of the system */
};
struct hsa_pitched {
	void *base;
	size_t pitch, slice;
};
struct hsa_dim3 {
	uint32_t x, y, z;
};
struct hsa_access_desc {
	uint32_t permissions; /* 0 none, 1 read, 2 write, 3 both */
	uint64_t agent;
};

/* ---- executables ---- */

enum hsa_symbol_kind {
	HSA_SYMBOL_VARIABLE = 0,
	HSA_SYMBOL_KERNEL = 1,
	HSA_SYMBOL_INDIRECT_FUNCTION = 2,
};
enum hsa_symbol_attribute {
	HSA_SYMBOL_TYPE = 0,          /* uint32_t */
	HSA_SYMBOL_NAME_LENGTH = 1,   /* uint32_t, without a final NUL, which NAME does not have */
	HSA_SYMBOL_NAME = 2,          /* char[] */
	HSA_SYMBOL_VARIABLE_SIZE = 9, /* uint32_t */
	HSA_SYMBOL_VARIABLE_IS_CONST = 10, /* bool */
	HSA_SYMBOL_KERNARG_SIZE = 11,      /* uint32_t */
	HSA_SYMBOL_KERNARG_ALIGNMENT = 12,
	HSA_SYMBOL_GROUP_SIZE = 13,
	HSA_SYMBOL_PRIVATE_SIZE = 14,
	HSA_SYMBOL_AGENT = 20,            /* uint64_t */
	HSA_SYMBOL_VARIABLE_ADDRESS = 21, /* uint64_t */
	HSA_SYMBOL_KERNEL_OBJECT = 22,    /* uint64_t */
};
enum hsa_profile {
	HSA_PROFILE_OF_BASE = 0,
	HSA_PROFILE_OF_ALL = 1,
};

typedef uint32_t (*hsa_symbol_callback)(uint64_t executable, uint64_t agent, uint64_t symbol,
					void *data);

/* ---- sizes and offsets ---- */

#define HSA_ABI_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
#define HSA_ABI_AT(type, field, where) \
	_Static_assert(offsetof(struct type, field) == (where), #type "." #field)

HSA_ABI_SIZE(hsa_packet, 64);
HSA_ABI_AT(hsa_packet, completion, 56);
HSA_ABI_SIZE(hsa_kernel_packet, 64);
HSA_ABI_AT(hsa_kernel_packet, setup, 2);
HSA_ABI_AT(hsa_kernel_packet, workgroup, 4);
HSA_ABI_AT(hsa_kernel_packet, grid, 12);
HSA_ABI_AT(hsa_kernel_packet, private_bytes, 24);
HSA_ABI_AT(hsa_kernel_packet, group_bytes, 28);
HSA_ABI_AT(hsa_kernel_packet, kernel_object, 32);
HSA_ABI_AT(hsa_kernel_packet, kernarg, 40);
HSA_ABI_AT(hsa_kernel_packet, completion, 56);
HSA_ABI_SIZE(hsa_barrier_packet, 64);
HSA_ABI_AT(hsa_barrier_packet, dependency, 8);
HSA_ABI_AT(hsa_barrier_packet, completion, 56);
HSA_ABI_SIZE(hsa_barrier_value_packet, 64);
HSA_ABI_AT(hsa_barrier_value_packet, format, 2);
HSA_ABI_AT(hsa_barrier_value_packet, signal, 8);
HSA_ABI_AT(hsa_barrier_value_packet, value, 16);
HSA_ABI_AT(hsa_barrier_value_packet, mask, 24);
HSA_ABI_AT(hsa_barrier_value_packet, condition, 32);
HSA_ABI_AT(hsa_barrier_value_packet, completion, 56);
HSA_ABI_SIZE(hsa_queue, 40);
HSA_ABI_AT(hsa_queue, features, 4);
HSA_ABI_AT(hsa_queue, base, 8);
HSA_ABI_AT(hsa_queue, doorbell, 16);
HSA_ABI_AT(hsa_queue, size, 24);
HSA_ABI_AT(hsa_queue, id, 32);
HSA_ABI_SIZE(hsa_signal_body, 64);
HSA_ABI_AT(hsa_signal_body, value, 8);
HSA_ABI_AT(hsa_signal_body, mailbox, 16);
HSA_ABI_AT(hsa_signal_body, event, 24);
HSA_ABI_AT(hsa_signal_body, start_ts, 32);
HSA_ABI_AT(hsa_signal_body, end_ts, 40);
HSA_ABI_AT(hsa_signal_body, queue, 48);
HSA_ABI_SIZE(hsa_pointer_info, 56);
HSA_ABI_AT(hsa_pointer_info, type, 4);
HSA_ABI_AT(hsa_pointer_info, agent_base, 8);
HSA_ABI_AT(hsa_pointer_info, host_base, 16);
HSA_ABI_AT(hsa_pointer_info, bytes, 24);
HSA_ABI_AT(hsa_pointer_info, user_data, 32);
HSA_ABI_AT(hsa_pointer_info, owner, 40);
HSA_ABI_AT(hsa_pointer_info, global_flags, 48);
HSA_ABI_SIZE(hsa_dispatch_time, 16);
HSA_ABI_SIZE(hsa_pitched, 24);
HSA_ABI_AT(hsa_pitched, pitch, 8);
HSA_ABI_AT(hsa_pitched, slice, 16);
HSA_ABI_SIZE(hsa_dim3, 12);
HSA_ABI_SIZE(hsa_access_desc, 16);
HSA_ABI_AT(hsa_access_desc, agent, 8);

#endif
