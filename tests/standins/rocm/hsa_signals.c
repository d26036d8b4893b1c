/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals of the model runtime. A handle is the address of the struct; deleted ones are kept
 * poisoned, so that late use is found. One event thread calls handlers, as in ROCr.
 */
#include "hsa_standin.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIGNAL_LIVE 0x51674a1eu
#define SIGNAL_DEAD 0xdeadbeefu

static unsigned live;

static void futex_wait(uint32_t *word, uint32_t value, unsigned us)
{
	struct timespec t = {.tv_nsec = (long)us * 1000};
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &t, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

struct signal *signal_of(uint64_t handle, const char *who)
{
	struct signal *s = (struct signal *)(uintptr_t)handle;
	if (!handle || handle % 64)
		t0_abort("%s: %#llx is no signal", who, (unsigned long long)handle);
	uint32_t magic = __atomic_load_n(&s->magic, __ATOMIC_RELAXED);
	if (magic == SIGNAL_DEAD)
		t0_abort("%s: signal %#llx was destroyed", who, (unsigned long long)handle);
	if (magic != SIGNAL_LIVE)
		t0_abort("%s: %#llx is no signal", who, (unsigned long long)handle);
	return s;
}

uint64_t signal_new(int64_t value, struct queue *doorbell)
{
	struct signal *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
	if (!s)
		t0_abort("no memory");
	memset(s, 0, sizeof *s);
	s->body.kind = doorbell ? -1 : 1;
	s->body.value = value;
	s->doorbell = doorbell;
	s->magic = SIGNAL_LIVE;
	if (!doorbell)
		__atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
	return (uint64_t)(uintptr_t)s;
}

void signal_delete(uint64_t handle)
{
	struct signal *s = signal_of(handle, "hsa_signal_destroy");
	if (!s->doorbell)
		__atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
	/* The memory stays: 64 bytes are cheap, and use after this is noticed. */
	__atomic_store_n(&s->magic, SIGNAL_DEAD, __ATOMIC_RELEASE);
}

unsigned signals_live(void)
{
	return __atomic_load_n(&live, __ATOMIC_RELAXED);
}

static bool holds(int64_t is, uint32_t condition, int64_t value)
{
	switch (condition) {
	case HSA_EQ:
		return is == value;
	case HSA_NE:
		return is != value;
	case HSA_LT:
		return is < value;
	default:
		return is >= value;
	}
}

static int64_t load(struct signal *s)
{
	return __atomic_load_n(&s->body.value, __ATOMIC_ACQUIRE);
}

bool signal_holds(struct signal *s, uint32_t condition, int64_t value)
{
	return holds(load(s), condition, value);
}

/* ---- the event thread ---- */

struct event {
	struct event *next;
	struct signal *signal; /* NULL: a plain call */
	uint32_t condition;
	int64_t value;
	hsa_signal_handler handler;
	void (*function)(void *data);
	void *data;
};
static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;
static struct event *events;
static uint32_t events_seq;
static pthread_t event_thread;
static bool event_thread_runs;
static volatile bool event_thread_ends;

void signal_changed(struct signal *s)
{
	__atomic_add_fetch(&s->seq, 1, __ATOMIC_RELEASE);
	futex_wake(&s->seq);
	if (__atomic_load_n(&events, __ATOMIC_RELAXED)) {
		__atomic_add_fetch(&events_seq, 1, __ATOMIC_RELEASE);
		futex_wake(&events_seq);
	}
}

static struct event *take_ready(void)
{
	struct event *found = NULL;
	pthread_mutex_lock(&events_lock);
	for (struct event **e = &events; *e; e = &(*e)->next)
		if (!(*e)->signal || signal_holds((*e)->signal, (*e)->condition, (*e)->value)) {
			found = *e;
			*e = found->next;
			break;
		}
	pthread_mutex_unlock(&events_lock);
	return found;
}

static void add_event(struct event *e, bool first)
{
	pthread_mutex_lock(&events_lock);
	struct event **at = &events;
	while (!first && *at)
		at = &(*at)->next;
	e->next = *at;
	*at = e;
	pthread_mutex_unlock(&events_lock);
	__atomic_add_fetch(&events_seq, 1, __ATOMIC_RELEASE);
	futex_wake(&events_seq);
}

static void *event_loop(void *unused)
{
	(void)unused;
	while (!event_thread_ends) {
		uint32_t seq = __atomic_load_n(&events_seq, __ATOMIC_ACQUIRE);
		struct event *e = take_ready();
		if (!e) {
			futex_wait(&events_seq, seq, 2000);
			continue;
		}
		if (!e->signal) {
			e->function(e->data);
			free(e);
		} else if (e->handler(load(e->signal), e->data)) {
			add_event(e, false);
		} else {
			free(e);
		}
	}
	return NULL;
}

static void start_event_thread(void)
{
	if (!pthread_create(&event_thread, NULL, event_loop, NULL))
		event_thread_runs = true;
}

static void need_event_thread(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, start_event_thread);
}

