/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs the counters of a pass, brackets each unit, reads. It executes a ready plan: which
 * counters go together was decided by the command, and the device only confirms it. Calls for one
 * device come from one thread at a time, so nothing here is locked.
 *
 * For a template: device_open finds out everything that can fail for reasons the user should read,
 * and allocates for the largest pass; the functions between pass_begin and pass_end only call the
 * device.
 */
#include "source/sim/sim_device.h"

#include "simdev/retally_sim_tool.h"
#include "source/sim/sim_abi.h"

#include <stdlib.h>
#include <string.h>

static struct source_sim_options options;

/* A hardware counter that is programmed, and one that is wanted: X and X[1] are one of the first
 * kind and two of the second. */
struct wanted {
	uint32_t counter; /* index into the plan's counters */
	uint32_t id, instance;
	uint32_t instances; /* of its block */
};
struct pass {
	uint32_t n_ids, n_wanted, n_samples;
	uint32_t *ids;
	struct wanted *wanted;
};
struct device {
	const struct sim_tool_device *native;
	uint32_t n_passes;
	struct pass *passes;
	uint32_t room;
	struct pass *current;         /* between pass_begin and the next one; NULL after an abort */
	struct sim_reading *readings; /* room for the instances of any block */
	uint32_t n_units, next_unit;
};

/* The device's words in ours. SIM_LOST and SIM_FAULT end counting for good. */
static int translate(const struct device *d, struct error *err, int result, const char *what)
{
	int code = result == SIM_LOST || result == SIM_FAULT         ? RC_END
		   : result == SIM_BUSY                              ? RC_BUSY
		   : result == SIM_NO_MEMORY                         ? RC_NO_MEMORY
		   : result == SIM_NO_SLOT || result == SIM_CONFLICT ? RC_NO_SLOT
		   : result == SIM_IO                                ? RC_IO
								     : RC_ERROR;

	return result ? error_set(err, code, "%s: %s", what, d->native->tools->error_text()) : 0;
}

/* Devices can be closed by the program while the engine still knows them. */
static int check_open(const struct device *d, struct error *err)
{
	return d->native->device
		       ? 0
		       : error_set(err, RC_END, "the program closed the simulated device");
}

static const struct sim_counter *find_counter(const struct sim_tools *t, uint32_t id)
{
	uint32_t n;
	const struct sim_counter *k = t->counters(&n);

	for (uint32_t i = 0; i < n; i++)
		if (k[i].id == id)
			return &k[i];
	return NULL;
}

/* ---- a device ---- */

static int prepare_counter(struct device *d, struct pass *p, const struct plan_counter *k,
			   uint32_t index, struct error *err)
{
	struct wanted *w = &p->wanted[p->n_wanted];
	const struct sim_counter *found;
	uint32_t n_blocks, i;
	int rc = sim_abi_decode(k, &w->id, &w->instance, err);

	if (rc)
		return rc;
	found = find_counter(d->native->tools, w->id);
	if (!found)
		return error_set(err, RC_NOT_FOUND,
				 "counter '%.100s': this device has no counter %u", k->name, w->id);
	w->counter = index;
	w->instances = d->native->tools->blocks(&n_blocks)[found->block].instances;
	if (w->instance != SIM_ABI_ALL && w->instance >= w->instances)
		return error_set(err, RC_NOT_FOUND, "counter '%.100s': its block has %u instances",
				 k->name, w->instances);
	for (i = 0; i < p->n_ids && p->ids[i] != w->id; i++)
		;
	if (i == p->n_ids)
		p->ids[p->n_ids++] = w->id;
	p->n_samples += w->instance == SIM_ABI_ALL && options.per_instance ? w->instances : 1;
	p->n_wanted++;
	return 0;
}

