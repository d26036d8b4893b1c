/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the simulated device. Each does its work on the device's memory and says how much
 * it did; what is counted follows from the arguments and the memory alone (vary apart, which is
 * there to break that). A kernel that leaves its memory sets run->fault and stops.
 */
#include "simdev/device.h"

#include <sched.h>
#include <string.h>

#define GUARDED_ROUNDS 64
#define WALK_STEPS_MAX 4096

/* Memory of n elements of an argument; NULL and a fault when it is not there. */
static void *memory(struct sim_run *r, uint32_t argument, uint64_t n, uint64_t size, bool write)
{
	void *p = NULL;

	if (!n || n <= UINT64_MAX / size)
		p = sim_memory_at(r->device, r->a[argument], n * size, write);
	if (!p)
		r->fault = true;
	return p;
}

/* Items of a group that have an element, when there are n in all. */
static uint64_t active(const struct sim_run *r, uint64_t group, uint64_t n)
{
	uint64_t first = group * r->items;

	return first >= n ? 0 : n - first < r->items ? n - first : r->items;
}

static struct sim_share *share(struct sim_run *r, uint64_t group)
{
	return &r->work.share[group % SIM_SHARES];
}

/* The same for each element: so many loads, stores, atomics of 4 bytes, iterations. */
static void tally(struct sim_run *r, uint64_t n, uint64_t loads, uint64_t stores, uint64_t atomics,
		  uint64_t iterations)
{
	for (uint64_t g = 0; g < r->groups; g++) {
		uint64_t k = active(r, g, n);
		struct sim_share *s = share(r, g);

		s->loads += k * loads;
		s->stores += k * stores;
		s->atomics += k * atomics;
		s->iterations += k * iterations;
		s->load_bytes += k * loads * 4;
		s->store_bytes += k * stores * 4;
		if (!k)
			break;
	}
}

/* As many elements as the launch has items for. */
static uint64_t elements(const struct sim_run *r, uint64_t n)
{
	uint64_t items = r->groups * r->items;

	return n < items ? n : items;
}

static void nop(struct sim_run *r)
{
	(void)r;
}

static void vector_add(struct sim_run *r)
{
	uint64_t n = elements(r, r->a[3]);
	const uint32_t *a = memory(r, 0, n, 4, false), *b = memory(r, 1, n, 4, false);
	uint32_t *c = memory(r, 2, n, 4, true);

	if (r->fault)
		return;
	for (uint64_t i = 0; i < n; i++)
		c[i] = a[i] + b[i];
	tally(r, n, 2, 1, 0, 0);
}

static void update(struct sim_run *r)
{
	uint64_t n = elements(r, r->a[1]);
	uint32_t *a = memory(r, 0, n, 4, true);

	if (r->fault)
		return;
	for (uint64_t i = 0; i < n; i++)
		a[i] = 3 * a[i] + 1;
	tally(r, n, 1, 1, 0, 0);
}

static void set(struct sim_run *r)
{
	uint64_t n = elements(r, r->a[1]);
	uint32_t *a = memory(r, 0, n, 4, true);

	if (r->fault)
		return;
	for (uint64_t i = 0; i < n; i++)
		a[i] = (uint32_t)(r->a[2] + i);
	tally(r, n, 0, 1, 0, 0);
}

static void guarded(struct sim_run *r)
{
	uint64_t n = elements(r, r->a[2]);
	uint32_t *done = memory(r, 0, n, 4, true), *a = memory(r, 1, n, 4, true);

	if (r->fault)
		return;
	for (uint64_t i = 0; i < n; i++) {
		struct sim_share *s = share(r, i / r->items);

		s->loads++;
		s->load_bytes += 4;
		if (done[i])
			continue;
		for (int k = 0; k < GUARDED_ROUNDS; k++)
			a[i] = a[i] * 1664525u + 1013904223u;
		done[i] = 1;
		s->loads++;
		s->load_bytes += 4;
		s->stores += 2;
		s->store_bytes += 8;
		s->iterations += GUARDED_ROUNDS;
	}
}

