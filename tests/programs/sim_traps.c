/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program on the simulated device for every way in which replay in place can go wrong. Prints one
 * line a trap with a hash of all its memory: whoever watches, the lines must be those of the
 * program alone. usage: sim_traps [TRAP...]   or   sim_traps flood N
 */
#include "simdev/retally_sim.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N     4096u
#define BYTES (N * 8ul)

static struct sim_device *d;
static struct sim_queue *q, *q2;
static uint64_t a, b, c;

static void check(int result, const char *what)
{
	if (result == SIM_OK)
		return;
	printf("%s: %s\n", what, sim_result_name(result));
	exit(3);
}
#define works(call) check(call, #call)

static void launch_n(struct sim_queue *queue, const char *kernel, uint32_t n,
		     const uint64_t *arguments)
{
	struct sim_launch l = {.kernel = kernel,
			       .grid = {N / 64, 1, 1},
			       .block = {64, 1, 1},
			       .n_arguments = n,
			       .arguments = arguments};

	check(sim_launch(queue, &l), kernel);
}
#define launch(queue, kernel, ...)                                                                \
	launch_n(queue, kernel, (uint32_t)(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), \
		 (const uint64_t[]){__VA_ARGS__})

static uint64_t hash(uint64_t address)
{
	static unsigned char bytes[BYTES];
	uint64_t h = 0xcbf29ce484222325u;

	works(sim_copy_out(q, bytes, address, BYTES));
	works(sim_queue_wait(q));
	for (size_t i = 0; i < BYTES; i++)
		h = (h ^ bytes[i]) * 0x100000001b3u;
	return h;
}

static void vector(void)
{
	launch(q, "vector_add", a, b, c, N);
	launch(q, "vector_add", c, b, a, N);
}

static void update(void)
{
	for (int i = 0; i < 5; i++)
		launch(q, "update", a, N);
}

/* Work that is done once only: the second time there is nothing left to count. */
static void guarded(void)
{
	works(sim_fill(q, a, 0, BYTES));
	launch(q, "guarded", a, b, N);
	launch(q, "guarded", a, b, N);
}

static void histogram(void)
{
	works(sim_fill(q, b, 0, 1024));
	launch(q, "histogram", a, b, N);
	launch(q, "histogram", a, b, N);
}

static void chain(void)
{
	static uint32_t next[N];

	for (uint32_t i = 0; i < N; i++)
		next[i] = (i * 5 + 1) % N;
	works(sim_copy_in(q, a, next, sizeof(next)));
	memset(next, 0, sizeof(next)); /* it has been read */
	launch(q, "chain", a, b, 3, 1000);
}

static void walk(void)
{
	works(sim_fill(q, b, 0, 16));
	for (int i = 0; i < 3; i++)
		launch(q, "walk", a, b, N);
}

static void append(void)
{
	works(sim_fill(q, a, 0, 4));
	for (uint64_t i = 0; i < 6; i++)
		launch(q, "append", a, b, 300, i * 1000);
}

static void touch(void)
{
	uint64_t big;

	works(sim_malloc(d, 8 << 20, &big));
	works(sim_fill(q, big, 1, 8 << 20));
	launch(q, "touch", big, 8 << 20, 10, 7);
	works(sim_copy(q, a, big + (4 << 20), BYTES));
	works(sim_free(d, big));
}

/* A kernel that waits for what the host does after more launches. */
static void spin(void)
{
	void *flag;

	works(sim_malloc_shared(d, 4, &flag));
	launch(q, "spin", (uint64_t)(uintptr_t)flag, a);
	launch(q2, "update", b, N);
	__atomic_store_n((uint32_t *)flag, 9, __ATOMIC_RELEASE);
	works(sim_wait(d));
	works(sim_free(d, (uint64_t)(uintptr_t)flag));
}

/* Two kernels that wait for each other. */
static void ping(void)
{
	works(sim_fill(q, a, 0, 4));
	works(sim_queue_wait(q));
	launch(q, "ping", a, 0, 50);
	launch(q2, "ping", a, 1, 50);
	works(sim_wait(d));
}

/* Writes memory that is no argument. */
static void stray(void)
{
	works(sim_copy_in(q, a, &c, 8));
	for (int i = 0; i < 4; i++)
		launch(q, "stray", a, 5);
}

static void vary(void)
{
	for (uint64_t i = 0; i < 4; i++)
		launch(q, "vary", a + 8 * i, 100, 0);
}

