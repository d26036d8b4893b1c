/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From counts to records: a thread delivers them, each with a delay of its own, before or long
 * after the program has seen its kernel end; when the context was stopped, or
 * RETALLY_T0_RECORDS=event, they come on the runtime's event thread. The array is on pages of its
 * own that are unmapped when the callback has returned.
 */
#include "sdk_standin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct pending {
	struct pending *next;
	struct session *session;
	uint64_t due; /* ns */
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, empty = PTHREAD_COND_INITIALIZER;
static struct pending *pendings;
static pthread_t thread;
static bool running, stopping;
static unsigned delivering;
uint64_t sdk_records_given;

struct longer { /* RETALLY_T0_MUTATE=sizes */
	struct rocp_dispatch_data data;
	uint8_t more[64];
};
typedef void (*longer_record)(struct longer data, struct rocp_counter_record *records, size_t n,
			      union rocp_user_data user, void *arg);

static void call(const struct counting *c, const struct rocp_dispatch_data *data,
		 struct rocp_counter_record *records, size_t n, union rocp_user_data user)
{
	sdk_inside = SDK_IN_RECORD;
	if (t0_config()->mutate & T0_SIZES) {
		struct longer l = {.data = *data};
		l.data.size += sizeof l.more;
		memset(l.more, 0xee, sizeof l.more);
		((longer_record)(uintptr_t)c->record)(l, records, n, user, c->record_arg);
	} else {
		c->record(*data, records, n, user, c->record_arg);
	}
	sdk_inside = SDK_OUTSIDE;
}

static void deliver(struct session *s)
{
	for (unsigned k = 0; k < s->n_counted; k++) {
		const struct config *c = s->counted[k].config;
		size_t n = 0;
		for (uint32_t i = 0; i < c->n; i++)
			n += counter_instances(c->counters[i], s->agent);
		if (!n || t0_fails(T0_RECORD_LOST))
			continue;
		size_t bytes = (n * sizeof(struct rocp_counter_record) + 4095) / 4096 * 4096;
		char *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);
		if (page == MAP_FAILED)
			t0_abort("no memory");
		/* at the end of the pages: one record too far is a fault, too */
		struct rocp_counter_record *r =
			(struct rocp_counter_record *)(void *)(page + bytes - n * sizeof *r);
		n = 0;
		for (uint32_t i = 0; i < c->n; i++) {
			const struct counter *counter = c->counters[i];
			uint32_t instances = counter_instances(counter, s->agent);
			/* the order of a counter's instances is nobody's business */
			uint32_t first = (uint32_t)t0_random(instances);
			for (uint32_t j = 0; j < instances; j++) {
				uint32_t at = (first + j) % instances;
				r[n++] = (struct rocp_counter_record){
					.id = counter_record_id(counter, s->agent, at),
					.value = counter_value(counter, s->agent, at, &s->counts),
					.dispatch_id = s->data.dispatch.dispatch_id,
					.agent = s->agent->public->id};
			}
		}
		__atomic_add_fetch(&sdk_records_given, 1, __ATOMIC_RELAXED);
		call(s->counted[k].counting, &s->data, r, n, s->counted[k].user_data);
		munmap(page, bytes);
	}
	session_free(s);
}

static void *deliver_loop(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	for (;;) {
		uint64_t now = t0_now(), soonest = UINT64_MAX;
		struct pending *found = NULL;
		for (struct pending **p = &pendings; *p; p = &(*p)->next) {
			if ((*p)->due <= now || stopping) {
				found = *p;
				*p = found->next;
				break;
			}
			if ((*p)->due < soonest)
				soonest = (*p)->due;
		}
		if (found) {
			delivering++;
			pthread_mutex_unlock(&lock);
			deliver(found->session);
			free(found);
			pthread_mutex_lock(&lock);
			delivering--;
			continue;
		}
		if (stopping && !pendings)
			break;
		struct timespec t;
		clock_gettime(CLOCK_REALTIME, &t);
		uint64_t wait = soonest == UINT64_MAX ? 100000000 : soonest - now;
		if (wait > 100000000)
			wait = 100000000;
		t.tv_nsec += (long)wait;
		if (t.tv_nsec >= 1000000000) {
			t.tv_nsec -= 1000000000;
			t.tv_sec++;
		}
		pthread_cond_timedwait(&wake, &lock, &t);
	}
	running = false;
	pthread_cond_broadcast(&empty);
	pthread_mutex_unlock(&lock);
	return NULL;
}

void records_take(struct session *s)
{
	struct pending *p = calloc(1, sizeof *p);
	if (!p)
		t0_abort("no memory");
	p->session = s;
	p->due = t0_now() + t0_random(t0_config()->record_us * (uint64_t)1000 + 1);
	if (t0_fails(T0_RECORD_LATE))
		p->due += t0_config()->late_ms * (uint64_t)1000000;
	pthread_mutex_lock(&lock);
	if (running && !stopping && !t0_config()->records_on_event_thread) {
		struct pending **at = &pendings;
		while (*at)
			at = &(*at)->next;
		*at = p;
		pthread_cond_signal(&wake);
		pthread_mutex_unlock(&lock);
		return;
	}
	/* The real library holds the ring's mutex here: whoever waits for anything of the SDK in
	 * the callback is stuck. */
	pthread_mutex_unlock(&lock);
	free(p);
	deliver(s);
}

void records_start(void)
{
	pthread_mutex_lock(&lock);
	stopping = false;
	if (!running && !pthread_create(&thread, NULL, deliver_loop, NULL)) {
		running = true;
		pthread_detach(thread);
	}
	pthread_mutex_unlock(&lock);
}

void records_stop(void)
{
	pthread_mutex_lock(&lock);
	stopping = true;
	pthread_cond_broadcast(&wake);
	while (running)
		pthread_cond_wait(&empty, &lock);
	pthread_mutex_unlock(&lock);
}
