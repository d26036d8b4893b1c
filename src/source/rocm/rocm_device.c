/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting dispatches of one AMD GPU: see rocm_device.h. The plan says what goes together; here it
 * is looked up, turned into configurations, and what comes back is given its place. A pass is over
 * when its kernels are done (the engine waited for that) and every dispatch has its records.
 */
#include "source/rocm/rocm_device.h"

#include "source/rocm/rocm_counters.h"
#include "source/rocm/rocm_dispatch.h"
#include "source/rocm/rocm_tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records come at the latest some milliseconds after the kernel; what takes so long is lost. */
#define RECORDS_NS 5000000000u

#define WHOLE   UINT32_MAX
#define MISSING UINT32_MAX
/* Of counters of the plan: X, or X[i]. */
struct wanted {
	uint32_t counter; /* index into the plan's counters */
	uint32_t of;      /* index into the pass's counters; MISSING: it cannot be counted here */
	uint32_t instance;
};
/* A counter that is programmed; its values begin at `first`. */
struct programmed {
	uint32_t counter; /* index into device->counters */
	uint32_t first;
};
struct pass {
	uint64_t config;
	bool made;
	uint32_t n_programmed, n_wanted, n_values, n_samples;
	struct programmed *programmed;
	struct wanted *wanted;
	struct spool_sample *blank; /* all samples, nothing collected */
	/* Where the i-th record went the last time: they nearly always come in the same order. */
	struct arrival {
		uint64_t record_id;
		uint32_t at; /* index into the values, MISSING: nowhere */
	} * arrivals;
	uint32_t n_arrivals;
};
struct device {
	const struct rocm_agent *agent;
	struct rocm_counters counters;
	struct rocm_pass_units *units;
	uint32_t n_passes;
	struct pass *passes;
	uint32_t room;
	double *values; /* of one unit */
	unsigned char *has;
	uint32_t values_room;
	const char *missing;   /* told last */
	bool missing_instance; /* told: of every counter with instances there may be many */
	struct pass *current;
	bool counting; /* the context is started for us */
	bool series;   /* and stays so between passes */
	uint32_t n_units;
};

/* ---- a device ---- */

/* "X[12]": 12, and the length of X; else WHOLE. */
static uint32_t split_name(const char *name, size_t *n_out)
{
	const char *open = strrchr(name, '[');
	uint32_t i = 0;

	*n_out = strlen(name);
	if (!open || name[*n_out - 1] != ']' || open + 2 >= name + *n_out)
		return WHOLE;
	for (const char *p = open + 1; *p != ']'; p++) {
		if (*p < '0' || *p > '9' || i > ROCM_INSTANCES_MAX)
			return WHOLE;
		i = 10 * i + (uint32_t)(*p - '0');
	}
	*n_out = (size_t)(open - name);
	return i;
}

/* Other versions of the SDK know other counters, other GPUs have fewer instances: the rest is worth
 * having. Told once a name, and once of instances. */
static void tell_missing(struct device *d, const char *name, uint32_t instances)
{
	char text[320];

	if ((d->missing && !strcmp(d->missing, name)) || (instances && d->missing_instance))
		return;
	d->missing = name;
	d->missing_instance |= instances != 0;
	if (instances)
		snprintf(text, sizeof(text),
			 "counter '%.100s', and others that are so high, are not collected: there "
			 "are %u instances on this %s",
			 name, instances, d->agent->name);
	else
		snprintf(text, sizeof(text),
			 "counter '%.100s' is not collected: rocprofiler-sdk does not know it on "
			 "this %s",
			 name, d->agent->name);
	rocm_tool_tell(text);
}

