/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches and their records: see rocm_dispatch.h. */
#include "source/rocm/rocm_dispatch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEVICES_MAX 64u

struct rocm_pass_units {
	uint32_t index; /* in `all` */
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	uint64_t config;
	uint32_t generation; /* of the pass; what carries another one is late */
	bool open;
	uint32_t n, room;
	uint32_t waited; /* dispatches without records */
	struct rocm_unit *units;
};

/* Never freed: a record may come when the device is gone. */
static struct rocm_pass_units *_Atomic all[DEVICES_MAX];
static atomic_uint n_all;

static _Thread_local struct {
	struct rocm_pass_units *into, *last;
	uint32_t unit, last_unit;
} here __attribute__((tls_model("initial-exec")));

struct rocm_pass_units *rocm_dispatch_new(void)
{
	struct rocm_pass_units *u;
	pthread_condattr_t attributes;
	uint32_t i = atomic_fetch_add(&n_all, 1);

	if (i >= DEVICES_MAX)
		return NULL;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->index = i;
	pthread_mutex_init(&u->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&u->arrived, &attributes);
	pthread_condattr_destroy(&attributes);
	atomic_store(&all[i], u);
	return u;
}

void rocm_dispatch_free(struct rocm_pass_units *u)
{
	if (!u)
		return;
	rocm_dispatch_forget(u);
	for (uint32_t i = 0; i < u->room; i++)
		free(u->units[i].values);
	free(u->units);
	u->units = NULL;
	u->room = u->n = 0;
}

static bool units_room(struct rocm_pass_units *u, uint32_t n)
{
	struct rocm_unit *units;

	if (n <= u->room)
		return true;
	units = realloc(u->units, n * sizeof(*units));
	if (!units)
		return false;
	memset(units + u->room, 0, (n - u->room) * sizeof(*units));
	u->units = units;
	u->room = n;
	return true;
}

bool rocm_dispatch_pass(struct rocm_pass_units *u, uint64_t config, uint32_t n)
{
	bool done;

	pthread_mutex_lock(&u->lock);
	done = units_room(u, n);
	for (uint32_t i = 0; i < n && done; i++) {
		struct rocm_unit *x = &u->units[i];

		*x = (struct rocm_unit){.values = x->values, .room = x->room};
	}
	u->config = config;
	u->generation++;
	u->n = done ? n : 0;
	u->waited = 0;
	u->open = done;
	pthread_mutex_unlock(&u->lock);
	return done;
}

void rocm_dispatch_into(struct rocm_pass_units *u, uint32_t unit)
{
	here.into = u;
	here.unit = unit;
}

bool rocm_dispatch_last(struct rocm_pass_units **u_out, uint32_t *unit_out)
{
	*u_out = here.last;
	*unit_out = here.last_unit;
	here.last = NULL;
	return *u_out != NULL;
}

bool rocm_dispatch_wait(struct rocm_pass_units *u, uint64_t bound_ns)
{
	struct timespec t;
	bool done;

	clock_gettime(CLOCK_MONOTONIC, &t);
	bound_ns += (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(bound_ns / 1000000000u);
	t.tv_nsec = (long)(bound_ns % 1000000000u);
	pthread_mutex_lock(&u->lock);
	while (u->waited && !pthread_cond_timedwait(&u->arrived, &u->lock, &t))
		;
	done = !u->waited;
	pthread_mutex_unlock(&u->lock);
	return done;
}

void rocm_dispatch_forget(struct rocm_pass_units *u)
{
	pthread_mutex_lock(&u->lock);
	u->open = false;
	u->generation++;
	pthread_mutex_unlock(&u->lock);
}

const struct rocm_unit *rocm_dispatch_unit(const struct rocm_pass_units *u, uint32_t unit)
{
	return unit < u->n ? &u->units[unit] : NULL;
}

/* ---- for the library ---- */

/* Bits 56: device, 32: generation, 0: unit; never 0. */
static uint64_t ticket(const struct rocm_pass_units *u, uint32_t unit)
{
	return (uint64_t)(u->index + 1) << 56 | (uint64_t)(u->generation & 0xffffff) << 32 | unit;
}

void rocm_dispatch_begins(struct rocp_dispatch_data data, uint64_t *config_out,
			  union rocp_user_data *user_data_out, void *arg)
{
	struct rocm_pass_units *u = here.into;

	(void)data;
	(void)arg;
	if (!u)
		return; /* somebody else's: uncounted */
	pthread_mutex_lock(&u->lock);
	if (u->open && here.unit < u->n) {
		u->units[here.unit].asked++;
		u->waited++;
		*config_out = u->config;
		user_data_out->value = ticket(u, here.unit);
		here.last = u;
		here.last_unit = here.unit;
	}
	pthread_mutex_unlock(&u->lock);
}

static void keep(struct rocm_unit *x, const struct rocp_counter_record *records, size_t n)
{
	if (n > UINT32_MAX / 4 || x->n > UINT32_MAX / 4) {
		x->failed = true;
		return;
	}
	if (x->n + n > x->room) {
		uint32_t room = x->n + (uint32_t)n;
		struct rocm_value *values = realloc(x->values, room * sizeof(*values));

		if (!values) {
			x->failed = true;
			return;
		}
		x->values = values;
		x->room = room;
	}
	for (size_t i = 0; i < n; i++)
		x->values[x->n++] = (struct rocm_value){records[i].id, records[i].value};
}

void rocm_dispatch_counted(struct rocp_dispatch_data data, struct rocp_counter_record *records,
			   size_t n, union rocp_user_data user_data, void *arg)
{
	uint64_t t = user_data.value;
	struct rocm_pass_units *u;
	struct rocm_unit *x;

	(void)arg;
	if (!(t >> 56) || t >> 56 > DEVICES_MAX || !(u = atomic_load(&all[(t >> 56) - 1])))
		return;
	pthread_mutex_lock(&u->lock);
	if (u->open && (uint32_t)t < u->n && ticket(u, (uint32_t)t) == t) {
		x = &u->units[(uint32_t)t];
		if (n && !records)
			x->failed = true;
		else
			keep(x, records, n);
		if (data.size >= offsetof(struct rocp_dispatch_data, dispatch)) {
			if (!x->got || data.start_ns < x->begin_ns)
				x->begin_ns = data.start_ns;
			if (data.end_ns > x->end_ns)
				x->end_ns = data.end_ns;
		}
		x->got++;
		if (u->waited && !--u->waited)
			pthread_cond_broadcast(&u->arrived);
	}
	pthread_mutex_unlock(&u->lock);
}
