/* SPDX-License-Identifier: Apache-2.0 */
/* Names of regions, and what is written about them. */
#include "runtime/region/region_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES 20000 /* of 0.1 ms */

bool region_take_lock(void)
{
	struct timespec pause = {0, 100000};
	int me = (int)syscall(SYS_gettid), saved = errno;

	for (int i = 0; i < LOCK_TRIES; i++) {
		int nobody = 0;

		if (__atomic_compare_exchange_n(&region.lock, &nobody, me, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			errno = saved;
			return true;
		}
		if (nobody == me) /* we are in a signal handler over our own work */
			break;
		nanosleep(&pause, NULL);
	}
	errno = saved;
	return false;
}

void region_give_lock(void)
{
	__atomic_store_n(&region.lock, 0, __ATOMIC_RELEASE);
}

static uint32_t hash_name(const char *name, size_t n)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	return h;
}

static uint32_t free_id(uint32_t hash)
{
	uint32_t id = REGION_FIRST_KERNEL | (hash & (REGION_FIRST_KERNEL - 1));

	for (uint32_t i = 0; i < region.shared->n_names; i++)
		if (region.shared->names[i].id == id) { /* rare enough to begin again */
			id = REGION_FIRST_KERNEL | ((id + 1) & (REGION_FIRST_KERNEL - 1));
			i = (uint32_t)-1;
		}
	return id;
}

uint32_t region_find_name(const char *name, bool add)
{
	struct region_shared *s = region.shared;
	size_t n = strnlen(name, REGION_NAME_SIZE - 1);
	uint32_t hash = hash_name(name, n), at = hash % REGION_HASH_SIZE;

	for (; s->hash[at]; at = (at + 1) % REGION_HASH_SIZE) {
		const struct region_name *known = &s->names[s->hash[at] - 1];

		if (known->length == n && !memcmp(known->text, name, n))
			return s->hash[at];
	}
	if (!add || s->n_names >= REGION_NAMES_MAX)
		return 0;
	s->names[s->n_names].id = free_id(hash);
	memcpy(s->names[s->n_names].text, name, n);
	s->names[s->n_names].length = (uint32_t)n;
	s->hash[at] = (uint16_t)++s->n_names;
	return s->n_names;
}

static void append(enum spool_type type, const void *a, size_t na, const void *b, size_t nb)
{
	struct error err = {0};

	if (!region.active || !region.used || region.failed || region.in_child)
		return;
	if (region.options.append(region.options.append_data, type, a, na, b, nb, &err))
		region.failed = true; /* who appends has said why */
}

/* A record that names the kernel, once. */
static uint32_t written_kernel(uint32_t kernel)
{
	struct spool_kernel record = {0};

	if (!kernel)
		return 0;
	record.kernel = region.shared->names[kernel - 1].id;
	if (!region.info[kernel - 1].is_written) {
		const struct region_name *name = &region.shared->names[kernel - 1];

		region.info[kernel - 1].is_written = true;
		append(SPOOL_KERNEL, &record, sizeof(record), name->text, name->length);
	}
	return record.kernel;
}

void region_write(const struct region_result *r, const struct spool_sample *samples, uint32_t pass,
		  uint32_t thread, uint32_t flags)
{
	struct spool_dispatch d = {.dispatch = r->ordinal,
				   .unit = SPOOL_UNIT_RANGE,
				   .pass = pass,
				   .queue = thread,
				   .begin_ns = r->begin_ns,
				   .end_ns = r->end_ns,
				   .attempt = 1,
				   .flags = flags};
	struct spool_samples head = {.pass = pass,
				     .n = r->n,
				     .dispatch = r->ordinal,
				     .enabled_ns = r->enabled_ns,
				     .running_ns = r->running_ns};

	if (!region_take_lock())
		return;
	d.kernel = written_kernel(r->kernel);
	append(SPOOL_DISPATCH, &d, sizeof(d), NULL, 0);
	append(SPOOL_SAMPLES, &head, sizeof(head), samples, r->n * sizeof(*samples));
	region_give_lock();
}

