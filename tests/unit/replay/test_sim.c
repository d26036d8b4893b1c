/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties, with the simulated device: random programs of dispatches, transfers, boundaries and
 * allocations on two queues end with the same memory whatever the mode and the number of passes,
 * and the counter that all passes share is the same in each. Failures on demand. The seed is
 * printed with a failure.
 */
#include "base/hash.h"
#include "sim_engine.h"

#include <stdio.h>
#include <stdlib.h>

#define N       2000u /* elements of a buffer */
#define BUFFERS 4u
#define OPS     60u

struct half { /* what one queue works on */
	struct sim_queue *q;
	uint64_t a[BUFFERS], list, count, bytes, bins, done, box;
	uint32_t appended;
};
struct program {
	struct sim_device *d;
	struct half h[2];
	struct sim_event *e[2];
	uint64_t random;
	uint32_t dispatches;
	bool stray;
};

static uint32_t draw(struct program *p, uint32_t below)
{
	p->random = p->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(p->random >> 33) % below;
}

static void fill(struct half *h, uint64_t address, uint32_t bytes, uint32_t seed)
{
	uint8_t *host = malloc(bytes);

	assert_non_null(host);
	for (uint32_t i = 0; i < bytes; i++)
		host[i] = (uint8_t)(i * 13 + seed);
	works(sim_copy_in(h->q, address, host, bytes));
	free(host);
}

static void begin(struct program *p, const struct sim_config *config)
{
	uint64_t victim;

	p->d = sim_test_open(config);
	for (int i = 0; i < 2; i++) {
		struct half *h = &p->h[i];

		works(sim_queue_create(p->d, &h->q));
		works(sim_event_create(p->d, &p->e[i]));
		for (uint32_t k = 0; k < BUFFERS; k++) {
			works(sim_malloc(p->d, N * 4, &h->a[k]));
			fill(h, h->a[k], N * 4, k);
		}
		works(sim_malloc(p->d, 4, &h->count));
		works(sim_malloc(p->d, 4000 * 4, &h->list));
		works(sim_malloc(p->d, 16 * 4096, &h->bytes));
		works(sim_malloc(p->d, 256 * 4, &h->bins));
		works(sim_malloc(p->d, N * 4, &h->done));
		works(sim_malloc(p->d, 8, &h->box));
		works(sim_fill(h->q, h->count, 0, 4));
		works(sim_fill(h->q, h->list, 0, 4000 * 4));
		works(sim_fill(h->q, h->done, 0, N * 4));
		works(sim_fill(h->q, h->bins, 0, 256 * 4));
		fill(h, h->bytes, 16 * 4096, 7);
		victim = h->a[0] + 40;
		works(sim_copy_in(h->q, h->box, &victim, 8));
	}
}

static void kernel(struct program *p, struct half *h)
{
	uint64_t a = h->a[draw(p, BUFFERS)], b = h->a[draw(p, BUFFERS)], c = h->a[draw(p, BUFFERS)];
	uint32_t n = 1 + draw(p, N - 1);

	p->dispatches++;
	switch (draw(p, p->stray ? 9 : 8)) {
	case 0:
		works(enqueue(h->q, "vector_add", n, a, b, c, n));
		break;
	case 1:
	case 2:
		works(enqueue(h->q, "update", n, a, n));
		break;
	case 3:
		works(enqueue(h->q, "set", n, a, n, draw(p, 1000)));
		break;
	case 4:
		works(enqueue(h->q, "guarded", n, h->done, a, n));
		break;
	case 5:
		works(enqueue(h->q, "histogram", 256, h->bytes, h->bins, 256));
		break;
	case 6:
		h->appended += 10;
		works(enqueue(h->q, "append", 10, h->count, h->list, 10, draw(p, 1000)));
		break;
	case 7:
		works(enqueue(h->q, "touch", 16, h->bytes, 16, 200, draw(p, 255)));
		break;
	default:
		works(enqueue(h->q, "stray", 1, h->box, 5));
		break;
	}
}

/* From one half to the other, in order through events. */
static void cross(struct program *p)
{
	struct half *from = &p->h[0], *to = &p->h[1];

	works(sim_event_record(p->e[0], from->q));
	works(sim_queue_wait_event(to->q, p->e[0]));
	works(sim_copy(to->q, to->a[1], from->a[1], N * 4));
	works(sim_event_record(p->e[1], to->q));
	works(sim_queue_wait_event(from->q, p->e[1]));
}

static void step(struct program *p)
{
	struct half *h = &p->h[draw(p, 2)];
	uint32_t what = draw(p, 100), x;
	uint64_t temporary;

	if (what < 70) {
		kernel(p, h);
	} else if (what < 76) {
		works(sim_copy(h->q, h->a[2], h->a[3], N * 4));
	} else if (what < 80) {
		works(sim_fill(h->q, h->a[draw(p, BUFFERS)] + 16, (uint8_t)what, 64));
	} else if (what < 84) {
		fill(h, h->a[draw(p, BUFFERS)], 100, what);
	} else if (what < 88) {
		cross(p);
	} else if (what < 92) {
		works(sim_queue_wait(h->q));
	} else if (what < 94) {
		works(sim_wait(p->d));
	} else if (what < 97) {
		sim_test_read(h->q, h->count, &x, 4);
		assert_int_equal(x, h->appended);
	} else {
		works(sim_malloc(p->d, 5000, &temporary));
		works(enqueue(h->q, "set", 1000, temporary, 1000, 3));
		p->dispatches++;
		works(sim_free(p->d, temporary));
	}
}