static void take_counter(struct device *d, struct pass *p, const struct plan_counter *k,
			 uint32_t index)
{
	const struct rocm_counter *found;
	uint32_t i, at, instance;
	size_t n;

	instance = split_name(k->name, &n);
	found = rocm_counters_find(&d->counters, k->name, n);
	/* X_sum is X */
	if (!found && n > 4 && !strncmp(k->name + n - 4, "_sum", 4))
		found = rocm_counters_find(&d->counters, k->name, n - 4);
	if (!found || (instance != WHOLE && instance >= found->n_known)) {
		p->wanted[p->n_wanted++] = (struct wanted){.counter = index, .of = MISSING};
		p->n_samples++;
		tell_missing(d, k->name, found ? found->n_known : 0);
		return;
	}
	at = (uint32_t)(found - d->counters.items);
	for (i = 0; i < p->n_programmed && p->programmed[i].counter != at; i++)
		;
	if (i == p->n_programmed) {
		p->programmed[p->n_programmed++] =
			(struct programmed){.counter = at, .first = p->n_values};
		p->n_values += found->n_instances;
	}
	p->wanted[p->n_wanted++] = (struct wanted){.counter = index, .of = i, .instance = instance};
	p->n_samples += instance == WHOLE ? found->n_instances : 1;
}

static int make_config(struct device *d, struct pass *p, uint32_t number, struct error *err)
{
	const struct rocm_api *a = rocm_tool_api();
	uint64_t *ids = calloc(p->n_programmed + 1, sizeof(*ids)), config = 0;
	uint32_t status;
	int rc;

	if (!ids)
		return error_set(err, RC_NO_MEMORY, "out of memory for a pass");
	for (uint32_t i = 0; i < p->n_programmed; i++)
		ids[i] = d->counters.items[p->programmed[i].counter].id;
	/* config must be 0: the library would add these counters to another one's. */
	status = a->rocprofiler_create_counter_config(d->agent->id, ids, p->n_programmed, &config);
	free(ids);
	if (!status) {
		p->config = config;
		p->made = true;
		return 0;
	}
	if (status == ROCP_EXCEEDS_HW_LIMIT)
		return error_set(err, RC_NO_SLOT,
				 "pass %u: its counters do not go together on this %s, "
				 "rocprofiler-sdk says",
				 number, d->agent->name);
	rc = rocm_api_fail(a, status, "choosing counters", err);
	error_prefix(err, "pass %u", number);
	return rc;
}

/* The samples in the order in which read_wanted fills them. */
static bool make_blank(const struct device *d, struct pass *p)
{
	struct spool_sample *s = calloc(p->n_samples, sizeof(*s));

	p->blank = s;
	p->arrivals = calloc(p->n_values + 1, sizeof(*p->arrivals));
	if (!s || !p->arrivals)
		return false;
	for (uint32_t i = 0; i < p->n_wanted; i++) {
		const struct wanted *w = &p->wanted[i];
		const struct rocm_counter *k =
			w->of == MISSING ? NULL : &d->counters.items[p->programmed[w->of].counter];
		uint32_t n = k && w->instance == WHOLE ? k->n_instances : 1;

		for (uint32_t at = 0; at < n; at++)
			*s++ = (struct spool_sample){
				.counter = w->counter,
				.instance = (uint16_t)(!k                     ? SPOOL_INSTANCE_ALL
						       : w->instance != WHOLE ? w->instance
						       : n > 1                ? at
									      : SPOOL_INSTANCE_ALL),
				.status = SAMPLE_NOT_COLLECTED};
	}
	return true;
}

static int prepare_pass(struct device *d, struct pass *p, const struct plan *plan, uint32_t number,
			struct error *err)
{
	const struct plan_pass *from = &plan->passes[number - 1];

	p->programmed = calloc(from->n_counters + 1, sizeof(*p->programmed));
	p->wanted = calloc(from->n_counters + 1, sizeof(*p->wanted));
	if (!p->programmed || !p->wanted)
		return error_set(err, RC_NO_MEMORY, "out of memory for a pass");
	for (uint32_t i = 0; i < from->n_counters; i++) {
		const struct plan_counter *k = &plan->counters[from->counters[i]];

		if (!strcmp(k->source, "rocm"))
			take_counter(d, p, k, from->counters[i]);
	}
	if (!p->n_wanted)
		return 0;
	if (p->n_samples > d->room)
		d->room = p->n_samples;
	if (p->n_values > d->values_room)
		d->values_room = p->n_values;
	if (!make_blank(d, p))
		return error_set(err, RC_NO_MEMORY, "out of memory for a pass");
	/* Nothing to program is no error: all its samples are SAMPLE_NOT_COLLECTED. */
	return p->n_programmed ? make_config(d, p, number, err) : 0;
}

