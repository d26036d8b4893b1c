/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's functions as the sim runtime calls them, written down. */
#include "tests/unit/sim/fake_engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct replay_memory {
	struct runtime_memory m;
	struct replay_memory *next;
};

struct fake_engine fake;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct replay_memory *memories;

void fake_reset(void)
{
	while (memories) { /* as the engine does when it is closed */
		struct replay_memory *next = memories->next;

		free(memories);
		memories = next;
	}
	memset(&fake, 0, sizeof(fake));
	fake.verdict = REPLAY_RECORDED;
}

int replay_device_add(struct replay *r, const struct runtime *runtime, void *runtime_device,
		      const struct source *source, void *native, uint32_t number, const char *why,
		      struct replay_device **device_out, struct error *err)
{
	(void)r;
	(void)number;
	(void)why;
	(void)err;
	fake.runtime = runtime;
	fake.device = runtime_device;
	fake.source = source;
	fake.native = native;
	*device_out = (struct replay_device *)(void *)&fake;
	return 0;
}

struct replay_memory *replay_memory_add(struct replay_device *d, const struct runtime_memory *m)
{
	struct replay_memory *new = fake.no_room ? NULL : calloc(1, sizeof(*new));

	(void)d;
	if (!new)
		return NULL;
	new->m = *m;
	pthread_mutex_lock(&lock);
	new->next = memories;
	memories = new;
	fake.n_memories++;
	pthread_mutex_unlock(&lock);
	return new;
}

void replay_memory_remove(struct replay_device *d, struct replay_memory *m)
{
	struct replay_memory **at = &memories;

	(void)d;
	pthread_mutex_lock(&lock);
	while (*at && *at != m)
		at = &(*at)->next;
	if (*at) {
		*at = m->next;
		fake.n_memories--;
		free(m);
	}
	pthread_mutex_unlock(&lock);
}

const struct runtime_memory *replay_memory_of(const struct replay_memory *m)
{
	return &m->m;
}

enum replay_verdict replay_before(struct replay_device *d, const struct runtime_op *op)
{
	struct fake_op *f;

	(void)d;
	pthread_mutex_lock(&lock); /* until replay_after, as the engine's */
	f = &fake.ops[fake.n_ops++ % FAKE_OPS_MAX];
	f->op = *op;
	f->kernel[0] = '\0';
	if (op->kernel)
		strncat(f->kernel, op->kernel, sizeof(f->kernel) - 1);
	memcpy(f->reach, op->reach, op->n_reach * sizeof(*op->reach));
	return op->recorded ? fake.verdict : REPLAY_LIVE;
}

void replay_after(struct replay_device *d, const struct runtime_op *op, bool launched)
{
	(void)d;
	(void)op;
	fake.ops[(fake.n_ops - 1) % FAKE_OPS_MAX].launched = launched;
	fake.n_after++;
	pthread_mutex_unlock(&lock);
}

static void note(const char *why, const char *behind)
{
	pthread_mutex_lock(&lock);
	if (strlen(fake.boundaries) + strlen(why) + 4 < sizeof(fake.boundaries)) {
		strcat(fake.boundaries, why);
		strcat(fake.boundaries, behind);
	}
	pthread_mutex_unlock(&lock);
}

void replay_boundary(struct replay_device *d, const char *why)
{
	(void)d;
	note(why, " ");
}

void replay_boundary_no_wait(struct replay_device *d, const char *why)
{
	(void)d;
	note(why, "! ");
}

void replay_disable(struct replay *r, const char *reason)
{
	(void)r;
	(void)reason;
	fake.disabled = true;
}