static void histogram(struct sim_run *r)
{
	uint64_t n = elements(r, r->a[2]);
	const unsigned char *bytes = memory(r, 0, n, 1, false);
	uint32_t *bins = memory(r, 1, 256, 4, true);

	if (r->fault)
		return;
	for (uint64_t i = 0; i < n; i++)
		__atomic_fetch_add(&bins[bytes[i]], 1, __ATOMIC_RELAXED);
	for (uint64_t g = 0; g < r->groups; g++) {
		uint64_t k = active(r, g, n);

		share(r, g)->loads += k;
		share(r, g)->load_bytes += k;
		share(r, g)->atomics += k;
	}
}

static void chain(struct sim_run *r)
{
	uint32_t *out = memory(r, 1, 1, 4, true);
	uint64_t at = r->a[2];

	for (uint64_t i = 0; i < r->a[3] && !r->fault; i++) {
		const uint32_t *next =
			at > UINT32_MAX ? NULL
					: sim_memory_at(r->device, r->a[0] + 4 * at, 4, false);

		if (!next) {
			r->fault = true;
			return;
		}
		at = *next;
	}
	if (r->fault)
		return;
	*out = (uint32_t)at;
	share(r, 0)->loads += r->a[3];
	share(r, 0)->load_bytes += 4 * r->a[3];
	share(r, 0)->iterations += r->a[3];
	share(r, 0)->stores++;
	share(r, 0)->store_bytes += 4;
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state ? *state : 0x9e3779b97f4a7c15u; /* 0 would stay 0 */

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

/* On a line, from 0: steps of -1 and 1, escapes at a distance of 32, absorbed with 1/64. */
static void walk(struct sim_run *r)
{
	uint64_t n = elements(r, r->a[2]);
	uint64_t *state = memory(r, 0, n, 8, true), *sums = memory(r, 1, 2, 8, true);

	if (r->fault)
		return;
	for (uint64_t i = 0; i < n; i++) {
		struct sim_share *s = share(r, i / r->items);
		uint64_t x = state[i], steps = 0;
		int place = 0;

		while (steps < WALK_STEPS_MAX) {
			uint64_t drawn = next_random(&x);

			steps++;
			place += drawn & 1 ? 1 : -1;
			if (place == 32 || place == -32) {
				__atomic_fetch_add(&sums[1], 1, __ATOMIC_RELAXED);
				s->atomics++;
				break;
			}
			if (((drawn >> 8) & 63) == 0)
				break;
		}
		state[i] = x;
		__atomic_fetch_add(&sums[0], steps, __ATOMIC_RELAXED);
		s->atomics++;
		s->iterations += steps;
		s->loads++;
		s->load_bytes += 8;
		s->stores++;
		s->store_bytes += 8;
	}
}

static void append(struct sim_run *r)
{
	uint64_t n = r->a[2];
	uint32_t *count = memory(r, 0, 1, 4, true), *list = NULL;

	if (r->fault)
		return;
	list = n > UINT32_MAX
		       ? NULL
		       : sim_memory_at(r->device, r->a[1] + 4 * (uint64_t)*count, 4 * n, true);
	if (!list) {
		r->fault = true;
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		list[i] = (uint32_t)(r->a[3] + i);
	*count += (uint32_t)n;
	share(r, 0)->loads++;
	share(r, 0)->load_bytes += 4;
	share(r, 0)->atomics += n;
	share(r, 0)->stores += n;
	share(r, 0)->store_bytes += 4 * n;
}

static void touch(struct sim_run *r)
{
	uint64_t bytes = r->a[1], part = r->a[2], blocks = (bytes + SIM_PAGE - 1) / SIM_PAGE;
	uint64_t every = part ? (1000 + part - 1) / part : blocks + 1;

	if (!memory(r, 0, bytes, 1, false))
		return;
	for (uint64_t b = 0; part && b < blocks; b += every) {
		uint64_t size = bytes - b * SIM_PAGE < SIM_PAGE ? bytes - b * SIM_PAGE : SIM_PAGE;
		void *p = sim_memory_at(r->device, r->a[0] + b * SIM_PAGE, size, true);

		if (!p) {
			r->fault = true;
			return;
		}
		memset(p, (int)((r->a[3] + b) & 0xff), size);
		share(r, b)->stores += (size + 3) / 4;
		share(r, b)->store_bytes += size;
	}
}

bool sim_run_may_wait(struct sim_run *r)
{
	sched_yield();
	return !atomic_load_explicit(&r->device->lost, memory_order_relaxed) &&
	       !atomic_load_explicit(&r->device->closing, memory_order_relaxed);
}

static void spin(struct sim_run *r)
{
	const uint32_t *flag = memory(r, 0, 1, 4, false);
	uint32_t *out = memory(r, 1, 1, 4, true), value;

	if (r->fault)
		return;
	while (!(value = __atomic_load_n(flag, __ATOMIC_ACQUIRE)))
		if (!sim_run_may_wait(r))
			return;
	*out = value;
	/* What the waiting itself took is no property of the work. */
	share(r, 0)->loads++;
	share(r, 0)->load_bytes += 4;
	share(r, 0)->stores++;
	share(r, 0)->store_bytes += 4;
}

static void ping(struct sim_run *r)
{
	uint32_t *turn = memory(r, 0, 1, 4, true);

	if (r->fault)
		return;
	for (uint64_t i = 0; i < r->a[2]; i++) {
		uint32_t mine = (uint32_t)(2 * i + (r->a[1] & 1));

		while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != mine)
			if (!sim_run_may_wait(r))
				return;
		__atomic_store_n(turn, mine + 1, __ATOMIC_RELEASE);
		share(r, 0)->iterations++;
		share(r, 0)->atomics += 2;
	}
}

static void stray(struct sim_run *r)
{
	const uint64_t *box = memory(r, 0, 1, 8, false);
	uint32_t *p = box ? sim_memory_at(r->device, *box, 4, true) : NULL;

	if (!p) {
		r->fault = true;
		return;
	}
	*p += (uint32_t)r->a[1];
	share(r, 0)->loads += 2;
	share(r, 0)->load_bytes += 12;
	share(r, 0)->stores++;
	share(r, 0)->store_bytes += 4;
}

static void vary(struct sim_run *r)
{
	uint64_t times = 1 + atomic_fetch_add(&r->device->varied, 1) % 4;
	uint32_t *out = memory(r, 0, 1, 4, true);

	if (r->fault)
		return;
	*out = r->a[2] ? (uint32_t)times : (uint32_t)r->a[1];
	share(r, 0)->iterations += times * r->a[1];
	share(r, 0)->stores++;
	share(r, 0)->store_bytes += 4;
}

#define NUMBER SIM_ARGUMENT_NUMBER
#define READ   SIM_ARGUMENT_READ
#define WRITE  SIM_ARGUMENT_WRITE
#define UPDATE SIM_ARGUMENT_UPDATE
#define SIGNAL SIM_ARGUMENT_SIGNAL
static const struct sim_kernel kernels[] = {
	{{"nop", 0, {NUMBER}, true}, nop},
	{{"vector_add", 4, {READ, READ, WRITE, NUMBER}, true}, vector_add},
	{{"update", 2, {UPDATE, NUMBER}, true}, update},
	{{"set", 3, {WRITE, NUMBER, NUMBER}, true}, set},
	{{"guarded", 3, {UPDATE, UPDATE, NUMBER}, true}, guarded},
	{{"histogram", 3, {READ, UPDATE, NUMBER}, true}, histogram},
	{{"chain", 4, {READ, WRITE, NUMBER, NUMBER}, true}, chain},
	{{"walk", 3, {UPDATE, UPDATE, NUMBER}, true}, walk},
	{{"append", 4, {UPDATE, UPDATE, NUMBER, NUMBER}, true}, append},
	{{"touch", 4, {WRITE, NUMBER, NUMBER, NUMBER}, true}, touch},
	{{"spin", 2, {SIGNAL, WRITE}, true}, spin},
	{{"ping", 3, {UPDATE, NUMBER, NUMBER}, true}, ping},
	{{"stray", 2, {READ, NUMBER}, false}, stray},
	{{"vary", 3, {WRITE, NUMBER, NUMBER}, true}, vary},
};

const struct sim_kernel *sim_kernel_find(const char *name)
{
	for (size_t i = 0; name && i < sizeof(kernels) / sizeof(*kernels); i++)
		if (!strcmp(kernels[i].info.name, name))
			return &kernels[i];
	return NULL;
}
