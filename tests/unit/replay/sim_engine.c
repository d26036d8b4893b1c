/* SPDX-License-Identifier: Apache-2.0 */
/* The engine in front of the simulated device, for tests. */
#include "sim_engine.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct sim_engine *engine;
static struct replay *replay;
static struct sim_tools tools;
static struct source source;
static const struct source *real;
static int (*real_copy)(struct sim_device *device, struct sim_queue *queue, uint64_t to,
			uint64_t from, uint64_t bytes, _Atomic int *failed);

/* SEQ_INSTRUCTIONS is in every pass, beside one that changes. */
static const char *const others[] = {"1",  "2",  "3",  "4",  "5",  "6", "20",
				     "21", "22", "23", "24", "30", "31"};
static struct plan_counter counters[14];
static uint32_t indices[13][2];
static struct plan_pass passes[13];
static struct plan plan;

struct taken {
	struct sim_left device;
	struct runtime_sim_left runtime;
	unsigned descriptors, threads;
};
static struct taken before;

static unsigned count_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void take_stock(struct taken *t)
{
	sim_test_tools()->left(&t->device);
	runtime_sim_left(&t->runtime);
	t->descriptors = count_entries("/proc/self/fd");
	t->threads = count_entries("/proc/self/task");
}

static void differs(char *text, size_t size, const char *what, uint64_t was, uint64_t is)
{
	size_t n = strlen(text);

	if (was != is)
		snprintf(text + n, size - n, "%s%s: %lld", n ? ", " : "", what,
			 (long long)(is - was));
}

static void look_what_is_left(struct sim_engine *e)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	struct taken now;

	take_stock(&now);
	/* A joined thread may still be listed for a moment. */
	for (int i = 0; i < 2000 && now.threads > before.threads; i++) {
		nanosleep(&moment, NULL);
		now.threads = count_entries("/proc/self/task");
	}
	/* Nor need one that was listed at the start have been more than on its way out. */
	if (now.threads < before.threads)
		now.threads = before.threads;
#define DIFFERS(what, member) \
	differs(e->left, sizeof(e->left), what, (uint64_t)before.member, (uint64_t)now.member)
	DIFFERS("devices", device.devices);
	DIFFERS("allocations on the device", device.allocations);
	DIFFERS("bytes on the device", device.bytes);
	DIFFERS("held counters", device.counters);
	DIFFERS("stores", runtime.stores);
	DIFFERS("records", runtime.records);
	DIFFERS("file descriptors", descriptors);
	DIFFERS("threads", threads);
}

static void make_plan(uint32_t n)
{
	counters[0] = (struct plan_counter){"SEQ_INSTRUCTIONS", "sim", "SEQ", "count", 0, "7"};
	for (uint32_t i = 0; i < 13; i++) {
		counters[i + 1] =
			(struct plan_counter){others[i], "sim", "", "count", 0, others[i]};
		indices[i][1] = i + 1;
		passes[i] = (struct plan_pass){2, indices[i], "", ""};
	}
	plan = (struct plan){
		.n_counters = n + 1, .counters = counters, .n_passes = n, .passes = passes};
}

static void take_dispatch(const struct spool_dispatch *d)
{
	if (!d->pass)
		return;
	assert_true(d->dispatch < SIM_ENGINE_DISPATCHES);
	engine->dispatches[d->dispatch].replayed = (d->flags & SPOOL_DISPATCH_REPLAYED) != 0;
	engine->dispatches[d->dispatch].passes++;
	engine->no_restores += d->pass == 1 && (d->flags & SPOOL_DISPATCH_NO_RESTORE);
}

static void take_samples(const struct spool_samples *head, const struct spool_sample *samples)
{
	uint64_t *value = &engine->dispatches[head->dispatch].value;

	for (uint32_t i = 0; i < head->n; i++) {
		engine->overflowed += samples[i].status == SAMPLE_OVERFLOWED;
		if (samples[i].counter || samples[i].status != SAMPLE_OK)
			continue;
		assert_true(samples[i].value.u64 > 0);
		if (*value)
			assert_int_equal(samples[i].value.u64, *value);
		*value = samples[i].value.u64;
	}
}