void event_thread_call(void (*function)(void *data), void *data)
{
	struct event *e = calloc(1, sizeof *e);
	if (!e)
		t0_abort("no memory");
	e->function = function;
	e->data = data;
	need_event_thread();
	add_event(e, false);
}

void event_thread_stop(void)
{
	event_thread_ends = true;
	futex_wake(&events_seq);
	if (event_thread_runs && !pthread_equal(pthread_self(), event_thread))
		pthread_join(event_thread, NULL);
	event_thread_runs = false;
}

uint32_t t0_hsa_amd_signal_async_handler(uint64_t signal, uint32_t condition, int64_t value,
					 hsa_signal_handler handler, void *data)
{
	struct event *e = calloc(1, sizeof *e);
	if (!e)
		return HSA_OUT_OF_RESOURCES;
	e->signal = signal_of(signal, "hsa_amd_signal_async_handler");
	e->condition = condition;
	e->value = value;
	e->handler = handler;
	e->data = data;
	need_event_thread();
	add_event(e, false);
	return HSA_OK;
}

/* ---- waiting ---- */

void signal_wait(struct signal *s, uint32_t condition, int64_t value, const volatile bool *stop)
{
	while (!(stop && *stop)) {
		uint32_t seq = __atomic_load_n(&s->seq, __ATOMIC_ACQUIRE);
		if (signal_holds(s, condition, value))
			return;
		futex_wait(&s->seq, seq, 1000);
	}
}

static int64_t wait_for(uint64_t signal, uint32_t condition, int64_t value, uint64_t timeout)
{
	struct signal *s = signal_of(signal, "hsa_signal_wait");
	uint64_t begin = t0_now();
	for (;;) {
		uint32_t seq = __atomic_load_n(&s->seq, __ATOMIC_ACQUIRE);
		int64_t is = load(s);
		/* timeout: ticks of the system clock, which is in ns here */
		if (holds(is, condition, value) || t0_now() - begin >= timeout)
			return is;
		futex_wait(&s->seq, seq, 1000);
	}
}

int64_t t0_hsa_signal_wait_relaxed(uint64_t signal, uint32_t condition, int64_t value,
				   uint64_t timeout, uint32_t how)
{
	(void)how;
	return wait_for(signal, condition, value, timeout);
}

int64_t t0_hsa_signal_wait_scacquire(uint64_t signal, uint32_t condition, int64_t value,
				     uint64_t timeout, uint32_t how)
{
	(void)how;
	return wait_for(signal, condition, value, timeout);
}

uint32_t t0_hsa_amd_signal_wait_any(uint32_t n, uint64_t *signals, uint32_t *conditions,
				    int64_t *values, uint64_t timeout, uint32_t how,
				    int64_t *value_out)
{
	(void)how;
	uint64_t begin = t0_now();
	do {
		for (uint32_t i = 0; i < n; i++) {
			int64_t is = load(signal_of(signals[i], "hsa_amd_signal_wait_any"));
			if (holds(is, conditions[i], values[i])) {
				if (value_out)
					*value_out = is;
				return i;
			}
		}
		t0_sleep_us(20);
	} while (t0_now() - begin < timeout);
	return UINT32_MAX;
}

/* ---- operations ---- */

void signal_complete(uint64_t handle, uint64_t start, uint64_t end)
{
	if (!handle)
		return;
	struct signal *s = signal_of(handle, "the completion of a packet");
	s->body.start_ts = start;
	s->body.end_ts = end;
	__atomic_sub_fetch(&s->body.value, 1, __ATOMIC_ACQ_REL);
	signal_changed(s);
}

static void store(uint64_t signal, int64_t value)
{
	struct signal *s = signal_of(signal, "hsa_signal_store");
	__atomic_store_n(&s->body.value, value, __ATOMIC_RELEASE);
	if (s->doorbell && s->doorbell->intercept) {
		intercept_doorbell(s->doorbell, value);
		return;
	}
	signal_changed(s);
}

