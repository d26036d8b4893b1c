/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small engine to test the OpenCL layer alone: the functions of replay/replay.h with nothing but
 * saving, replaying N times and restoring, without counters. Linked with the layer into
 * libopencl_test.so, which stands in OPENCL_LAYERS. From the environment:
 *
 *   OCLT_PASSES=N    extra executions of every window (default 1; 0: only intercept)
 *   OCLT_WINDOW=W    most dispatches of a window (default 1)
 *   OCLT_RESTORE=0   nothing is ever put back: the control, which must break programs
 *   OCLT_COMMANDS=1  memory is moved by commands, as on devices that cannot be reached directly
 *   OCLT_LOG=FILE    appended at the end: what happened, one line each
 *
 * After each pass memory is compared with what the program's own run left; "varying" counts those
 * that differ, in which case, and after the last pass, that is put back.
 */
#include "replay/replay.h"
#include "runtime/opencl/opencl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct replay_memory {
	struct runtime_memory m;
	struct replay_memory *next;
	void *start, *end;
};
struct replay_device {
	const struct runtime *runtime;
	void *runtime_device;
	pthread_mutex_t lock;
	struct replay_memory *memories;
	void *ops[4096];
	unsigned n_ops, n_dispatches;
	bool open, taken, nested, dropped;
};
struct reason {
	char text[160];
	unsigned long n;
};
struct replay {
	unsigned passes, window;
	bool restore;
	unsigned long dispatches, replayed, windows, varying, failed, transfers, boundaries;
	struct reason declined[64], ends[64];
	struct replay_device devices[16];
	unsigned n_devices;
};
static struct replay engine;
static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER;

static void count(struct reason *list, const char *text)
{
	pthread_mutex_lock(&counts);
	for (int i = 0; i < 64; i++)
		if (!list[i].n || !strcmp(list[i].text, text)) {
			snprintf(list[i].text, sizeof(list[i].text), "%s", text);
			list[i].n++;
			break;
		}
	pthread_mutex_unlock(&counts);
}

int replay_device_add(struct replay *r, const struct runtime *runtime, void *runtime_device,
		      const struct source *source, void *native, uint32_t number, const char *why,
		      struct replay_device **device_out, struct error *err)
{
	struct replay_device *d = &r->devices[r->n_devices++];

	(void)source, (void)native, (void)number, (void)why, (void)err;
	d->runtime = runtime;
	d->runtime_device = runtime_device;
	pthread_mutex_init(&d->lock, NULL);
	*device_out = d;
	return 0;
}

struct replay_memory *replay_memory_add(struct replay_device *d, const struct runtime_memory *m)
{
	struct replay_memory *r = calloc(1, sizeof(*r));

	r->m = *m;
	pthread_mutex_lock(&d->lock);
	r->next = d->memories;
	d->memories = r;
	pthread_mutex_unlock(&d->lock);
	return r;
}

void replay_memory_remove(struct replay_device *d, struct replay_memory *m)
{
	struct replay_memory **at;

	pthread_mutex_lock(&d->lock);
	for (at = &d->memories; *at; at = &(*at)->next)
		if (*at == m) {
			*at = m->next;
			break;
		}
	pthread_mutex_unlock(&d->lock);
	free(m);
}

const struct runtime_memory *replay_memory_of(const struct replay_memory *m)
{
	return &m->m;
}

static int put_back(struct replay_device *d, bool start, struct error *err)
{
	for (struct replay_memory *m = d->memories; m; m = m->next) {
		int rc = m->start ? d->runtime->restore(d->runtime_device, &m->m, 0, m->m.size,
							start ? m->start : m->end, 0, err)
				  : 0;

		if (rc)
			return rc;
	}
	return 0;
}

static int pass(struct replay_device *d, bool *differs, struct error *err)
{
	int rc = engine.restore ? put_back(d, true, err) : 0;

	for (unsigned i = 0; i < d->n_ops && !rc; i++)
		rc = d->runtime->launch(d->runtime_device, d->ops[i], err);
	if (!rc)
		rc = d->runtime->drain(d->runtime_device, 10000000000ull, err);
	for (struct replay_memory *m = d->memories; m && !rc; m = m->next) {
		uint64_t bits[1024] = {0}, chunk = m->m.size / 60000 + 64;

		if (!m->start)
			continue;
		rc = d->runtime->compare(d->runtime_device, &m->m, 0, m->m.size, m->end, 0, chunk,
					 bits, err);
		for (int i = 0; i < 1024; i++)
			if (bits[i])
				*differs = true;
	}
	return rc;
}