static int take(void *data, enum spool_type type, const void *a, size_t na, const void *b,
		size_t nb, struct error *err)
{
	const struct spool_decline *decline = a;

	(void)data;
	(void)na;
	(void)err;
	switch ((int)type) {
	case SPOOL_DISPATCH:
		take_dispatch(a);
		break;
	case SPOOL_SAMPLES:
		take_samples(a, b);
		break;
	case SPOOL_WINDOW:
		engine->windows++;
		engine->bytes_saved += ((const struct spool_window *)a)->saved_bytes;
		engine->bytes_restored += ((const struct spool_window *)a)->restored_bytes;
		break;
	case SPOOL_DECLINE:
		if (decline->instead == SPOOL_INSTEAD_NOTHING)
			engine->declined += decline->count;
		else
			engine->once += decline->count;
		snprintf(engine->reason, sizeof(engine->reason), "%.*s", (int)nb, (const char *)b);
		break;
	case SPOOL_NOTE:
		engine->notes++;
		snprintf(engine->note, sizeof(engine->note), "%.*s", (int)nb, (const char *)b);
		break;
	default:
		break;
	}
	return 0;
}

static int pass_begin(void *device, uint32_t pass, uint32_t n_units, struct error *err)
{
	__atomic_fetch_add(&engine->programmed, 1, __ATOMIC_RELAXED);
	return real->pass_begin(device, pass, n_units, err);
}

/* Memory of the program is where the engine's copies go to only when it restores. */
static int copy_nothing_back(struct sim_device *device, struct sim_queue *queue, uint64_t to,
			     uint64_t from, uint64_t bytes, _Atomic int *failed)
{
	if (!failed)
		return SIM_OK;
	return real_copy(device, queue, to, from, bytes, failed);
}

static int lose(struct sim_device *device, uint64_t address)
{
	(void)device;
	(void)address;
	return SIM_OK;
}

static int attach(const struct sim_tools *t, struct sim_api *api)
{
	struct error err = {0};
	const struct source_sim_options o = {.capabilities = engine->source_capabilities};

	tools = *t;
	real_copy = tools.copy;
	if (engine->no_restore)
		tools.copy = copy_nothing_back;
	if (engine->loses)
		tools.tool_free = lose;
	real = source_sim(&o);
	source = *real;
	source.pass_begin = pass_begin;
	return runtime_sim_attach(replay, &tools, api, &source, NULL, &engine->runtime, &err);
}

static void *nothing(void *data)
{
	return data;
}

void sim_engine_on(struct sim_engine *e)
{
	struct error err = {0};
	pthread_t first;

	engine = e;
	/* With the first thread of a process the thread sanitizer makes one of its own. */
	assert_int_equal(pthread_create(&first, NULL, nothing, NULL), 0);
	pthread_join(first, NULL);
	take_stock(&before);
	make_plan(e->passes);
	assert_int_equal(replay_open(&replay, &e->options, &plan, take, NULL, &err), 0);
	works(sim_install_tool(attach));
}

void sim_engine_off(struct sim_engine *e)
{
	assert_true(runtime_sim_detach());
	replay_close(replay);
	runtime_sim_release();
	works(sim_install_tool(NULL));
	look_what_is_left(e);
	if (!e->loses)
		assert_string_equal(e->left, "");
	for (uint32_t i = 0; i < SIM_ENGINE_DISPATCHES; i++) {
		if (!e->dispatches[i].passes)
			continue;
		e->replayed += e->dispatches[i].replayed;
		e->live += !e->dispatches[i].replayed;
		assert_int_equal(e->dispatches[i].passes,
				 e->dispatches[i].replayed
					 ? e->passes * (e->options.repeat ? e->options.repeat : 1)
					 : 1);
	}
}