static uint64_t hash_of(struct half *h, uint64_t address, uint32_t bytes, uint64_t seed)
{
	uint8_t *host = malloc(bytes + 8);
	uint64_t x;

	assert_non_null(host);
	memcpy(host, &seed, 8);
	sim_test_read(h->q, address, host + 8, bytes);
	x = hash64(host, bytes + 8);
	free(host);
	return x;
}

static uint64_t end(struct program *p)
{
	uint64_t x = 0;

	for (int i = 0; i < 2; i++) {
		struct half *h = &p->h[i];

		for (uint32_t k = 0; k < BUFFERS; k++)
			x = hash_of(h, h->a[k], N * 4, x);
		x = hash_of(h, h->list, 4000 * 4, x);
		x = hash_of(h, h->bytes, 16 * 4096, x);
		x = hash_of(h, h->bins, 256 * 4, x);
		x = hash_of(h, h->done, N * 4, x);
	}
	for (int i = 0; i < 2; i++)
		works(sim_event_destroy(p->e[i]));
	works(sim_close(p->d));
	return x;
}

static uint64_t run(uint64_t seed, bool stray, const struct sim_config *config,
		    uint32_t *dispatches_out)
{
	struct program p = {.random = seed, .stray = stray};
	uint64_t x;

	begin(&p, config);
	for (uint32_t i = 0; i < OPS; i++)
		step(&p);
	x = end(&p);
	if (dispatches_out)
		*dispatches_out = p.dispatches;
	return x;
}

static struct sim_engine *new_engine(uint32_t passes, enum replay_mode mode)
{
	struct sim_engine *e = calloc(1, sizeof(*e));

	assert_non_null(e);
	e->passes = passes;
	e->options.mode = mode;
	return e;
}

static void same_memory(void **state)
{
	static const uint32_t passes[] = {1, 3, 13};
	static const enum replay_mode modes[] = {REPLAY_MODE_KERNEL, REPLAY_MODE_WINDOW,
						 REPLAY_MODE_AUTO, REPLAY_MODE_NONE};

	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		bool stray = seed % 3 == 0;
		uint32_t n, caps = (uint32_t)seed;
		uint64_t want = run(seed, stray, NULL, &n), got;

		for (size_t m = 0; m < 4; m++) {
			struct sim_engine *e = new_engine(passes[(seed + m) % 3], modes[m]);

			e->options.window = seed % 4 == 0 ? 8 : 0;
			e->runtime = (struct runtime_sim_options){.no_ordered_save = caps & 1,
								  .no_device_store = caps & 2,
								  .no_tracking = caps & 4,
								  .no_order = caps & 8};
			e->source_capabilities = seed % 5 == 0   ? SOURCE_NEEDS_DRAIN
						 : seed % 5 == 1 ? SOURCE_OVERLAP
						 : seed % 5 == 2 ? SOURCE_WANTS_WARM_UP
								 : 0;
			sim_engine_on(e);
			got = run(seed, stray, NULL, NULL);
			sim_engine_off(e);
			if (got != want)
				fail_msg("seed %d, mode %d: memory differs", (int)seed, (int)m);
			if (e->replayed + e->live + e->declined != n)
				fail_msg("seed %d, mode %d: %d + %d + %d of %u dispatches",
					 (int)seed, (int)m, (int)e->replayed, (int)e->live,
					 (int)e->declined, n);
			/* Only what strayed for the first time may be missing. */
			if (!stray)
				assert_int_equal(e->declined + e->once, 0);
			else if (modes[m] != REPLAY_MODE_NONE)
				assert_true(e->replayed > n / 2);
			assert_int_equal(e->notes, modes[m] == REPLAY_MODE_AUTO ? e->notes : 0);
			free(e);
		}
	}
}

static void control(void **state)
{
	struct sim_engine *e = new_engine(3, REPLAY_MODE_WINDOW);
	uint64_t want = run(5, false, NULL, NULL), got;

	(void)state;
	e->no_restore = true;
	/* The counters need not agree then. */
	e->passes = 1;
	sim_engine_on(e);
	got = run(5, false, NULL, NULL);
	sim_engine_off(e);
	assert_true(got != want);
	free(e);
}

