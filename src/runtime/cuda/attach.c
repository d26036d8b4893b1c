/* SPDX-License-Identifier: Apache-2.0 */
/* Listening to the program's driver calls: see cuda_runtime.h. */
#include "base/vec.h"
#include "runtime/cuda/arrays.h"
#include "runtime/cuda/calls.h"
#include "runtime/cuda/checks.h"
#include "runtime/cuda/cuda_runtime.h"
#include "runtime/cuda/drain.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/modules.h"
#include "runtime/cuda/stores.h"
#include "source/cuda/cuda_turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALLS_MAX       4096 /* the driver has about 700 */
#define OPENING_SECONDS 60

struct cuda_session cuda_session = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.opened = PTHREAD_COND_INITIALIZER,
	.memories = {.lock = PTHREAD_RWLOCK_INITIALIZER},
};
_Thread_local bool cuda_inside __attribute__((tls_model("initial-exec")));

static struct {
	struct cuda_call_entry entry;
	bool per_thread, anywhere;
} calls[CALLS_MAX];

const struct runtime cuda_runtime = {
	.name = "cuda",
	.size = sizeof(struct runtime),
	.capabilities = RUNTIME_ORDERED_SAVE | RUNTIME_DEVICE_STORE,
	.drain = cuda_drain,
	.store_get = cuda_store_get,
	.store_put = cuda_store_put,
	.save = cuda_store_save,
	.restore = cuda_store_restore,
	.compare = cuda_check_compare,
	.hash = cuda_check_hash,
	.launch = cuda_launch_again,
	.op_release = cuda_launch_release,
	.flush = cuda_check_flush,
	.enter = cuda_enter,
	.leave = cuda_leave,
};

static void say(int gpu, const char *text)
{
	char line[640];

	if (!cuda_session.say)
		return;
	snprintf(line, sizeof(line), "GPU %d is not counted: %s", gpu, text);
	cuda_session.say(cuda_session.user, line);
}

static struct cuda_context *find_context(const struct CUctx_st *context)
{
	for (unsigned i = cuda_session.n_contexts; i-- > 0;)
		if (cuda_session.contexts[i].context == context && !cuda_session.contexts[i].gone)
			return &cuda_session.contexts[i];
	return NULL;
}

struct cuda_context *cuda_session_context(struct CUctx_st *context)
{
	unsigned n = cuda_session.n_contexts;
	struct cuda_context *c;

	if (!context)
		return NULL;
	c = find_context(context);
	if (c)
		return c;
	pthread_mutex_lock(&cuda_session.lock);
	for (unsigned i = cuda_session.n_contexts; i-- > n;)
		if (cuda_session.contexts[i].context == context)
			c = &cuda_session.contexts[i];
	n = cuda_session.n_contexts;
	if (!c && n < CUDA_CONTEXTS_MAX) {
		c = &cuda_session.contexts[n];
		c->context = context;
		c->number = n;
		c->ordinal = -1;
		cuda_session.n_contexts = n + 1;
	}
	pthread_mutex_unlock(&cuda_session.lock);
	return c;
}

/* With the context current: its device, once. */
static void find_ordinal(struct cuda_context *c)
{
	struct CUctx_st *now = NULL, *popped;
	int ordinal = -1;

	if (c->ordinal >= 0 || cuda_session.driver.context_current(&now))
		return;
	if (now != c->context && cuda_session.driver.context_push(c->context))
		return;
	if (!cuda_session.driver.context_device(&ordinal))
		c->ordinal = ordinal;
	if (now != c->context)
		cuda_session.driver.context_pop(&popped);
}

