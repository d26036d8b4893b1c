/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of the tests' device, its plan, and what becomes of the engine's records. */
#include "../test.h"
#include "base/hash.h"
#include "fake.h"
#include "fake_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* Counter 0 is the work done, in every pass; counter k belongs to pass k. */

void fake_unit_begins(struct fake *f, uint32_t queue, uint32_t unit)
{
	(void)queue;
	for (size_t i = 0; i < f->units.n; i++)
		f->overlap += i != unit && f->units.items[i].start && !f->units.items[i].ended;
	f->units.items[unit].start = queue + 1;
}

void fake_unit_ends(struct fake *f, uint32_t queue, uint32_t unit)
{
	(void)queue;
	f->units.items[unit].ended = true;
}

void fake_unit_works(struct fake *f, uint32_t queue, uint64_t work)
{
	(void)queue;
	for (size_t i = 0; f->in_pass && i < f->units.n; i++)
		if (f->units.items[i].start && !f->units.items[i].ended)
			f->units.items[i].work += work;
}

static int device_open(void **device_out, const struct plan *plan, const char *runtime,
		       void *native, uint32_t device, struct error *err)
{
	(void)plan;
	(void)device;
	(void)err;
	assert_string_equal(runtime, "fake");
	*device_out = native;
	return 0;
}

static int pass_begin(void *device, uint32_t pass, uint32_t n_units, struct error *err)
{
	struct fake *f = device;
	struct fake_unit zero = {0};
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = fake_fails(f, FAKE_PASS_BEGIN, err);
	if (!rc) {
		assert_false(f->in_pass);
		f->in_pass = true;
		f->pass = pass;
		f->n_begun = 0;
		vec_clear(&f->units);
		for (uint32_t i = 0; i < n_units; i++)
			assert_true(vec_push(&f->units, zero));
		assert_true(vec_push(&f->starts, fake_hash(f)));
	}
	pthread_mutex_unlock(&f->lock);
	return rc;
}

static int unit(struct fake *f, const struct source_unit *u, enum fake_call call,
		enum fake_command_kind kind, struct error *err)
{
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = fake_fails(f, call, err);
	if (!rc) {
		assert_true(f->in_pass);
		assert_true(u->index < f->units.n);
		if (kind == COMMAND_UNIT_BEGIN)
			assert_int_equal(u->index, f->n_begun++);
		if (!(f->source.capabilities & SOURCE_NEEDS_DRAIN)) {
			fake_push(f, (uint32_t)u->queue,
				  (struct fake_command){.kind = kind, .unit = u->index});
		} else if (kind == COMMAND_UNIT_BEGIN) {
			for (int q = 0; q < FAKE_QUEUES; q++)
				assert_int_equal(f->queues[q].n, 0);
			fake_unit_begins(f, (uint32_t)u->queue, u->index);
		} else {
			for (int q = 0; q < FAKE_QUEUES; q++)
				assert_int_equal(f->queues[q].n, 0);
			fake_unit_ends(f, (uint32_t)u->queue, u->index);
		}
	}
	pthread_mutex_unlock(&f->lock);
	return rc;
}

static int unit_begin(void *device, const struct source_unit *u, struct error *err)
{
	return unit(device, u, FAKE_UNIT_BEGIN, COMMAND_UNIT_BEGIN, err);
}

static int unit_end(void *device, const struct source_unit *u, struct error *err)
{
	return unit(device, u, FAKE_UNIT_END, COMMAND_UNIT_END, err);
}

static int pass_end(void *device, struct error *err)
{
	struct fake *f = device;
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = fake_fails(f, FAKE_PASS_END, err);
	assert_true(f->in_pass);
	if (!rc)
		f->in_pass = false;
	pthread_mutex_unlock(&f->lock);
	return rc;
}

static int read_samples(void *device, uint32_t index, struct spool_sample *samples_out,
			uint32_t room, uint32_t *n_out, uint64_t *enabled_ns_out,
			uint64_t *running_ns_out, struct error *err)
{
	struct fake *f = device;
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = fake_fails(f, FAKE_READ, err);
	if (!rc) {
		assert_true(room >= 2 && index < f->units.n);
		assert_true(f->units.items[index].ended);
		samples_out[0] = (struct spool_sample){.instance = SPOOL_INSTANCE_ALL,
						       .value.u64 = f->units.items[index].work};
		samples_out[1] = (struct spool_sample){
			.counter = f->pass, .instance = SPOOL_INSTANCE_ALL, .value.u64 = f->pass};
		*n_out = 2;
		*enabled_ns_out = *running_ns_out = 0;
	}
	pthread_mutex_unlock(&f->lock);
	return rc;
}