/* Window replay programs the counters once a pass and window. */
static void programming(void **state)
{
	uint64_t programmed[2];

	(void)state;
	for (int m = 0; m < 2; m++) {
		struct sim_engine *e = new_engine(13, m ? REPLAY_MODE_WINDOW : REPLAY_MODE_KERNEL);
		struct sim_device *d;
		struct sim_queue *q;
		uint64_t a;

		sim_engine_on(e);
		d = sim_test_open(NULL);
		works(sim_queue_create(d, &q));
		works(sim_malloc(d, 64, &a));
		for (int i = 0; i < 3000; i++)
			works(enqueue(q, "update", 16, a, 16));
		works(sim_close(d));
		sim_engine_off(e);
		assert_int_equal(e->replayed, 3000);
		programmed[m] = e->programmed;
		free(e);
	}
	assert_true(programmed[0] >= 50 * programmed[1]);
}

/* ---- failures on demand ---- */

static void failing(const char *what, const struct sim_config *config, bool lost)
{
	for (uint64_t seed = 31; seed < 34; seed++)
		for (int m = REPLAY_MODE_KERNEL; m <= REPLAY_MODE_WINDOW; m++) {
			struct sim_engine *e = new_engine(3, (enum replay_mode)m);
			uint64_t want = run(seed, false, NULL, NULL), got;
			uint32_t n;

			e->options.drain_ns = 60000000;
			sim_engine_on(e);
			got = run(seed, false, config, &n);
			sim_engine_off(e);
			if (got != want)
				fail_msg("%s, seed %d, mode %d: memory differs; %s; %s", what,
					 (int)seed, m, e->note, e->reason);
			assert_int_equal(e->replayed + e->live + e->declined, n);
			assert_true(e->declined + e->once + e->overflowed > 0);
			assert_int_equal(lost, e->notes > 0);
			if (e->declined)
				assert_true(e->reason[0]);
			free(e);
		}
}

static void failures(void **state)
{
	struct sim_config base, c;

	(void)state;
	sim_config_default(&base);
	c = base;
	c.tool_memory = 4096; /* and the host's is enough: nothing is declined there */
	c.fail_program = 3;
	failing("programming fails", &c, false);
	for (uint64_t at = 2; at < 60; at += 19) {
		c = base;
		c.fail_copy = at;
		c.fail_copy_times = 2;
		failing("a copy ends half-way", &c, false);
	}
	c = base;
	c.fail_read = 20;
	failing("reading fails", &c, false);
	c = base;
	c.counter_bits = 8;
	failing("counters overflow", &c, false);
	c = base;
	c.hang_at = 12;
	c.hang_ns = 200000000;
	failing("a kernel takes too long", &c, false);
	c = base;
	c.hang_at = 45;
	c.hang_ns = 200000000;
	failing("a kernel takes too long in a pass", &c, false);
}

/* No room for snapshots: declined, counted live. */
static void no_room(void **state)
{
	struct sim_engine *e = new_engine(3, REPLAY_MODE_WINDOW);
	uint64_t want = run(3, false, NULL, NULL), got;
	uint32_t n;

	(void)state;
	e->options.max_snapshot = 9000;
	sim_engine_on(e);
	got = run(3, false, NULL, &n);
	sim_engine_off(e);
	assert_true(got == want);
	assert_true(e->once > 0 && e->replayed > 0);
	assert_int_equal(e->replayed + e->live + e->declined, n);
	assert_string_equal(e->reason, "more than --max-snapshot to save");
	free(e);
}

/* Gone in the middle: a note says so, the program gets its own errors, nothing hangs or leaks. */
static void lost(void **state)
{
	(void)state;
	for (uint64_t after = 5; after < 400; after = after * 2 + 1) {
		struct sim_engine *e = new_engine(3, REPLAY_MODE_WINDOW);
		struct sim_config c;
		struct sim_device *d;
		struct sim_queue *q;
		uint64_t a;
		int rc = 0;

		sim_config_default(&c);
		c.lost_after = after;
		sim_engine_on(e);
		d = sim_test_open(&c);
		works(sim_queue_create(d, &q));
		works(sim_malloc(d, 64, &a));
		for (int i = 0; i < 500 && !rc; i++) {
			rc = enqueue(q, "update", 16, a, 16);
			if (i % 10 == 9 && !rc)
				rc = sim_wait(d);
		}
		assert_int_equal(rc, SIM_LOST);
		sim_close(d);
		sim_engine_off(e);
		assert_true(e->notes > 0);
		assert_non_null(strstr(e->note, "nothing more is counted on device 0"));
		free(e);
	}
}

/* That what is left is seen: by the engine's tests, and so by all of the above. */
static void leaks_are_seen(void **state)
{
	struct sim_engine *e = new_engine(2, REPLAY_MODE_WINDOW);
	FILE *f;

	(void)state;
	e->loses = true;
	sim_engine_on(e);
	run(5, false, NULL, NULL);
	f = fopen("/dev/null", "re");
	assert_non_null(f);
	sim_engine_off(e);
	assert_non_null(strstr(e->left, "allocations on the device: "));
	assert_non_null(strstr(e->left, "file descriptors: 1"));
	fclose(f);
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_memory),    cmocka_unit_test(control),
		cmocka_unit_test(programming),    cmocka_unit_test(failures),
		cmocka_unit_test(no_room),        cmocka_unit_test(lost),
		cmocka_unit_test(leaks_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