static void finish_window(struct replay_device *d, const char *why)
{
	struct error err = {0};
	bool differs = false;
	int rc;

	if (!d->open)
		return;
	count(engine.ends, why);
	rc = d->runtime->drain(d->runtime_device, 10000000000ull, &err);
	if (!rc && d->dropped)
		rc = error_set(&err, RC_BUSY, "a command that was not recorded touched its memory");
	d->dropped = false;
	for (struct replay_memory *m = d->memories; m && !rc; m = m->next) {
		uint64_t hash;

		if (!m->start)
			continue;
		rc = d->runtime->store_get(d->runtime_device, m->m.size, RUNTIME_STORE_HOST,
					   &m->end, &err);
		if (!rc)
			rc = d->runtime->save(d->runtime_device, &m->m, 0, m->m.size, m->end, 0,
					      NULL, &err);
		if (!rc)
			rc = d->runtime->hash(d->runtime_device, &m->m, &hash, &err);
	}
	for (unsigned p = 0; p < engine.passes && !rc; p++)
		rc = pass(d, &differs, &err);
	if (!rc && engine.restore)
		rc = put_back(d, false, &err);
	if (rc) {
		engine.failed += rc != RC_BUSY;
		for (unsigned i = 0; i < d->n_dispatches; i++)
			count(engine.declined, err.message);
	} else {
		engine.replayed += d->n_dispatches;
	}
	engine.varying += differs;
	engine.windows++;
	for (unsigned i = 0; i < d->n_ops; i++)
		d->runtime->op_release(d->runtime_device, d->ops[i]);
	for (struct replay_memory *m = d->memories; m; m = m->next) {
		if (m->start)
			d->runtime->store_put(d->runtime_device, m->start);
		if (m->end)
			d->runtime->store_put(d->runtime_device, m->end);
		m->start = m->end = NULL;
	}
	d->n_ops = d->n_dispatches = 0;
	d->open = false;
}

static const char *refuse(const struct runtime_op *op)
{
	if (op->why)
		return op->why;
	if (!op->recorded)
		return "not recorded";
	for (uint32_t i = 0; i < op->n_reach; i++)
		if (op->reach[i].memory->m.flags & RUNTIME_MEMORY_UNSAVABLE)
			return op->reach[i].memory->m.why;
	return NULL;
}

enum replay_verdict replay_before(struct replay_device *d, const struct runtime_op *op)
{
	const char *why = refuse(op);
	struct error err = {0};
	int rc = 0;

	if (op->flags & RUNTIME_OP_NO_WAIT_BEFORE) {
		d->nested = pthread_mutex_trylock(&d->lock) != 0;
		for (uint32_t i = 0; i < op->n_reach && !d->nested; i++)
			if (op->reach[i].memory->start)
				d->dropped = true;
		if (op->kind == RUNTIME_DISPATCH) {
			__atomic_add_fetch(&engine.dispatches, 1, __ATOMIC_RELAXED);
			count(engine.declined, why ? why : "may not wait");
		}
		return REPLAY_LIVE;
	}
	pthread_mutex_lock(&d->lock);
	d->nested = false;
	engine.dispatches += op->kind == RUNTIME_DISPATCH;
	engine.transfers += op->kind == RUNTIME_TRANSFER;
	if (!engine.passes)
		return REPLAY_LIVE;
	if (!why && op->kind == RUNTIME_DISPATCH && d->n_dispatches >= engine.window)
		finish_window(d, "full");
	if (!why && op->kind == RUNTIME_TRANSFER && !d->open)
		return REPLAY_LIVE;
	for (uint32_t i = 0; i < op->n_reach && !why; i++) {
		struct replay_memory *m = op->reach[i].memory;

		if (m->start)
			continue;
		rc = d->runtime->store_get(d->runtime_device, m->m.size, RUNTIME_STORE_HOST,
					   &m->start, &err);
		if (!rc)
			rc = d->runtime->save(d->runtime_device, &m->m, 0, m->m.size, m->start, 0,
					      op, &err);
		if (rc)
			why = err.message;
		d->open = true;
	}
	if (why) {
		if (op->kind == RUNTIME_DISPATCH)
			count(engine.declined, why);
		finish_window(d, "declined");
		return REPLAY_LIVE;
	}
	d->ops[d->n_ops++] = op->recorded;
	d->n_dispatches += op->kind == RUNTIME_DISPATCH;
	d->open = d->taken = true;
	return REPLAY_RECORDED;
}

void replay_after(struct replay_device *d, const struct runtime_op *op, bool launched)
{
	if (op->flags & RUNTIME_OP_NO_WAIT_BEFORE) {
		if (!d->nested)
			pthread_mutex_unlock(&d->lock);
		return;
	}
	if (!launched && d->taken) {
		d->runtime->op_release(d->runtime_device, d->ops[--d->n_ops]);
		d->n_dispatches -= op->kind == RUNTIME_DISPATCH;
	}
	d->taken = false;
	pthread_mutex_unlock(&d->lock);
}

void replay_boundary(struct replay_device *d, const char *why)
{
	pthread_mutex_lock(&d->lock);
	engine.boundaries++;
	finish_window(d, why);
	pthread_mutex_unlock(&d->lock);
}

static void report(void)
{
	const char *path = getenv("OCLT_LOG");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "dispatches %lu replayed %lu windows %lu transfers %lu varying %lu failed %lu\n",
		engine.dispatches, engine.replayed, engine.windows, engine.transfers,
		engine.varying, engine.failed);
	for (int i = 0; i < 64 && engine.declined[i].n; i++)
		fprintf(f, "declined %lu: %s\n", engine.declined[i].n, engine.declined[i].text);
	for (int i = 0; i < 64 && engine.ends[i].n; i++)
		fprintf(f, "ended %lu: %s\n", engine.ends[i].n, engine.ends[i].text);
	fclose(f);
}

static unsigned number(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void begin(void)
{
	struct runtime_opencl_options options = {.by_commands = number("OCLT_COMMANDS", 0) != 0};

	engine.passes = number("OCLT_PASSES", 1);
	engine.window = number("OCLT_WINDOW", 1);
	engine.restore = number("OCLT_RESTORE", 1) != 0;
	atexit(report);
	runtime_opencl_attach(&engine, &options, NULL);
}