static uint32_t room(void *device)
{
	(void)device;
	return 2;
}

static void drop_units(struct fake *f)
{
	for (int q = 0; q < FAKE_QUEUES; q++) {
		size_t to = 0;

		for (size_t i = 0; i < f->queues[q].n; i++) {
			struct fake_command *c = f->queues[q].items[i];

			if (c->kind == COMMAND_UNIT_BEGIN || c->kind == COMMAND_UNIT_END)
				free(c);
			else
				f->queues[q].items[to++] = c;
		}
		f->queues[q].n = to;
	}
}

static void pass_abort(void *device)
{
	struct fake *f = device;

	pthread_mutex_lock(&f->lock);
	f->in_pass = false;
	drop_units(f);
	vec_clear(&f->units);
	pthread_mutex_unlock(&f->lock);
}

static void device_close(void *device)
{
	struct fake *f = device;

	assert_false(f->in_pass);
}

const struct source fake_source = {
	.name = "fake",
	.size = sizeof(struct source),
	.device_open = device_open,
	.pass_begin = pass_begin,
	.unit_begin = unit_begin,
	.unit_end = unit_end,
	.pass_end = pass_end,
	.read = read_samples,
	.room = room,
	.pass_abort = pass_abort,
	.device_close = device_close,
};

/* ---- records ---- */

static char *text_of(const void *bytes, size_t n)
{
	char *text = calloc(1, n + 1);

	assert_non_null(text);
	if (n)
		memcpy(text, bytes, n);
	return text;
}

static void take_kernel(struct fake *f, uint32_t id, char *name)
{
	assert_in_range(id, 1, 100);
	while (f->names.n < id)
		assert_true(vec_push(&f->names, NULL));
	assert_null(f->names.items[id - 1]); /* said once */
	f->names.items[id - 1] = name;
}

int fake_append_record(void *data, enum spool_type type, const void *a, size_t na, const void *b,
		       size_t nb, struct error *err)
{
	struct fake *f = data;
	struct fake_record *last;
	struct fake_record record = {0};
	const struct spool_samples *head = a;
	uint32_t pass = 0;
	int rc = fake_fails(f, FAKE_APPEND, err);

	if (rc)
		return rc;
	switch ((int)type) {
	case SPOOL_KERNEL:
		take_kernel(f, ((const struct spool_kernel *)a)->kernel, text_of(b, nb));
		break;
	case SPOOL_DISPATCH:
		assert_int_equal(na, sizeof(record.dispatch));
		memcpy(&record.dispatch, a, na);
		assert_in_range(record.dispatch.kernel, 1, f->names.n);
		assert_non_null(f->names.items[record.dispatch.kernel - 1]);
		assert_true(vec_push(&f->records, record));
		break;
	case SPOOL_SAMPLES:
		last = &f->records.items[f->records.n - 1];
		assert_int_equal(last->dispatch.dispatch, head->dispatch);
		assert_int_equal(last->dispatch.pass, head->pass);
		assert_int_equal(head->n, 2);
		last->work = ((const struct spool_sample *)b)[0].value.u64;
		last->counted = (uint32_t)((const struct spool_sample *)b)[1].value.u64;
		assert_non_null(plan_counted(&f->plan, last->counted, &pass));
		assert_int_equal(pass, head->pass);
		last->has_samples = true;
		break;
	case SPOOL_WINDOW:
		assert_true(vec_push(&f->windows, *(const struct spool_window *)a));
		assert_true(vec_push(&f->ends, text_of(b, nb)));
		break;
	case SPOOL_DECLINE:
		assert_true(vec_push(&f->declines, *(const struct spool_decline *)a));
		assert_true(vec_push(&f->reasons, text_of(b, nb)));
		break;
	case SPOOL_LEFT:
		assert_true(vec_push(&f->left, *(const struct spool_left *)a));
		break;
	case SPOOL_NOTE:
		assert_true(vec_push(&f->notes, text_of(b, nb)));
		break;
	default:
		fail_msg("a record of type %d", (int)type);
	}
	return 0;
}

uint64_t fake_declined(const struct fake *f, const char *reason, int instead)
{
	uint64_t n = 0;

	for (size_t i = 0; i < f->declines.n; i++)
		if ((instead < 0 || f->declines.items[i].instead == (uint32_t)instead) &&
		    strstr(f->reasons.items[i], reason))
			n += f->declines.items[i].count;
	return n;
}

bool fake_note(const struct fake *f, const char *part)
{
	for (size_t i = 0; i < f->notes.n; i++)
		if (strstr(f->notes.items[i], part))
			return true;
	return false;
}

