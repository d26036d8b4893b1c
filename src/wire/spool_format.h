/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only the spool's writer and reader share: the head of a record, its checksum and the sizes
 * of chunks. Described for people in docs/file-formats.md.
 */
#ifndef RETALLY_WIRE_SPOOL_FORMAT_H
#define RETALLY_WIRE_SPOOL_FORMAT_H

#include "base/hash.h"
#include "wire/spool.h"

/* In front of every payload, at a multiple of 8. `length` is stored last, so 0 means "nothing here
 * yet"; it counts this head too, which keeps an empty payload apart from nothing. The payload is
 * padded with zeros to a multiple of 8; the padding is not in the length but under the checksum. */
struct spool_head {
	uint32_t length;
	uint32_t type;
	uint64_t checksum;
};
_Static_assert(sizeof(struct spool_head) == 16, "file format");

/* Written by spool_close and consumed by spool_next: nothing follows. */
#define SPOOL_TYPE_END 0xffffffffu

#define SPOOL_LENGTH_MAX (SPOOL_RECORD_MAX + (uint32_t)sizeof(struct spool_head))
/* Mappings start at multiples of this: the largest page size in use. */
#define SPOOL_MAP_ALIGN 65536u
#define SPOOL_CHUNK_MIN 65536u
#define SPOOL_CHUNK_MAX (1u << 20)

static inline uint64_t spool_round8(uint64_t n)
{
	return (n + 7) & ~(uint64_t)7;
}

/* Covers the padded payload, its length and type, and where in the file it stands: a block that a
 * file system put in the wrong place does not pass. */
static inline uint64_t spool_checksum(uint64_t offset, uint32_t length, uint32_t type,
				      const void *payload)
{
	struct {
		uint64_t offset;
		uint32_t length;
		uint32_t type;
	} place = {offset, length, type};

	return hash64(&place, sizeof(place)) ^
	       hash64(payload, (size_t)spool_round8(length - sizeof(struct spool_head)));
}

#endif