static void device_free(struct device *d)
{
	const struct rocm_api *a = rocm_tool_api();

	for (uint32_t i = 0; i < d->n_passes; i++) {
		if (d->passes[i].made)
			(void)a->rocprofiler_destroy_counter_config(d->passes[i].config);
		free(d->passes[i].programmed);
		free(d->passes[i].wanted);
		free(d->passes[i].blank);
		free(d->passes[i].arrivals);
	}
	free(d->passes);
	free(d->values);
	free(d->has);
	rocm_dispatch_free(d->units);
	rocm_counters_release(&d->counters);
	free(d);
}

/* "gfx90a:sramecc+:xnack-" is a gfx90a. */
static bool is_chip(const char *agent, const char *chip)
{
	size_t n = strlen(chip);

	return !strncmp(agent, chip, n) && (!agent[n] || agent[n] == ':');
}

static int prepare(struct device *d, const struct plan *plan, struct error *err)
{
	int rc = rocm_counters_list(&d->counters, rocm_tool_api(), d->agent->id, err);

	d->n_passes = rc ? 0 : plan->n_passes;
	d->passes = calloc(d->n_passes + 1, sizeof(*d->passes));
	d->units = rocm_dispatch_new();
	if (!rc && (!d->passes || !d->units))
		rc = error_set(err, RC_NO_MEMORY, "out of memory for a device");
	for (uint32_t i = 1; i <= d->n_passes && !rc; i++)
		rc = prepare_pass(d, &d->passes[i - 1], plan, i, err);
	if (rc)
		return rc;
	d->values = calloc(d->values_room + 1, sizeof(*d->values));
	d->has = calloc(d->values_room + 1, 1);
	return d->values && d->has ? 0 : error_set(err, RC_NO_MEMORY, "out of memory for a device");
}

static int device_open(void **device_out, const struct plan *plan, const char *runtime,
		       void *native, uint32_t number, struct error *err)
{
	const struct rocm_native *n = native;
	const struct rocm_agent *agent;
	struct device *d;
	int rc;

	if (strcmp(runtime, "hsa"))
		return error_set(err, RC_UNSUPPORTED,
				 "source rocm counts on devices of HSA, not on one of '%s'",
				 runtime);
	agent = rocm_tool_agent(n->node);
	if (!agent)
		return error_set(err, RC_NOT_FOUND, "rocprofiler-sdk does not know GPU %u", number);
	if (!is_chip(agent->name, plan->chip))
		return error_set(err, RC_MISMATCH, "the plan is for %s, and this GPU is a %s",
				 plan->chip, agent->name);
	d = calloc(1, sizeof(*d));
	if (!d)
		return error_set(err, RC_NO_MEMORY, "out of memory for a device");
	d->agent = agent;
	rc = prepare(d, plan, err);
	if (rc)
		device_free(d);
	else
		*device_out = d;
	return rc;
}

static void stop(struct device *d)
{
	if (d->counting)
		rocm_tool_stop();
	d->counting = false;
}

static void device_close(void *device)
{
	struct device *d = device;

	stop(d);
	device_free(d);
}

static uint32_t room(void *device)
{
	const struct device *d = device;

	return d->room;
}

/* ---- a pass ---- */

static void pass_abort(void *device)
{
	struct device *d = device;

	rocm_dispatch_into(NULL, 0);
	rocm_dispatch_forget(d->units);
	stop(d);
	d->current = NULL;
}