static void open_device(struct cuda_context *c)
{
	struct replay_device *device = NULL;
	struct cuda_turns *turns = NULL;
	struct cuda_clock *clock = NULL;
	unsigned char uuid[16];
	struct error err = {0};

	if (cuda_session.driver.stream_create(&c->own, CU_STREAM_APART)) {
		say(c->ordinal, "no stream for our own copies");
		return;
	}
	/* Known to the others before the counters are taken, so that nobody keeps them. */
	if (!cuda_session.driver.device_uuid(uuid, c->ordinal) &&
	    cuda_turns_open(uuid, &turns, &err) && cuda_session.say)
		cuda_session.say(cuda_session.user, err.message);
	err = (struct error){0};
	if (!cuda_session.driver.device_uuid(uuid, c->ordinal) && cuda_clock_open(&c->clock, uuid))
		clock = &c->clock;
	c->native = (struct cuda_native){.turns = turns,
					 .clock = clock,
					 .driver = &cuda_session.driver,
					 .target = &cuda_session.target,
					 .context = c->context,
					 .ordinal = c->ordinal};
	if (replay_device_add(cuda_session.replay, &cuda_runtime, c, &cuda_source, &c->native,
			      (uint32_t)c->ordinal, NULL, &device, &err)) {
		say(c->ordinal, err.message);
		return;
	}
	c->device = device;
}

void cuda_session_open_device(struct cuda_context *c)
{
	struct timespec bound;
	bool mine;

	if (c->opened)
		return;
	clock_gettime(CLOCK_REALTIME, &bound);
	bound.tv_sec += OPENING_SECONDS;
	pthread_mutex_lock(&cuda_session.lock);
	mine = !c->opening;
	c->opening = true;
	/* Another thread does it, which takes half a second: its launches and ours belong to the
	 * same windows. */
	while (!mine && !c->opened &&
	       !pthread_cond_timedwait(&cuda_session.opened, &cuda_session.lock, &bound))
		;
	pthread_mutex_unlock(&cuda_session.lock);
	if (!mine)
		return;
	open_device(c);
	pthread_mutex_lock(&cuda_session.lock);
	c->opened = true;
	pthread_cond_broadcast(&cuda_session.opened);
	pthread_mutex_unlock(&cuda_session.lock);
}

static void context_destroyed(struct cuda_context *c)
{
	VEC(struct program_memory) mappings = {0};
	struct program_memory m;

	cuda_boundary(c, "cuCtxDestroy");
	/* What is mapped stays, for other contexts. */
	while (memories_take_of_owner(&cuda_session.memories, c->number, &m)) {
		cuda_memory_unknown(&m);
		m.known = NULL;
		if (m.mapping_of && !vec_push(&mappings, m))
			cuda_session.why_none = "there was no room to record mapped memory";
	}
	vec_for_each (&mappings, mapping)
		cuda_memory_record(mapping);
	vec_release(&mappings);
	cuda_arrays_forget(c);
	c->gone = true;
}

static void on_resource(uint32_t id, const struct cupti_resource_data *data)
{
	struct cuda_context *c;

	if (id == CUPTI_MODULE_LOADED) { /* into whichever context, known or not */
		const struct cupti_module_data *m = data->descriptor;

		cuda_modules_learn(m->cubin, m->cubin_size);
	} else if (id == CUPTI_CONTEXT_DESTROY_STARTING &&
		   (c = cuda_session_context(data->context))) {
		context_destroyed(c);
	}
}

static void on_call(void *user, int domain, uint32_t id, const void *data)
{
	const struct cupti_callback_data *d = data;
	struct cuda_context *c;

	(void)user;
	if (cuda_session.off)
		return;
	if (cuda_inside) { /* lazy loading: our own questions load the program's modules */
		if (domain == CUPTI_RESOURCE && id == CUPTI_MODULE_LOADED)
			on_resource(id, data);
		return;
	}
	cuda_inside = true;
	if (domain == CUPTI_RESOURCE) {
		on_resource(id, data);
	} else if (domain == CUPTI_DRIVER_API && id < CALLS_MAX) {
		cuda_call *call =
			d->site == CUPTI_ENTER ? calls[id].entry.enter : calls[id].entry.leave;

		/* At the end of a call its context may be gone: that is no new one. */
		c = d->site == CUPTI_ENTER ? cuda_session_context(d->context)
					   : find_context(d->context);
		if (c)
			find_ordinal(c);
		cuda_call_per_thread = calls[id].per_thread;
		if (call && (c || calls[id].anywhere))
			call(c, d);
	}
	cuda_inside = false;
}

