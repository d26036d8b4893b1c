/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two halves of the model device agree on: the vendor packets with which the SDK's
 * stand-in starts and reads the counters (in the place of the real SDK's PM4 packets), and the text
 * that stands for a code object (in the place of an ELF file with machine code).
 *
 * A code object is text: the line T0_CODE_MAGIC, then lines "kernel NAME KERNARG-BYTES" for the
 * kernels of hsa_kernels.c that it has and "variable NAME BYTES [const]".
 */
#ifndef RETALLY_TESTS_STANDINS_T0_DEVICE_H
#define RETALLY_TESTS_STANDINS_T0_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#define T0_CODE_MAGIC "code object of the model device\n"

/* Work done on an agent since its counters were started. */
struct t0_counts {
	uint64_t dispatches, groups, waves, items;
	uint64_t bytes_read, bytes_written; /* by kernels, as they declare it */
};
enum t0_vendor_op {
	T0_COUNT_START = 1,
	T0_COUNT_READ = 2,
};
#define T0_VENDOR_MAGIC 0x7e7a11f0u
struct t0_vendor_packet {
	uint16_t header; /* HSA_PACKET_VENDOR */
	uint8_t format;  /* HSA_VENDOR_PM4 */
	uint8_t op;      /* enum t0_vendor_op */
	uint32_t magic;
	struct t0_counts *out; /* of T0_COUNT_READ */
	uint8_t reserved[40];
	uint64_t completion;
};
_Static_assert(sizeof(struct t0_vendor_packet) == 64, "a packet");
_Static_assert(offsetof(struct t0_vendor_packet, completion) == 56, "a packet");

#endif