void region_write_window(const struct spool_window *w)
{
	static const char why[] = "RETALLY_END";

	if (!region_take_lock())
		return;
	append(SPOOL_WINDOW, w, sizeof(*w), why, sizeof(why) - 1);
	region_give_lock();
}

void region_decline(uint32_t kernel, enum spool_instead instead, const char *reason)
{
	struct region_reason *r = region.reasons;

	if (!region_take_lock())
		return;
	for (uint32_t i = 0; i < region.n_reasons; i++, r++)
		if (r->kernel == kernel && r->instead == (uint32_t)instead &&
		    !strcmp(r->text, reason))
			break;
	if (r == region.reasons + region.n_reasons && region.n_reasons < REGION_REASONS_MAX) {
		region.n_reasons++;
		r->kernel = kernel;
		r->instead = instead;
		snprintf(r->text, sizeof(r->text), "%s", reason);
	}
	if (r < region.reasons + region.n_reasons)
		r->count++;
	region_give_lock();
}

static void note(uint32_t kind, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(uint32_t kind, const char *fmt, ...)
{
	struct spool_note record = {.pass = region.options.pass, .kind = kind};
	char text[REGION_NAME_SIZE + 512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(text))
		n = (int)sizeof(text) - 1;
	if (n > 0)
		append(SPOOL_NOTE, &record, sizeof(record), text, (size_t)n);
}

void region_note(uint32_t kind, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!region_take_lock())
		return;
	note(kind, "%s", text);
	region_give_lock();
}

static void write_declined(void)
{
	for (uint32_t i = 0; i < region.n_reasons; i++) {
		const struct region_reason *r = &region.reasons[i];
		struct spool_decline record = {.count = r->count, .instead = r->instead};

		record.kernel = written_kernel(r->kernel);
		append(SPOOL_DECLINE, &record, sizeof(record), r->text, strlen(r->text));
	}
}

static void write_marks(void)
{
	const struct region_shared *s = region.shared;

	for (uint32_t i = 0; i <= REGION_NAMES_MAX; i++) {
		const char *text = i ? s->names[i - 1].text : "";
		int n = i ? (int)s->names[i - 1].length : 0;

		if (region.stray[i])
			note(SPOOL_NOTE_FINDING,
			     "the end of region '%.*s' came %llu times without its begin in the "
			     "same thread%s",
			     n, text, (unsigned long long)region.stray[i],
			     i ? "" : " (a name that never began)");
		if (region.left[i])
			note(SPOOL_NOTE_FINDING,
			     "region '%.*s' was left %llu times without its end, so these have no "
			     "values",
			     n, text, (unsigned long long)region.left[i]);
	}
	if (region.too_deep)
		note(SPOOL_NOTE_FINDING,
		     "regions were nested deeper than %d, %llu times; the inner ones are not "
		     "counted",
		     REGION_DEPTH_MAX, (unsigned long long)region.too_deep);
	if (region.interrupted)
		note(SPOOL_NOTE_FINDING,
		     "%llu marks in signal handlers interrupted another mark and were ignored",
		     (unsigned long long)region.interrupted);
	if (region.too_many)
		note(SPOOL_NOTE_FINDING,
		     "the program has more than %d names of regions; %llu begins of others are not "
		     "counted",
		     REGION_NAMES_MAX, (unsigned long long)region.too_many);
	if (region.why[0])
		note(SPOOL_NOTE_DECLINED, "%s", region.why);
	region_turns_write(note);
}

void region_write_end(void)
{
	if (!region_take_lock())
		return;
	write_declined();
	write_marks();
	region_give_lock();
}

void region_log(const struct region_result *r, const struct spool_sample *samples)
{
	struct region_shared *s = region.shared;
	size_t bytes = sizeof(*r) + r->n * sizeof(*samples);

	if (bytes > sizeof(s->log) - s->used) {
		s->lost++;
		return;
	}
	memcpy(s->log + s->used, r, sizeof(*r));
	memcpy(s->log + s->used + sizeof(*r), samples, r->n * sizeof(*samples));
	s->used += (uint32_t)bytes;
}
