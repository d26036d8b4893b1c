/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of the device: one owner, one selection at a time, units that add up the work of
 * kernels. Work is kept as it is, and a register's value made of it when it is read; so noise and
 * narrow registers change what is read and never what was done.
 */
#include "simdev/device.h"

#include <string.h>

int sim_counters_acquire(struct sim_device *d)
{
	int rc = SIM_OK;

	pthread_mutex_lock(&d->counter_lock);
	if (d->config.busy_counters || d->acquired)
		rc = sim_fail(SIM_BUSY, "another tool has the counters of the device");
	else {
		d->acquired = true;
		atomic_fetch_add(&sim_held_counters, 1);
	}
	pthread_mutex_unlock(&d->counter_lock);
	return rc;
}

void sim_counters_release(struct sim_device *d)
{
	pthread_mutex_lock(&d->counter_lock);
	if (d->acquired)
		atomic_fetch_sub(&sim_held_counters, 1);
	d->acquired = false;
	d->n_selected = 0;
	d->n_units = 0;
	pthread_mutex_unlock(&d->counter_lock);
}

static int units_reserve(struct sim_device *d, uint32_t n)
{
	uint32_t room = d->units_room ? d->units_room : 64;
	struct sim_work *units;

	if (n <= d->units_room) {
		memset(d->units, 0, n * sizeof(*d->units));
		return SIM_OK;
	}
	while (room < n && room < UINT32_MAX / 2)
		room *= 2;
	if (room < n || !(units = sim_pages((uint64_t)room * sizeof(*units))))
		return sim_fail(SIM_NO_MEMORY, "no memory for %u units", n);
	sim_pages_free(d->units, (uint64_t)d->units_room * sizeof(*units));
	d->units = units;
	d->units_room = room;
	return SIM_OK;
}

int sim_counters_program(struct sim_device *d, const uint32_t *ids, uint32_t n, uint32_t n_units)
{
	uint64_t begin = sim_now_ns(), ordinal = atomic_fetch_add(&d->programmings, 1) + 1;
	char why[160];
	int rc = sim_device_state(d);

	if (rc)
		return rc;
	if (n > SIM_SELECTED_MAX)
		return sim_fail(SIM_NO_SLOT, "%u counters at once", n);
	rc = sim_table_check(ids, n, why, sizeof(why));
	if (rc)
		return sim_fail(rc, "%s", why);
	if (d->config.fail_program && ordinal >= d->config.fail_program &&
	    ordinal - d->config.fail_program < d->config.fail_program_times)
		return sim_fail(SIM_IO, "programming the counters failed (the %llu. time)",
				(unsigned long long)ordinal);
	while (d->config.program_ns && sim_now_ns() - begin < d->config.program_ns)
		;
	pthread_mutex_lock(&d->counter_lock);
	if (!d->acquired)
		rc = sim_fail(SIM_INVALID, "the counters were not acquired");
	else
		rc = units_reserve(d, n_units);
	if (!rc) {
		if (n)
			memcpy(d->selected, ids, n * sizeof(*ids));
		d->n_selected = n;
		d->n_units = n_units;
	}
	pthread_mutex_unlock(&d->counter_lock);
	return rc;
}

void sim_counters_add(struct sim_device *d, uint32_t unit, const struct sim_work *work)
{
	const uint64_t *from = (const uint64_t *)(const void *)work;
	uint64_t *total = (uint64_t *)(void *)&d->total, *own = NULL;

	_Static_assert(sizeof(*work) % sizeof(uint64_t) == 0, "work is numbers only");
	pthread_mutex_lock(&d->counter_lock);
	if (unit < d->n_units)
		own = (uint64_t *)(void *)&d->units[unit];
	for (size_t i = 0; i < sizeof(*work) / sizeof(uint64_t); i++) {
		total[i] += from[i];
		if (own)
			own[i] += from[i];
	}
	pthread_mutex_unlock(&d->counter_lock);
}

static int check_unit(struct sim_device *d, uint32_t unit)
{
	int rc = sim_device_state(d);

	if (rc)
		return rc;
	pthread_mutex_lock(&d->counter_lock);
	if (unit >= d->n_units)
		rc = sim_fail(SIM_INVALID, "unit %u of %u", unit, d->n_units);
	pthread_mutex_unlock(&d->counter_lock);
	return rc;
}

