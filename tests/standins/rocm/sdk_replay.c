/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel replay of later versions of the SDK (RETALLY_T0_MUTATE=replay: version 1.4.1), as its
 * header describes it: CONFIG, then for each pass PASS enter, the dispatch as any other, PASS exit
 * once its kernel is over and its records were delivered; memory of the agent is put back between
 * passes, and the program's signal follows once. What it leaves out is left out here, too: several
 * packets in one submission, and memory that was allocated before anybody subscribed.
 */
#include "sdk_standin.h"

#include <stdlib.h>
#include <string.h>

#define ALLOCATIONS 1024

static struct {
	pthread_mutex_t lock;
	struct {
		void *memory;
		size_t bytes;
	} items[ALLOCATIONS];
} allocations = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER; /* there is one agent of it */

/* ---- memory ---- */

static void note(void *memory, size_t bytes)
{
	pthread_mutex_lock(&allocations.lock);
	for (unsigned i = 0; i < ALLOCATIONS; i++)
		if (bytes ? !allocations.items[i].memory : allocations.items[i].memory == memory) {
			allocations.items[i].memory = bytes ? memory : NULL;
			allocations.items[i].bytes = bytes;
			break;
		}
	pthread_mutex_unlock(&allocations.lock);
}

static uint32_t pool_allocate(uint64_t pool, size_t bytes, uint32_t flags, void **memory_out)
{
	uint32_t kind = 0,
		 status = sdk_amd.hsa_amd_memory_pool_allocate(pool, bytes, flags, memory_out);
	if (!status && bytes &&
	    !sdk_amd.hsa_amd_memory_pool_get_info(pool, HSA_POOL_GLOBAL_FLAGS, &kind) &&
	    kind & HSA_POOL_COARSE_GRAINED)
		note(*memory_out, bytes);
	return status;
}

static uint32_t pool_free(void *memory)
{
	note(memory, 0);
	return sdk_amd.hsa_amd_memory_pool_free(memory);
}

void replay_patch(struct hsa_amd_table *amd)
{
	if (!(t0_config()->mutate & T0_REPLAY))
		return;
	amd->hsa_amd_memory_pool_allocate = pool_allocate;
	amd->hsa_amd_memory_pool_free = pool_free;
}

/* To or from one block with all of it. */
static void copy_all(char *saved, bool back)
{
	for (unsigned i = 0; i < ALLOCATIONS; i++) {
		void *memory = allocations.items[i].memory;
		size_t n = allocations.items[i].bytes;
		if (!memory)
			continue;
		if (sdk_core.hsa_memory_copy(back ? memory : saved, back ? saved : memory, n))
			t0_abort("the SDK's replay cannot copy memory: it ends the process");
		saved += n;
	}
}

static char *save(void)
{
	size_t n = 1;
	for (unsigned i = 0; i < ALLOCATIONS; i++)
		n += allocations.items[i].memory ? allocations.items[i].bytes : 0;
	char *saved = malloc(n);
	if (!saved)
		t0_abort("no memory");
	copy_all(saved, false);
	return saved;
}

/* ---- passes ---- */

static struct tracer *subscriber(struct context **context_out)
{
	for (unsigned i = 0; i < sdk_n_contexts; i++) {
		struct context *c = &sdk_contexts[i];
		for (unsigned k = 0; k < c->n_tracers && c->active; k++)
			if (c->tracers[k].kind == SDK_REPLAY_KIND) {
				*context_out = c;
				return &c->tracers[k];
			}
	}
	return NULL;
}

static void tell(struct tracer *t, struct context *c, int32_t operation, uint32_t phase,
		 struct rocp_replay_data *data, union rocp_user_data *user)
{
	struct rocp_tracing_record r = {.context = c->id,
					.kind = SDK_REPLAY_KIND,
					.operation = operation,
					.phase = phase,
					.payload = data};
	t->callback(r, user, t->arg);
}

static void passes(struct tracer *t, struct context *c, struct rocp_replay_data *data,
		   union rocp_user_data user, struct hsa_kernel_packet *packet,
		   void (*submit)(void *arg, struct hsa_kernel_packet *packet), void *arg)
{
	uint64_t done = 0, n = data->pass_count(data->dispatch, user);
	int (*go_on)(struct rocp_dispatch_info, uint64_t, uint64_t, union rocp_user_data) =
		data->go_on;
	char *saved;
	if (n == 1 || (!n && !go_on)) {
		submit(arg, packet);
		return;
	}
	pthread_mutex_lock(&one_at_a_time);
	queues_sync();
	saved = save();
	if (sdk_core.hsa_signal_create(1, 0, NULL, &done))
		t0_abort("the SDK cannot create a signal");
	data->total_passes = n;
	data->pass_count = NULL;
	data->go_on = NULL;
	for (uint64_t pass = 0;; pass++) {
		union rocp_user_data own = user;
		struct hsa_kernel_packet p = *packet;
		data->current_pass = pass;
		tell(t, c, ROCP_REPLAY_PASS, ROCP_PHASE_ENTER, data, &own);
		sdk_core.hsa_signal_store_relaxed(done, 1);
		p.completion = done;
		submit(arg, &p);
		sdk_core.hsa_signal_wait_scacquire(done, HSA_LT, 1, UINT64_MAX, 0);
		queues_sync(); /* its handler */
		tell(t, c, ROCP_REPLAY_PASS, ROCP_PHASE_EXIT, data, &own);
		if (pass + 1 == n || (go_on && !go_on(data->dispatch, pass, n, own)))
			break;
		copy_all(saved, true);
	}
	free(saved);
	sdk_core.hsa_signal_destroy(done);
	pthread_mutex_unlock(&one_at_a_time);
	if (packet->completion)
		sdk_core.hsa_signal_subtract_screlease(packet->completion, 1);
}

bool replay_take(const struct rocp_dispatch_info *dispatch, struct hsa_kernel_packet *packet,
		 void (*submit)(void *arg, struct hsa_kernel_packet *packet), void *arg)
{
	struct context *c = NULL;
	struct tracer *t = subscriber(&c);
	struct rocp_replay_data data = {.size = sizeof data, .dispatch = *dispatch};
	union rocp_user_data user = {0};
	if (!t)
		return false;
	tell(t, c, ROCP_REPLAY_CONFIG, ROCP_PHASE_ENTER, &data, &user);
	if (data.pass_count && !t0_fails(T0_UNREPLAYED))
		passes(t, c, &data, user, packet, submit, arg);
	else
		submit(arg, packet);
	data = (struct rocp_replay_data){.size = sizeof data, .dispatch = *dispatch};
	tell(t, c, ROCP_REPLAY_CONFIG, ROCP_PHASE_EXIT, &data, &user);
	return true;
}
