/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of PM4 as profilers use on gfx9, and counters behind it: a value is a function of the
 * events that the select registers of its block name, of the instance that GRBM_GFX_INDEX selects,
 * and of the work since the counters were started.
 */
#include "model.h"

#include <string.h>

enum pm4_op {
	PM4_NOP = 0x10,
	PM4_INDIRECT_BUFFER = 0x3f,
	PM4_WRITE_DATA = 0x37,
	PM4_COPY_DATA = 0x40,
	PM4_RELEASE_MEM = 0x49,
	PM4_SET_UCONFIG_REG = 0x79,
};
/* No effect on a model: caches, waits, events, shader registers, perf counter control. */
static const uint8_t ignored[] = {PM4_NOP, 0x46, 0x58, 0x76, 0x3c, 0x23, 0x42, 0x2d, 0x9b};

#define UCONFIG         0xc000u
#define GRBM_GFX_INDEX  0xc200u
#define PERFMON_CONTROL 0xd808u /* 0: counters back to 0, 1: they count, 2: they stand */
#define COUNTERS        0xd000u /* low and high words */
#define SELECTS         0xd800u
#define BLOCK           0x40u /* registers of one block, in both */

static uint64_t address_of(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

/* Of the n-th register of counters. What stays selected has its value whenever it is read. */
static uint64_t counter(uint32_t n)
{
	uint32_t first = SELECTS + (n & ~(BLOCK - 1)), h = model.registers[GRBM_GFX_INDEX];
	bool any = false;
	if (n & 1)
		return 0; /* high word */
	for (uint32_t i = 0; i < BLOCK; i++) {
		any |= model.registers[first + i] != 0;
		h = (h ^ model.registers[first + i]) * 0x01000193u;
	}
	h = (h ^ n) * 0x01000193u;
	return any ? atomic_load(&model.waves) * (1 + (h >> 24) % 16) : 0;
}

static uint64_t read_register(uint32_t n)
{
	n &= MODEL_REGISTERS - 1;
	return n >= COUNTERS && n < SELECTS ? counter(n - COUNTERS) : model.registers[n];
}

static void copy_data(const uint32_t *w)
{
	uint32_t from = w[0] & 15, to = w[0] >> 8 & 15;
	size_t bytes = w[0] >> 16 & 1 ? 8 : 4;
	uint64_t source = address_of(w + 1), target = address_of(w + 3), v = 0;
	switch (from) {
	case 0: /* register */
	case 4: /* counter */
		v = read_register((uint32_t)source);
		break;
	case 1: /* memory */
	case 2:
		memcpy(&v, model_at(source), bytes);
		break;
	case 5: /* a number */
		v = source;
		break;
	case 9: /* time */
		v = model_now();
		break;
	default:
		model_fail("COPY_DATA from %u", from);
	}
	if (!to)
		model.registers[target & (MODEL_REGISTERS - 1)] = (uint32_t)v;
	else
		memcpy(model_at(target), &v, bytes);
}

static void write_data(const uint32_t *w, uint32_t n)
{
	uint64_t target = address_of(w + 1);
	if (n < 4)
		return;
	if (w[0] >> 8 & 15)
		memcpy(model_at(target), w + 3, (size_t)4 * (n - 3));
	else
		model.registers[target & (MODEL_REGISTERS - 1)] = w[3];
}

static void release_mem(const uint32_t *w)
{
	uint64_t target = address_of(w + 2), v = address_of(w + 4);
	uint32_t what = w[1] >> 29 & 7;
	if (what == 3)
		v = model_now();
	if (what)
		memcpy(model_at(target), &v, what == 1 ? 4 : 8);
}

static void set_uconfig(const uint32_t *w, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t at = (UCONFIG + (w[0] & 0xffff) + i - 1) & (MODEL_REGISTERS - 1);
		if (at == PERFMON_CONTROL && !w[i])
			atomic_store(&model.waves, 0);
		model.registers[at] = w[i];
	}
}

static void command(uint32_t op, const uint32_t *w, uint32_t n)
{
	switch (op) {
	case PM4_INDIRECT_BUFFER:
		model_pm4(model_at(w[0] | (uint64_t)(w[1] & 0xffff) << 32), w[2] & 0xfffff);
		return;
	case PM4_COPY_DATA:
		copy_data(w);
		return;
	case PM4_WRITE_DATA:
		write_data(w, n);
		return;
	case PM4_RELEASE_MEM:
		release_mem(w);
		return;
	case PM4_SET_UCONFIG_REG:
		set_uconfig(w, n);
		return;
	default:
		if (!memchr(ignored, (int)op, sizeof ignored))
			model_fail("PM4 command %#x", op);
	}
}

void model_pm4(const uint32_t *words, uint32_t n)
{
	for (uint32_t i = 0; i < n;) {
		uint32_t header = words[i++], length = (header >> 16 & 0x3fff) + 1;
		if (header >> 30 == 2)
			continue;
		if (header >> 30 != 3 || length > n - i)
			model_fail("no PM4 command: %#x", header);
		command(header >> 8 & 0xff, words + i, length);
		i += length;
	}
}
