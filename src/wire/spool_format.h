/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only the spool's writer and reader share. Described for people in docs/file-formats.md.
 *
 * Records form one log, counted in *log offsets*: the header is 0 to 255, the first record is at
 * 256. New records go into a window, a piece at the front of the file that stays mapped; a full
 * window is written behind the windows with one pwrite(2) and the other window takes over. (Mapping
 * fresh pages of the file all the time would cost a page fault each, several times what the copy
 * costs, and a full disk would be a signal there.) A word per window says where in the log it
 * starts; the window with the larger one is in use, and all of the log before it is behind the
 * windows.
 *
 *      0  header         65536  two window words      131072  log from 256 on
 *    256  window 0       65600  window 1
 *
 * A closed file whose log never left window 0 ends there: log offset and file offset are the same.
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

#define SPOOL_WINDOW_SIZE 65536u
#define SPOOL_WORDS_AT    SPOOL_WINDOW_SIZE        /* two 8-byte words */
#define SPOOL_LOG_AT      (2u * SPOOL_WINDOW_SIZE) /* file offset of log offset 256 */
#define SPOOL_LOG_START   ((uint64_t)sizeof(struct spool_header))

/* File offset of the first record of window 0 or 1. */
static inline size_t spool_window_at(unsigned window)
{
	return window ? SPOOL_WINDOW_SIZE + 64u : sizeof(struct spool_header);
}

static inline size_t spool_window_capacity(unsigned window)
{
	return SPOOL_WINDOW_SIZE * (window + 1) - spool_window_at(window);
}

/* A window's word: the log offset it starts at, with 16 bits to tell a damaged one; 0: not in use.
 */
static inline uint64_t spool_word(uint64_t base)
{
	return base << 16 | (hash64(&base, sizeof(base)) & 0xffff) | 1;
}

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