uint64_t fake_counted(const struct fake *f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < f->records.n; i++)
		n += f->records.items[i].has_samples && f->records.items[i].dispatch.pass == 1 &&
		     f->records.items[i].dispatch.attempt == 1;
	return n;
}

uint64_t fake_live_first(const struct fake *f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < f->records.n; i++)
		n += f->records.items[i].has_samples && f->records.items[i].dispatch.pass == 1 &&
		     !(f->records.items[i].dispatch.flags & SPOOL_DISPATCH_REPLAYED);
	return n;
}

void fake_check_records(const struct fake *f, uint32_t passes, uint32_t repeat)
{
	for (size_t i = 0; i < f->records.n; i++) {
		const struct fake_record *r = &f->records.items[i];
		uint32_t n = 0;

		if (!r->has_samples || !(r->dispatch.flags & SPOOL_DISPATCH_REPLAYED))
			continue;
		for (size_t k = 0; k < f->records.n; k++) {
			const struct fake_record *other = &f->records.items[k];

			if (other->dispatch.dispatch != r->dispatch.dispatch || !other->has_samples)
				continue;
			n++;
			assert_int_equal(other->work, r->work);
			assert_int_equal(other->dispatch.kernel, r->dispatch.kernel);
		}
		assert_int_equal(n, passes * repeat);
	}
}

/* ---- life ---- */

void fake_init(struct fake *f, uint32_t passes)
{
	static struct plan_counter counters[FAKE_PASSES + 1];
	static uint32_t indices[FAKE_PASSES][2];
	static struct plan_pass all[FAKE_PASSES];
	static char names[FAKE_PASSES + 1][16];

	memset(f, 0, sizeof(*f));
	f->runtime = fake_runtime;
	f->source = fake_source;
	pthread_mutex_init(&f->lock, NULL);
	for (uint32_t i = 0; i <= FAKE_PASSES; i++) {
		snprintf(names[i], sizeof(names[i]), "c%u", i);
		counters[i] = (struct plan_counter){names[i], "fake", "", "count", 0, ""};
	}
	for (uint32_t i = 0; i < FAKE_PASSES; i++) {
		indices[i][1] = i + 1;
		all[i] = (struct plan_pass){2, indices[i], "", ""};
	}
	f->plan.n_counters = passes + 1;
	f->plan.counters = counters;
	f->plan.n_passes = passes;
	f->plan.passes = all;
}

/* ---- what the engine tells about its own work ---- */

static __thread int own;         /* in this thread */
static _Atomic int begun, ended; /* in all */

static void tell(enum replay_own what)
{
	if (what == REPLAY_OWN_BEGINS) {
		own++;
		begun++;
	} else if (what == REPLAY_OWN_ENDS) {
		assert_true(own > 0);
		own--;
		ended++;
	}
}

bool fake_is_own(void)
{
	return own > 0;
}

void fake_start(struct fake *f, const struct replay_options *options)
{
	struct replay_options o = *options;
	struct error err = {0};

	o.own = tell;
	begun = ended = 0;
	assert_int_equal(replay_open(&f->replay, &o, &f->plan, fake_append_record, f, &err), 0);
	assert_int_equal(replay_device_add(f->replay, &f->runtime, f, &f->source, f, 0, NULL,
					   &f->device, &err),
			 0);
}

void fake_stop(struct fake *f)
{
	bool hung = fake_note(f, "could not be put back");

	replay_close(f->replay);
	f->replay = NULL;
	assert_int_equal(begun, ended);
	hung |= fake_note(f, "could not be put back");
	if (!hung && fake_progress(f)) {
		assert_int_equal(f->stores, 0);
		assert_int_equal(f->recorded, 0);
	}
}

static void free_texts(char **items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(items[i]);
}

void fake_release(struct fake *f)
{
	for (int i = 0; i < FAKE_BUFFERS; i++)
		free(f->buffers[i].bytes);
	for (int q = 0; q < FAKE_QUEUES; q++) {
		for (size_t i = 0; i < f->queues[q].n; i++)
			free(f->queues[q].items[i]);
		vec_release(&f->queues[q]);
	}
	free_texts(f->reasons.items, f->reasons.n);
	free_texts(f->ends.items, f->ends.n);
	free_texts(f->notes.items, f->notes.n);
	free_texts(f->names.items, f->names.n);
	vec_release(&f->reasons);
	vec_release(&f->ends);
	vec_release(&f->notes);
	vec_release(&f->names);
	vec_release(&f->units);
	vec_release(&f->starts);
	vec_release(&f->records);
	vec_release(&f->windows);
	vec_release(&f->declines);
	vec_release(&f->left);
	pthread_mutex_destroy(&f->lock);
}