static int prepare_pass(struct device *d, struct pass *p, const struct plan *plan,
			const struct plan_pass *from, struct error *err)
{
	int rc = 0;

	p->ids = calloc(from->n_counters + 1, sizeof(*p->ids));
	p->wanted = calloc(from->n_counters + 1, sizeof(*p->wanted));
	if (!p->ids || !p->wanted)
		return error_set(err, RC_NO_MEMORY, "out of memory for a pass");
	for (uint32_t i = 0; i < from->n_counters && !rc; i++) {
		const struct plan_counter *k = &plan->counters[from->counters[i]];

		/* Counters of other sources are for those. */
		if (!strcmp(k->source, "sim"))
			rc = prepare_counter(d, p, k, from->counters[i], err);
	}
	if (p->n_samples > d->room)
		d->room = p->n_samples;
	return rc;
}

static void device_free(struct device *d)
{
	for (uint32_t i = 0; i < d->n_passes; i++) {
		free(d->passes[i].ids);
		free(d->passes[i].wanted);
	}
	free(d->passes);
	free(d->readings);
	free(d);
}

static uint32_t most_instances(const struct sim_tools *t)
{
	uint32_t n, most = 1;
	const struct sim_block *b = t->blocks(&n);

	for (uint32_t i = 0; i < n; i++)
		most = b[i].instances > most ? b[i].instances : most;
	return most;
}

static int device_open(void **device_out, const struct plan *plan, const char *runtime,
		       void *native, uint32_t number, struct error *err)
{
	struct device *d;
	int rc = 0;

	if (strcmp(runtime, "sim"))
		return error_set(err, RC_UNSUPPORTED,
				 "source sim counts the simulated device, not one of '%s'",
				 runtime);
	d = calloc(1, sizeof(*d));
	if (!d)
		return error_set(err, RC_NO_MEMORY, "out of memory for device %u", number);
	d->native = native;
	d->n_passes = plan->n_passes;
	d->passes = calloc(plan->n_passes + 1, sizeof(*d->passes));
	d->readings = calloc(most_instances(d->native->tools), sizeof(*d->readings));
	if (!d->passes || !d->readings) {
		d->n_passes = 0;
		device_free(d);
		return error_set(err, RC_NO_MEMORY, "out of memory for device %u", number);
	}
	for (uint32_t i = 0; i < plan->n_passes && !rc; i++)
		rc = prepare_pass(d, &d->passes[i], plan, &plan->passes[i], err);
	if (!rc)
		rc = check_open(d, err);
	/* Last: nothing has to be given back when something before failed. */
	if (!rc)
		rc = translate(d, err, d->native->tools->counters_acquire(d->native->device),
			       "taking the counters");
	if (rc)
		device_free(d);
	else
		*device_out = d;
	return rc;
}

static void device_close(void *device)
{
	struct device *d = device;

	if (d->native->device)
		d->native->tools->counters_release(d->native->device);
	device_free(d);
}

static uint32_t room(void *device)
{
	const struct device *d = device;

	return d->room;
}

/* ---- a pass ---- */

static int pass_begin(void *device, uint32_t pass, uint32_t n_units, struct error *err)
{
	struct device *d = device;
	struct pass *p;
	int rc = check_open(d, err);

	if (rc)
		return rc;
	if (!pass || pass > d->n_passes)
		return error_set(err, RC_INVALID, "pass %u of %u", pass, d->n_passes);
	p = &d->passes[pass - 1];
	d->current = NULL;
	rc = translate(
		d, err,
		d->native->tools->counters_program(d->native->device, p->ids, p->n_ids, n_units),
		"programming the counters");
	if (rc)
		return rc;
	d->current = p;
	d->n_units = n_units;
	d->next_unit = 0;
	return 0;
}

/* Between two places of a queue, or everything the device does until unit_end. */
static struct sim_queue *where(const struct source_unit *unit)
{
	return options.capabilities & SOURCE_NEEDS_DRAIN ? NULL : unit->queue_native;
}

static int unit_begin(void *device, const struct source_unit *unit, struct error *err)
{
	struct device *d = device;
	int rc = check_open(d, err);

	if (rc)
		return rc;
	if (!d->current || unit->index != d->next_unit || unit->index >= d->n_units)
		return error_set(err, RC_INVALID, "unit %u begins, but %u of %u is next",
				 unit->index, d->next_unit, d->n_units);
	d->next_unit++;
	return translate(
		d, err,
		d->native->tools->counters_start(d->native->device, where(unit), unit->index),
		"starting the counters");
}