static int pass_begin(void *device, uint32_t pass, uint32_t n_units, struct error *err)
{
	struct device *d = device;
	int rc;

	if (!pass || pass > d->n_passes)
		return error_set(err, RC_INVALID, "pass %u of %u", pass, d->n_passes);
	d->current = NULL;
	d->n_units = 0;
	if (!d->passes[pass - 1].made) {
		d->current = &d->passes[pass - 1];
		return 0;
	}
	if (!rocm_dispatch_pass(d->units, d->passes[pass - 1].config, n_units))
		return error_set(err, RC_NO_MEMORY, "out of memory for %u dispatches", n_units);
	rc = d->counting ? 0 : rocm_tool_start(err);
	if (rc) {
		rocm_dispatch_forget(d->units);
		return rc;
	}
	d->counting = true;
	d->current = &d->passes[pass - 1];
	return 0;
}

static int unit_begin(void *device, const struct source_unit *unit, struct error *err)
{
	struct device *d = device;

	if (!d->current)
		return error_set(err, RC_INVALID, "a dispatch begins outside of a pass");
	if (d->current->made)
		rocm_dispatch_into(d->units, unit->index);
	if (unit->index >= d->n_units)
		d->n_units = unit->index + 1;
	return 0;
}

static int unit_end(void *device, const struct source_unit *unit, struct error *err)
{
	(void)device;
	(void)unit;
	(void)err;
	rocm_dispatch_into(NULL, 0);
	return 0;
}

static int pass_end(void *device, struct error *err)
{
	struct device *d = device;
	int rc = 0;
	bool all;

	if (d->current && !d->current->made)
		return 0;
	all = rocm_dispatch_wait(d->units, RECORDS_NS);
	if (!d->series)
		stop(d);
	if (!all)
		rc = error_set(err, RC_ERROR,
			       "rocprofiler-sdk gave no records of a dispatch that is over");
	for (uint32_t i = 0; i < d->n_units && !rc; i++) {
		const struct rocm_unit *u = rocm_dispatch_unit(d->units, i);

		if (!u || !u->asked)
			rc = error_set(err, RC_ERROR,
				       "rocprofiler-sdk did not take notice of a dispatch");
		else if (u->failed)
			rc = error_set(err, RC_NO_MEMORY, "out of memory for records");
	}
	if (rc)
		pass_abort(d);
	return rc;
}

static void series(void *device, bool begins)
{
	struct device *d = device;

	d->series = begins;
	if (!begins)
		stop(d);
}

/* ---- reading ---- */

/* The value that a record is of; MISSING: one that the library counts for itself. */
static int find_value(struct device *d, const struct pass *p, uint64_t record_id, uint32_t *at_out,
		      struct error *err)
{
	struct rocm_place place;
	int rc = rocm_counters_place(&d->counters, record_id, &place, err);

	*at_out = MISSING;
	for (uint32_t i = 0; i < p->n_programmed && !rc && *at_out == MISSING; i++)
		if (p->programmed[i].counter == place.counter)
			*at_out = p->programmed[i].first + place.instance;
	return rc;
}

/* The records of a unit at their places; a range has several of each, which are added up. */
static int place_values(struct device *d, struct pass *p, const struct rocm_unit *u,
			struct error *err)
{
	uint32_t at = MISSING, k = 0;
	int rc = 0;

	memset(d->has, 0, p->n_values);
	for (uint32_t i = 0; i < u->n && !rc; i++, k++) {
		const struct rocm_value *v = &u->values[i];
		struct arrival *a;

		k = k > p->n_values ? 0 : k;
		a = &p->arrivals[k];
		if (k < p->n_arrivals && a->record_id == v->record_id) {
			at = a->at;
		} else {
			rc = find_value(d, p, v->record_id, &at, err);
			*a = (struct arrival){.record_id = v->record_id, .at = at};
			if (!rc && k >= p->n_arrivals)
				p->n_arrivals = k + 1;
		}
		if (rc || at == MISSING)
			continue;
		d->values[at] = (d->has[at] ? d->values[at] : 0) + v->value;
		d->has[at] = 1;
	}
	return rc;
}

