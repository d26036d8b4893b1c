/* SPDX-License-Identifier: Apache-2.0 */
/* What NVTX 3 and an injected library agree upon, in our own words (version 3.0 and later, 64 bit).
 */
#ifndef RETALLY_INJECT_NVTX_ABI_H
#define RETALLY_INJECT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef void nvtx_function(void);

enum {
	NVTX_TABLE_CALLBACKS = 1,
	NVTX_CORE = 1, /* modules */
	NVTX_CORE2 = 5,
	NVTX_RANGE_START_EX = 4, /* of the first */
	NVTX_RANGE_START_A = 5,
	NVTX_RANGE_START_W = 6,
	NVTX_RANGE_END = 7,
	NVTX_RANGE_PUSH_EX = 8,
	NVTX_RANGE_PUSH_A = 9,
	NVTX_RANGE_PUSH_W = 10,
	NVTX_RANGE_POP = 11,
	NVTX_DOMAIN_RANGE_START_EX = 2, /* of the second */
	NVTX_DOMAIN_RANGE_END = 3,
	NVTX_DOMAIN_RANGE_PUSH_EX = 4,
	NVTX_DOMAIN_RANGE_POP = 5,
	NVTX_DOMAIN_REGISTER_STRING_A = 10,
	NVTX_MESSAGE_ASCII = 1,
	NVTX_MESSAGE_REGISTERED = 3,
};

struct nvtx_attributes {
	uint16_t version, size; /* bytes of the structure */
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};
_Static_assert(sizeof(struct nvtx_attributes) == 48, "nvtxEventAttributes_t");
_Static_assert(offsetof(struct nvtx_attributes, message_type) == 32, "messageType");
_Static_assert(offsetof(struct nvtx_attributes, message) == 40, "message");

struct nvtx_callbacks {
	size_t size;
	/* The functions of a module: where each is kept, by its number. 1: good. */
	int (*module_table)(int module, nvtx_function ****table_out, unsigned *n_out);
};

typedef const void *nvtx_export_table(uint32_t which);

#endif