#define STORE(name)                                    \
	void t0_##name(uint64_t signal, int64_t value) \
	{                                              \
		store(signal, value);                  \
	}
STORE(hsa_signal_store_relaxed)
STORE(hsa_signal_store_screlease)
STORE(hsa_signal_silent_store_relaxed)
STORE(hsa_signal_silent_store_screlease)

int64_t t0_hsa_signal_load_relaxed(uint64_t signal)
{
	return load(signal_of(signal, "hsa_signal_load"));
}

int64_t t0_hsa_signal_load_scacquire(uint64_t signal)
{
	return load(signal_of(signal, "hsa_signal_load"));
}

/* Stronger orders than asked for do no harm. */
#define UPDATE_ONE(name, operation)                                                    \
	void t0_##name(uint64_t signal, int64_t value)                                 \
	{                                                                              \
		struct signal *s = signal_of(signal, #name);                           \
		__atomic_##operation##_fetch(&s->body.value, value, __ATOMIC_ACQ_REL); \
		signal_changed(s);                                                     \
	}
#define UPDATE(name, operation)                 \
	UPDATE_ONE(name##_relaxed, operation)   \
	UPDATE_ONE(name##_scacquire, operation) \
	UPDATE_ONE(name##_screlease, operation) \
	UPDATE_ONE(name##_scacq_screl, operation)
UPDATE(hsa_signal_add, add)
UPDATE(hsa_signal_subtract, sub)
UPDATE(hsa_signal_and, and)
UPDATE(hsa_signal_or, or)
UPDATE(hsa_signal_xor, xor)

#define EXCHANGE_ONE(name)                                                                  \
	int64_t t0_##name(uint64_t signal, int64_t value)                                   \
	{                                                                                   \
		struct signal *s = signal_of(signal, #name);                                \
		int64_t was = __atomic_exchange_n(&s->body.value, value, __ATOMIC_ACQ_REL); \
		signal_changed(s);                                                          \
		return was;                                                                 \
	}
EXCHANGE_ONE(hsa_signal_exchange_relaxed)
EXCHANGE_ONE(hsa_signal_exchange_scacquire)
EXCHANGE_ONE(hsa_signal_exchange_screlease)
EXCHANGE_ONE(hsa_signal_exchange_scacq_screl)

#define CAS_ONE(name)                                                                \
	int64_t t0_##name(uint64_t signal, int64_t expected, int64_t value)          \
	{                                                                            \
		struct signal *s = signal_of(signal, #name);                         \
		__atomic_compare_exchange_n(&s->body.value, &expected, value, false, \
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);     \
		signal_changed(s);                                                   \
		return expected;                                                     \
	}
CAS_ONE(hsa_signal_cas_relaxed)
CAS_ONE(hsa_signal_cas_scacquire)
CAS_ONE(hsa_signal_cas_screlease)
CAS_ONE(hsa_signal_cas_scacq_screl)

uint32_t t0_hsa_signal_create(int64_t value, uint32_t n_consumers, const uint64_t *consumers,
			      uint64_t *signal_out)
{
	(void)consumers, (void)n_consumers;
	if (!signal_out)
		return HSA_INVALID_ARGUMENT;
	if (t0_fails(T0_SIGNAL))
		return HSA_OUT_OF_RESOURCES;
	*signal_out = signal_new(value, NULL);
	return HSA_OK;
}

uint32_t t0_hsa_amd_signal_create(int64_t value, uint32_t n_consumers, const uint64_t *consumers,
				  uint64_t attributes, uint64_t *signal_out)
{
	(void)attributes;
	return t0_hsa_signal_create(value, n_consumers, consumers, signal_out);
}

uint32_t t0_hsa_signal_destroy(uint64_t signal)
{
	if (!signal)
		return HSA_INVALID_ARGUMENT;
	if (signal_of(signal, "hsa_signal_destroy")->doorbell)
		t0_abort("hsa_signal_destroy: a doorbell");
	signal_delete(signal);
	return HSA_OK;
}

uint32_t t0_hsa_amd_signal_value_pointer(uint64_t signal, volatile int64_t **value_out)
{
	*value_out = &signal_of(signal, "hsa_amd_signal_value_pointer")->body.value;
	return HSA_OK;
}