static void put(struct spool_sample *s, const struct rocm_counter *k, bool has, double value)
{
	if (!has || !isfinite(value))
		return; /* SAMPLE_NOT_COLLECTED */
	s->status = SAMPLE_OK;
	if (!k->derived && value >= 0 && value < 9007199254740992.0 &&
	    value == (double)(uint64_t)value) {
		s->kind = SAMPLE_U64;
		s->value.u64 = (uint64_t)value;
	} else {
		s->kind = SAMPLE_F64;
		s->value.f64 = value;
	}
}

static uint32_t read_wanted(const struct device *d, const struct pass *p, const struct wanted *w,
			    struct spool_sample *out)
{
	const struct programmed *at;
	const struct rocm_counter *k;
	const double *values;
	const unsigned char *has;
	double sum = 0;
	bool any = false;

	if (w->of == MISSING)
		return 1;
	at = &p->programmed[w->of];
	k = &d->counters.items[at->counter];
	values = d->values + at->first;
	has = d->has + at->first;
	if (w->instance == WHOLE) {
		for (uint32_t i = 0; i < k->n_instances; i++)
			put(&out[i], k, has[i] != 0, values[i]);
		return k->n_instances;
	}
	for (uint32_t i = w->instance; i < k->n_instances; i += k->n_known) {
		sum += has[i] ? values[i] : 0;
		any |= has[i] != 0;
	}
	put(out, k, any, sum);
	return 1;
}

static int read_unit(void *device, uint32_t unit, struct spool_sample *samples_out, uint32_t n_room,
		     uint32_t *n_out, uint64_t *enabled_ns_out, uint64_t *running_ns_out,
		     struct error *err)
{
	struct device *d = device;
	const struct rocm_unit *u = rocm_dispatch_unit(d->units, unit);
	struct pass *p = d->current;
	int rc;

	*n_out = 0;
	*enabled_ns_out = *running_ns_out = 0; /* nothing is multiplexed */
	if (!p || (p->made && !u) || unit >= d->n_units)
		return error_set(err, RC_INVALID, "dispatch %u was not counted", unit);
	if (n_room < p->n_samples) {
		*n_out = p->n_samples;
		return error_set(err, RC_NO_SPACE, "%u samples do not fit into %u", p->n_samples,
				 n_room);
	}
	rc = p->made ? place_values(d, p, u, err) : 0;
	if (rc)
		return rc;
	memcpy(samples_out, p->blank, p->n_samples * sizeof(*samples_out));
	for (uint32_t i = 0; i < p->n_wanted; i++)
		*n_out += read_wanted(d, p, &p->wanted[i], samples_out + *n_out);
	return 0;
}

/* ---- times ---- */

bool rocm_device_last(struct rocm_times_at *at_out)
{
	struct rocm_pass_units *units;
	bool has = rocm_dispatch_last(&units, &at_out->unit);

	at_out->units = units;
	return has;
}

bool rocm_device_times(const struct rocm_times_at *at, uint64_t *begin_ns_out, uint64_t *end_ns_out)
{
	const struct rocm_unit *u = at->units ? rocm_dispatch_unit(at->units, at->unit) : NULL;

	if (!u || !u->got || !u->end_ns)
		return false;
	*begin_ns_out = u->begin_ns;
	*end_ns_out = u->end_ns;
	return true;
}

const struct source source_rocm = {
	.name = "rocm",
	.size = sizeof(source_rocm),
	.capabilities = SOURCE_OVERLAP | SOURCE_SERIALISES,
	.device_open = device_open,
	.pass_begin = pass_begin,
	.unit_begin = unit_begin,
	.unit_end = unit_end,
	.pass_end = pass_end,
	.read = read_unit,
	.room = room,
	.pass_abort = pass_abort,
	.series = series,
	.device_close = device_close,
};
