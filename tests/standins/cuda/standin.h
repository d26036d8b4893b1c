/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two stand-ins share. libcuda.so.1 here is a small device that is simulated on the
 * processor, with the driver's own function names; libcupti.so.13 listens to it and counts its
 * work. Both check how they are used more strictly than the vendor's libraries need to: every call
 * that a real one would refuse, or for which it would do something undefined, is a violation, which
 * the self-check at the end of the process writes down (RETALLY_STANDIN_LOG names the file; else
 * standard error). Only for tests; nothing here is installed.
 */
#ifndef RETALLY_STANDIN_H
#define RETALLY_STANDIN_H

#include "source/cuda/cuda_driver_abi.h"

#include <stdbool.h>

#define STANDIN_API    __attribute__((visibility("default")))
#define STANDIN_CHIP   "SD100"
#define STANDIN_CALLS  256
#define STANDIN_EVENTS 16 /* of the resource domain */

/* What the hardware of the simulated device counts. */
enum standin_raw {
	RAW_TIME_NS,
	RAW_CYCLES,
	RAW_INSTRUCTIONS,
	RAW_THREADS,
	RAW_BLOCKS,
	RAW_LAUNCHES,
	RAW_LOADS,
	RAW_STORES,
	RAW_ATOMICS,
	RAW_SECTORS_READ,
	RAW_SECTORS_WRITTEN,
	RAW_DRAM_READ,
	RAW_DRAM_WRITTEN,
	RAW_OF_LOADS, /* instructions by kind */
	RAW_OF_STORES,
	RAW_OF_ATOMICS,
	RAW_SASS,
	RAW_DADD, /* arithmetic on floats of 64, 32 and 16 bits */
	RAW_DMUL,
	RAW_DFMA,
	RAW_FADD,
	RAW_FMUL,
	RAW_FFMA,
	RAW_HADD,
	RAW_HMUL,
	RAW_HFMA,
	RAW_DRAM_CYCLES,
	RAW_PCIE,
	RAWS
};

/* libcuda exports it as `standin_driver` for libcupti. */
struct standin_driver {
	const char *const *call_names; /* [1..n_calls]: the callback ids */
	unsigned n_calls;
	unsigned char calls[STANDIN_CALLS];      /* enabled callbacks of the driver's functions */
	unsigned char resources[STANDIN_EVENTS]; /* and of resources */
	void (*hook)(int domain, uint32_t id, const void *data);
	bool (*initialised)(void);
	struct CUctx_st *(*current)(void);
	bool (*alive)(const struct CUctx_st *context);
	/* Until nothing is left to do in the context. */
	void (*wait_idle)(struct CUctx_st *context);
	/* Of the context's device. */
	void (*raw)(const struct CUctx_st *context, uint64_t out[RAWS]);
	bool (*cold)(void);
	/* When not NULL: before and after every launch that is made, without a lock. */
	void (*launching)(struct CUctx_st *context, bool graph, bool after);
};

/* ---- self_check.c, in each of them ---- */
extern const char standin_name[]; /* "libcuda" */
void standin_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Added to the line of the self-check. */
void standin_count(const char *what, uint64_t value);

/* ---- faults.c, in each of them ---- */
#define STANDIN_DEVICES 2 /* at most */
/* RETALLY_STANDIN_DEVICES, default 1. */
int standin_devices(void);
/* RETALLY_STANDIN_FAIL is a list "NAME[@FIRST][xTIMES][=VALUE],...". True when the fault NAME is
 * due: the call that asks is the FIRST-th that asks (from 1; default 1) or one of those after it,
 * TIMES in all (default: for ever). value_out may be NULL. */
bool standin_fault(const char *name, unsigned *value_out);
/* Whether the code at this address is of the library that the driver was told to inject
 * (CUDA_INJECTION64_PATH): such faults must not be seen by the program's own calls. */
bool standin_is_injected(const void *address);

#endif