int sim_counters_start(struct sim_device *d, struct sim_queue *q, uint32_t unit)
{
	struct sim_command c = {.kind = SIM_COMMAND_START, .u.unit = unit};
	int rc = check_unit(d, unit);

	if (rc)
		return rc;
	if (q)
		return sim_queue_put(q, &c);
	pthread_mutex_lock(&d->counter_lock);
	d->started = d->total;
	pthread_mutex_unlock(&d->counter_lock);
	return SIM_OK;
}

int sim_counters_stop(struct sim_device *d, struct sim_queue *q, uint32_t unit)
{
	struct sim_command c = {.kind = SIM_COMMAND_STOP, .u.unit = unit};
	uint64_t *own;
	int rc = check_unit(d, unit);

	if (rc)
		return rc;
	if (q)
		return sim_queue_put(q, &c);
	pthread_mutex_lock(&d->counter_lock);
	own = (uint64_t *)(void *)&d->units[unit];
	for (size_t i = 0; i < sizeof(d->total) / sizeof(uint64_t); i++)
		own[i] += ((const uint64_t *)(const void *)&d->total)[i] -
			  ((const uint64_t *)(const void *)&d->started)[i];
	pthread_mutex_unlock(&d->counter_lock);
	return SIM_OK;
}

/* splitmix64: every reading has a noise of its own, and the same one in every run. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static uint64_t with_noise(const struct sim_config *c, uint64_t value, uint64_t programming,
			   uint32_t unit, uint32_t id, uint32_t instance)
{
	uint64_t drawn =
		mix(mix(mix(c->seed ^ programming) ^ unit) ^ ((uint64_t)id << 32 | instance));
	uint64_t width = 2 * (uint64_t)c->noise + 1;
	int64_t part = (int64_t)(drawn % width) - (int64_t)c->noise;
	int64_t change = (int64_t)(value / 1000) * part + (int64_t)(value % 1000) * part / 1000;

	return change < 0 && (uint64_t)-change > value ? 0 : value + (uint64_t)change;
}

static struct sim_reading reading_of(const struct sim_config *c, const struct sim_counter *k,
				     uint64_t value)
{
	uint32_t bits = c->counter_bits && c->counter_bits < 64 ? c->counter_bits : k->bits;
	uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;

	return (struct sim_reading){
		.begin = c->counter_start & mask,
		.end = (c->counter_start + value) & mask,
		.bits = bits,
		.overflowed = value > mask,
	};
}

static bool is_selected(const struct sim_device *d, uint32_t id)
{
	for (uint32_t i = 0; i < d->n_selected; i++)
		if (d->selected[i] == id)
			return true;
	return false;
}

int sim_counters_read(struct sim_device *d, uint32_t unit, uint32_t id, uint32_t instance,
		      uint32_t n, struct sim_reading *readings_out)
{
	const struct sim_counter *k = sim_table_find(id);
	uint64_t value, programming = atomic_load(&d->programmings);
	uint64_t ordinal = atomic_fetch_add(&d->readings, 1) + 1;
	uint32_t n_blocks, instances = k ? sim_table_blocks(&n_blocks)[k->block].instances : 0;
	int rc = sim_device_state(d);

	if (rc)
		return rc;
	if (d->config.fail_read && ordinal == d->config.fail_read)
		return sim_fail(SIM_IO, "reading a counter failed (the %llu. time)",
				(unsigned long long)ordinal);
	pthread_mutex_lock(&d->counter_lock);
	if (unit >= d->n_units)
		rc = sim_fail(SIM_INVALID, "unit %u of %u", unit, d->n_units);
	else if (!is_selected(d, id) || instance >= instances || n > instances - instance)
		rc = sim_fail(SIM_INVALID, "counter %u[%u] is not programmed", id, instance);
	for (uint32_t i = 0; i < n && !rc; i++) {
		value = sim_table_value(k, instance + i, &d->units[unit]);
		if ((k->flags & SIM_COUNTER_NOISY) && d->config.noise)
			value = with_noise(&d->config, value, programming, unit, id, instance + i);
		readings_out[i] = reading_of(&d->config, k, value);
	}
	pthread_mutex_unlock(&d->counter_lock);
	return rc;
}
