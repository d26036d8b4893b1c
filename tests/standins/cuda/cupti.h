/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stand-in for CUPTI: which counters its chip has, how many of them fit a pass, and the form of
 * the two images. Slots are few on purpose: plans have several passes with a handful of metrics.
 */
#ifndef RETALLY_STANDIN_CUPTI_H
#define RETALLY_STANDIN_CUPTI_H

#include "source/cuda/cuda_range_abi.h"
#include "standin.h"

/* More of the library's results than the product knows by name. */
enum {
	RESULT_INVALID_DEVICE = 2,
	RESULT_INVALID_CONTEXT = 3,
	RESULT_INVALID_OPERATION = 7,
	RESULT_OUT_OF_MEMORY = 8,
	RESULT_SIZE_NOT_SUFFICIENT = 10,
	RESULT_NOT_INITIALIZED = 15,
	RESULT_HARDWARE_BUSY = 26,
	RESULT_MIG = 43,
};

#define PASSES_MAX 16
#define PARTS_MAX  10

enum unit {
	UNIT_FREE, /* any number in any pass */
	UNIT_SM,
	UNIT_SMSP,
	UNIT_L1TEX,
	UNIT_LTS,
	UNIT_DRAM,
	UNIT_SASS,  /* patched code: no pass with anything of the hardware */
	UNIT_ALONE, /* refused beside any other */
	UNITS
};

struct metric {
	const char *name; /* without suffix */
	const char *unit, *help;
	int type; /* 0 counter, 1 ratio, 2 throughput */
	unsigned n;
	unsigned char parts[PARTS_MAX]; /* enum standin_raw */
};
/* metrics.c. The metric of a name with suffix (".sum"); NULL: unknown. */
const struct metric *metric_find(const char *name, const char **suffix_out);
const struct metric *metric_at(unsigned i); /* NULL: no more */
/* What else must be counted for a suffix; RAWS: nothing. */
enum standin_raw metric_divisor(const char *suffix);
enum unit raw_unit(enum standin_raw raw);
unsigned unit_slots(enum unit unit); /* of a pass */
/* From what was counted; NAN when a part is missing. */
double metric_value(const struct metric *m, const char *suffix, const double counted[RAWS]);

/* An image with another magic number, size or check sum is refused. */
struct config_image {
	char magic[8];
	uint32_t size, passes;
	char chip[16];
	uint8_t pass_of[RAWS]; /* from 1; 0: not counted */
	uint64_t check;
};
struct data_range {
	char name[32];
	double counted[RAWS]; /* NAN: not yet */
};
struct data_image {
	char magic[8];
	uint64_t size;
	uint32_t room, n;
	struct data_range ranges[];
};
#define CONFIG_MAGIC "SDCONFIG"
#define DATA_MAGIC   "SDCOUNTS"
uint64_t config_check(const struct config_image *c);

struct cupti_host {
	uint64_t magic;
	bool spoiled; /* by a name that was refused */
	unsigned n_added;
	struct config_image config;
};
#define HOST_MAGIC 0x484f5354u

/* A call's first checks: the size of the struct. Nonzero: what to return. */
int cupti_size(const char *function, size_t got, size_t wanted);
#define SIZE_OF(type, last) CUPTI_STRUCT_SIZE(type, last)
/* Refused, and remembered. */
int refuse(int result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The driver of this process; NULL: none, or not started. */
struct standin_driver *driver(void);

#endif
