/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of the copy engines: linear copies, fills, fences, waits, as ROCr writes them. */
#include "model.h"

#include <string.h>

#define LONGEST 16u /* words of a command that are looked at */

static uint64_t address_of(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

static bool holds(uint32_t function, uint32_t v, uint32_t wanted)
{
	switch (function) {
	case 0:
		return true;
	case 1:
		return v < wanted;
	case 2:
		return v <= wanted;
	case 3:
		return v == wanted;
	case 4:
		return v != wanted;
	case 5:
		return v >= wanted;
	default:
		return v > wanted;
	}
}

static void wait_register(const struct hsakmt_queue *q, const uint32_t *p)
{
	const uint32_t *at = model_at(address_of(p + 1));
	if (p[0] >> 26 & 1 || p[2] == 0x80000000u)
		return; /* a flush, nothing to wait for */
	while (!q->stop &&
	       !holds(p[0] >> 28 & 7, __atomic_load_n(at, __ATOMIC_ACQUIRE) & p[4], p[3]))
		t0_sleep_us(5);
}

static void fill(const uint32_t *p)
{
	uint32_t *to = model_at(address_of(p + 1));
	for (uint32_t i = 0; i <= (p[4] & 0x3fffff) / 4; i++)
		to[i] = p[3];
}

/* Its length in words. */
static uint32_t execute(const struct hsakmt_queue *q, const uint32_t *p)
{
	uint32_t sub = p[0] >> 8 & 0xff;
	switch (p[0] & 0xff) {
	case 0: /* nothing */
		return 1 + (p[0] >> 16 & 0x3fff);
	case 1:
		if (sub)
			model_fail("SDMA copy of kind %u", sub);
		memmove(model_at(address_of(p + 5)), model_at(address_of(p + 3)),
			(size_t)(p[1] & 0x3fffffff) + 1);
		return 7;
	case 5: /* fence */
		__atomic_store_n((uint32_t *)model_at(address_of(p + 1)), p[3], __ATOMIC_RELEASE);
		return 4;
	case 6: /* trap */
		model_set_event(p[1] & 0xfffffff);
		return 2;
	case 8:
		wait_register(q, p);
		return 6;
	case 10: /* atomic: an addition */
		__atomic_fetch_add((uint64_t *)model_at(address_of(p + 1)), address_of(p + 3),
				   __ATOMIC_SEQ_CST);
		return 8;
	case 11:
		fill(p);
		return 5;
	case 13: { /* time, in ticks of 10 ns */
		uint64_t t = model_now() / 10;
		memcpy(model_at(address_of(p + 1)), &t, sizeof t);
		return 3;
	}
	default:
		model_fail("SDMA command %u", p[0] & 0xff);
	}
}

void *model_sdma(void *queue)
{
	const struct hsakmt_queue *q = queue;
	uint64_t *write = model_at(q->write), at = 0;
	while (!q->stop) {
		uint32_t words[LONGEST];
		if (at >= __atomic_load_n(write, __ATOMIC_ACQUIRE)) {
			t0_sleep_us(20);
			continue;
		}
		for (uint32_t i = 0; i < LONGEST; i++)
			words[i] = *(const uint32_t *)model_at(q->ring + (at + 4 * i) % q->bytes);
		at += (uint64_t)4 * execute(q, words);
		__atomic_store_n((uint64_t *)model_at(q->read), at, __ATOMIC_RELEASE);
	}
	return NULL;
}