/* Only what matters is watched: a call that is not costs the program nothing. */
static int watch(struct error *err)
{
	const struct cuda_target *t = &cuda_session.target;
	const char *name;
	int result = 0;

	for (uint32_t id = 1; id < CALLS_MAX && !result; id++) {
		if (t->cuptiGetCallbackName(CUPTI_DRIVER_API, id, &name) || !name)
			break;
		if (!cuda_calls_find(name, &calls[id].entry, &calls[id].per_thread) ||
		    (!calls[id].entry.enter && !calls[id].entry.leave))
			continue;
		calls[id].anywhere = cuda_calls_anywhere(name);
		result = t->cuptiEnableCallback(1, cuda_session.subscriber, CUPTI_DRIVER_API, id);
	}
	for (uint32_t id = CUPTI_CONTEXT_DESTROY_STARTING; id <= CUPTI_MODULE_LOADED && !result;
	     id++)
		if (id == CUPTI_CONTEXT_DESTROY_STARTING || id == CUPTI_MODULE_LOADED)
			result = t->cuptiEnableCallback(1, cuda_session.subscriber, CUPTI_RESOURCE,
							id);
	return result ? cuda_target_fail(err, "listening to the driver's calls", result) : 0;
}

int runtime_cuda_attach(struct replay *replay, void (*tell)(void *data, const char *text),
			void (*mark)(void *data, const char *name, bool begins), void *data,
			struct error *err)
{
	struct cuda_target *t = &cuda_session.target;
	char other[128] = "";
	struct cupti_subscriber_params params = {.size = sizeof(params),
						 .name = "retally",
						 .old_name = other,
						 .old_size = sizeof(other)};
	int rc, result;

	cuda_session.replay = replay;
	cuda_session.say = tell;
	cuda_session.mark = mark;
	cuda_session.user = data;
	rc = cuda_driver_open(&cuda_session.driver, err);
	if (!rc)
		rc = cuda_target_open(t, err);
	if (rc)
		return rc;
	result = t->cuptiSubscribe_v2
			 ? t->cuptiSubscribe_v2(&cuda_session.subscriber, on_call, NULL, &params)
			 : t->cuptiSubscribe(&cuda_session.subscriber, on_call, NULL);
	if (result == CUPTI_MULTIPLE_SUBSCRIBERS)
		return error_set(err, RC_BUSY,
				 "another CUPTI client%s%s is active in this process, and CUPTI "
				 "allows one",
				 *other ? ": " : "", other);
	if (result)
		return cuda_target_fail(err, "subscribing to CUPTI's callbacks", result);
	return watch(err);
}

static void note_turns(void)
{
	uint64_t ns, times;
	char text[160];

	cuda_turns_waited(&ns, &times);
	if (!times)
		return;
	snprintf(text, sizeof(text),
		 "waited %.3f s in all, %llu times, for the GPU's counters, which another process "
		 "had",
		 (double)ns / 1e9, (unsigned long long)times);
	replay_note(cuda_session.replay, text);
}

static void note_clocks(void)
{
	char text[1024], line[1100];

	for (unsigned i = 0; i < cuda_session.n_contexts; i++) {
		const struct cuda_context *c = &cuda_session.contexts[i];

		if (!cuda_clock_describe(&c->clock, text, sizeof(text)))
			continue;
		snprintf(line, sizeof(line), "GPU %d: %s", c->ordinal, text);
		replay_note_detail(cuda_session.replay, line);
	}
}

void runtime_cuda_detach(void)
{
	if (!cuda_session.subscriber || cuda_session.off)
		return;
	cuda_inside = true;
	cuda_boundary(NULL, "exit");
	note_turns();
	note_clocks();
	cuda_session.off = true;
	cuda_session.target.cuptiUnsubscribe(cuda_session.subscriber);
	cuda_inside = false;
}

void runtime_cuda_abandon(void)
{
	cuda_session.off = true;
}
