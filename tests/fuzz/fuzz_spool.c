/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool's reader over any bytes, three times: as they are; with right checksums, so that lying
 * content is reached; and spread over the windows and the log of a file that is longer than the
 * input.
 */
#include "fuzz.h"
#include "wire/spool_format.h"

#include <stdlib.h>
#include <string.h>

/* Reads all of it and touches every byte that a caller may touch. */
static void read_all(const unsigned char *bytes, size_t size)
{
	struct error err = {0};
	struct spool_record record;
	struct spool_reader r;
	uint64_t sum = 0, last = 0;
	int rc;

	if (spool_open_bytes(&r, "input", bytes, size, &err)) {
		fuzz_assert(err.code < 0 && *err.message);
		return;
	}
	while ((rc = spool_next(&r, &record, &err)) == 1) {
		const unsigned char *payload = record.payload;

		fuzz_assert(record.offset > last && (uintptr_t)payload % 8 == 0);
		last = record.offset;
		for (uint32_t i = 0; i < record.size; i++)
			sum += payload[i];
		if (record.type == SPOOL_SAMPLES) {
			const struct spool_samples *head = record.payload;
			const struct spool_sample *samples = (const void *)(head + 1);

			for (uint32_t i = 0; i < head->n; i++)
				sum += samples[i].value.u64;
		}
	}
	fuzz_assert(rc == 0 || (rc == RC_CORRUPT && *err.message));
	fuzz_assert(spool_next(&r, &record, NULL) == rc);
	/* keeps the reads above from being optimised away */
	fuzz_assert(sum != 1 || last);
	spool_close_reader(&r);
}

/* Gives every record of a piece of log the checksum that belongs to it. */
static void fix_records(unsigned char *bytes, size_t size, uint64_t base)
{
	struct spool_head head;

	for (size_t at = 0; size - at >= sizeof(head);) {
		memcpy(&head, bytes + at, sizeof(head));
		if (head.length < sizeof(head) || spool_round8(head.length) > size - at)
			return;
		head.checksum = spool_checksum(base + at, head.length, head.type,
					       bytes + at + sizeof(head));
		memcpy(bytes + at, &head, sizeof(head));
		at += (size_t)spool_round8(head.length);
	}
}

static void fix_header(unsigned char *bytes)
{
	struct spool_header h;

	memcpy(&h, bytes, sizeof(h));
	memcpy(h.magic, SPOOL_MAGIC, sizeof(h.magic));
	h.version = SPOOL_VERSION;
	h.byte_order = SPOOL_BYTE_ORDER;
	h.checksum = hash64(&h, offsetof(struct spool_header, checksum));
	memcpy(bytes, &h, sizeof(h));
}

/* The input's bytes behind the header become the two windows and the log; the first says how. */
static void read_spread(const uint8_t *data, size_t size)
{
	size_t n = size - SPOOL_LOG_START - 1, part = n / 3 & ~(size_t)7;
	const uint8_t *from = data + SPOOL_LOG_START + 1;
	unsigned how = data[SPOOL_LOG_START];
	unsigned char *file = calloc(1, SPOOL_LOG_AT + part + 8);
	uint64_t words[2] = {0}, base = SPOOL_LOG_START + (how & 1 ? part : part / 2 & ~(size_t)7);

	if (!file)
		return;
	memcpy(file, data, SPOOL_LOG_START);
	fix_header(file);
	memcpy(file + spool_window_at(0), from, part % spool_window_capacity(0));
	memcpy(file + spool_window_at(1), from + part, part % spool_window_capacity(0));
	memcpy(file + SPOOL_LOG_AT, from + 2 * part, part);
	words[how >> 1 & 1] = spool_word(base);
	words[!(how >> 1 & 1)] = how & 4 ? 0 : how & 8 ? spool_word(SPOOL_LOG_START) : how;
	memcpy(file + SPOOL_WORDS_AT, words, sizeof(words));
	fix_records(file + SPOOL_LOG_AT, part, SPOOL_LOG_START);
	fix_records(file + spool_window_at(how >> 1 & 1), spool_window_capacity(0), base);
	read_all(file, SPOOL_LOG_AT + part);
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *copy = malloc(size ? size : 1);

	if (size > SPOOL_LOG_START && data[size - 1] % 4 == 3) {
		read_spread(data, size);
		free(copy);
		return 0;
	}
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	read_all(copy, size);
	if (size >= SPOOL_LOG_START) {
		fix_header(copy);
		fix_records(copy + SPOOL_LOG_START, size - SPOOL_LOG_START, SPOOL_LOG_START);
		read_all(copy, size);
	}
	free(copy);
	return 0;
}