/* Queues that wait for each other through events, and transfers between launches. */
static void events(void)
{
	struct sim_event *e, *f;
	static uint32_t x[64];

	works(sim_event_create(d, &e));
	works(sim_event_create(d, &f));
	for (uint32_t i = 0; i < 8; i++) {
		for (uint32_t k = 0; k < 64; k++)
			x[k] = i * 100 + k;
		works(sim_copy_in(q, b, x, sizeof(x)));
		launch(q, "update", a, N);
		works(sim_event_record(e, q));
		works(sim_queue_wait_event(q2, e));
		launch(q2, "vector_add", a, b, c, N);
		works(sim_copy(q2, b, c, 512));
		works(sim_event_record(f, q2));
		works(sim_queue_wait_event(q, f));
	}
	works(sim_event_wait(f));
	works(sim_event_destroy(e));
	works(sim_event_destroy(f));
}

static void called(void *data)
{
	(void)data;
	launch(q2, "update", b, N);
}

static void callback(void)
{
	launch(q, "update", a, N);
	works(sim_queue_callback(q, called, NULL));
	launch(q, "update", a, N);
	works(sim_queue_wait(q));
	works(sim_wait(d));
}

/* What was freed is there again, with the same contents at the same place. */
static void uninitialised(void)
{
	uint64_t x, y;

	works(sim_malloc(d, BYTES, &x));
	launch(q, "set", x, N, 1234);
	works(sim_free(d, x));
	works(sim_malloc(d, BYTES, &y));
	launch(q, "vector_add", y, y, a, N);
	printf("%s ", x == y ? "again" : "elsewhere");
	works(sim_free(d, y));
}

struct thread {
	pthread_t id;
	struct sim_queue *queue;
	uint64_t memory;
};

static void *submit(void *data)
{
	struct thread *t = data;

	for (int i = 0; i < 40; i++) {
		launch(t->queue, "update", t->memory, 256);
		if (i % 8 == 7)
			works(sim_queue_wait(t->queue));
	}
	return NULL;
}

/* 8 threads and 4 queues. */
static void threads(void)
{
	struct sim_queue *queues[4];
	struct thread t[8];

	for (int i = 0; i < 4; i++)
		works(sim_queue_create(d, &queues[i]));
	for (uint64_t i = 0; i < 8; i++) {
		t[i] = (struct thread){.queue = queues[i % 4], .memory = a + i * 1024};
		if (pthread_create(&t[i].id, NULL, submit, &t[i]))
			exit(3);
	}
	for (int i = 0; i < 8; i++)
		pthread_join(t[i].id, NULL);
	for (int i = 0; i < 4; i++)
		works(sim_queue_destroy(queues[i]));
}

static const struct {
	const char *name;
	void (*run)(void);
} traps[] = {
	{"vector", vector},       {"update", update},     {"guarded", guarded},
	{"histogram", histogram}, {"chain", chain},       {"walk", walk},
	{"append", append},       {"touch", touch},       {"spin", spin},
	{"ping", ping},           {"stray", stray},       {"vary", vary},
	{"events", events},       {"callback", callback}, {"uninitialised", uninitialised},
	{"threads", threads},
};

static void run(size_t i)
{
	static uint64_t x[N];

	for (uint64_t k = 0; k < N; k++)
		x[k] = (k + 1) * 0x9e3779b97f4a7c15u + i;
	works(sim_copy_in(q, a, x, BYTES));
	works(sim_copy_in(q, b, x, BYTES));
	works(sim_fill(q, c, 0, BYTES));
	works(sim_wait(d));
	printf("%s: ", traps[i].name);
	traps[i].run();
	works(sim_wait(d));
	/* in stray, a holds an address, which is another one in every process */
	printf("%016llx %016llx %016llx\n",
	       (unsigned long long)(traps[i].run == stray ? 0 : hash(a)),
	       (unsigned long long)hash(b), (unsigned long long)hash(c));
	fflush(stdout);
}

static void flood(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		launch(q, "update", a, 64);
	works(sim_wait(d));
	printf("flood: %016llx\n", (unsigned long long)hash(a));
}

int main(int argc, char **argv)
{
	works(sim_open(0, &d));
	works(sim_queue_create(d, &q));
	works(sim_queue_create(d, &q2));
	works(sim_malloc(d, BYTES, &a));
	works(sim_malloc(d, BYTES, &b));
	works(sim_malloc(d, BYTES, &c));
	if (argc == 3 && !strcmp(argv[1], "flood")) {
		works(sim_fill(q, a, 1, BYTES));
		flood(strtoull(argv[2], NULL, 10));
		argc = 0;
	}
	for (size_t i = 0; argc && i < sizeof(traps) / sizeof(*traps); i++) {
		bool wanted = argc == 1;

		for (int k = 1; k < argc; k++)
			wanted |= !strcmp(argv[k], traps[i].name);
		if (wanted)
			run(i);
	}
	works(sim_close(d));
	return 0;
}