static int unit_end(void *device, const struct source_unit *unit, struct error *err)
{
	struct device *d = device;
	int rc = check_open(d, err);

	return rc ? rc
		  : translate(d, err,
			      d->native->tools->counters_stop(d->native->device, where(unit),
							      unit->index),
			      "stopping the counters");
}

static int pass_end(void *device, struct error *err)
{
	/* The units hold their counts until the counters are programmed again. */
	return check_open(device, err);
}

/* Adds one register to a sample. A count that went round is no count: the value stays 0 and the
 * status says why. */
static void add_register(struct spool_sample *sample, const struct sim_reading *r)
{
	uint64_t mask = r->bits < 64 ? (UINT64_C(1) << r->bits) - 1 : UINT64_MAX;

	if (r->overflowed)
		sample->status = SAMPLE_OVERFLOWED;
	/* A register that passed its end once is fine: the difference is right modulo its width. */
	sample->value.u64 += (r->end - r->begin) & mask;
}

/* All instances with one call: each call into a vendor's library has its price. */
static int read_wanted(struct device *d, uint32_t unit, const struct wanted *w,
		       struct spool_sample *samples_out, uint32_t *n_out, struct error *err)
{
	uint32_t first = w->instance == SIM_ABI_ALL ? 0 : w->instance;
	uint32_t n = w->instance == SIM_ABI_ALL ? w->instances : 1;
	bool apart = options.per_instance || w->instance != SIM_ABI_ALL;
	struct spool_sample *s = NULL;
	int rc = translate(d, err,
			   d->native->tools->counters_read(d->native->device, unit, w->id, first, n,
							   d->readings),
			   "reading a counter");

	for (uint32_t i = 0; i < n && !rc; i++) {
		if (!s || apart) {
			s = &samples_out[(*n_out)++];
			*s = (struct spool_sample){
				.counter = w->counter,
				.instance = (uint16_t)(apart ? first + i : SPOOL_INSTANCE_ALL),
				.status = SAMPLE_OK,
				.kind = SAMPLE_U64};
		}
		add_register(s, &d->readings[i]);
		if (s->status != SAMPLE_OK && (apart || i + 1 == n))
			s->value.u64 = 0;
	}
	return rc;
}

static int read_unit(void *device, uint32_t unit, struct spool_sample *samples_out, uint32_t n_room,
		     uint32_t *n_out, uint64_t *enabled_ns_out, uint64_t *running_ns_out,
		     struct error *err)
{
	struct device *d = device;
	int rc = check_open(d, err);

	*n_out = 0;
	*enabled_ns_out = *running_ns_out = 0; /* nothing is multiplexed here */
	if (rc)
		return rc;
	if (!d->current || unit >= d->next_unit)
		return error_set(err, RC_INVALID, "unit %u was not counted", unit);
	if (n_room < d->current->n_samples) {
		*n_out = d->current->n_samples;
		return error_set(err, RC_NO_SPACE, "%u samples do not fit into %u",
				 d->current->n_samples, n_room);
	}
	for (uint32_t i = 0; i < d->current->n_wanted && !rc; i++)
		rc = read_wanted(d, unit, &d->current->wanted[i], samples_out, n_out, err);
	return rc;
}

static void pass_abort(void *device)
{
	struct device *d = device;

	d->current = NULL;
}

const struct source *source_sim(const struct source_sim_options *o)
{
	static struct source source = {
		.name = "sim",
		.size = sizeof(source),
		.device_open = device_open,
		.pass_begin = pass_begin,
		.unit_begin = unit_begin,
		.unit_end = unit_end,
		.pass_end = pass_end,
		.read = read_unit,
		.room = room,
		.pass_abort = pass_abort,
		.device_close = device_close,
	};

	options = o ? *o : (struct source_sim_options){0};
	source.capabilities = options.capabilities;
	return &source;
}
