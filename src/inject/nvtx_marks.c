/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks by NVTX: ranges of devices, as those of include/retally.h are (--replay range). The
 * program's copy of NVTX (version 3, headers alone) loads what NVTX_INJECTION64_PATH names at its
 * first call and lets it fill in its functions; what we do not fill in stays empty and costs the
 * program nothing.
 *
 * Own declarations; the test "nvtx abi" compares them with the headers where a CUDA toolkit is
 * installed. Names in wide characters are not read: "(wide)".
 */
#include "inject/nvtx_abi.h"
#include "inject/replay_session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY   __attribute__((visibility("default")))
#define DEPTH   64
#define STARTED 64 /* ranges of nvtxRangeStart that are open at a time; more are not marked */
#define NAME    128

/* A pop does not say of what. One for each thread that pushes, freed with it; the room for
 * thread-local variables of a library that is loaded late is small. */
struct pushed {
	unsigned depth;
	char names[DEPTH][NAME];
};
static pthread_key_t key;
static bool has_key;

static struct {
	_Atomic uint64_t next;
	_Atomic uint64_t ids[STARTED]; /* 0: free; UINT64_MAX: being filled */
	char names[STARTED][NAME];
} started = {.next = 1};

/* A registered string is a pointer to this. */
struct nvtx_string {
	char name[NAME];
};

static const char *name_of(const struct nvtx_attributes *a)
{
	if (!a || a->size < sizeof(*a) || !a->message)
		return "(unnamed)";
	if (a->message_type == NVTX_MESSAGE_ASCII)
		return a->message;
	if (a->message_type == NVTX_MESSAGE_REGISTERED)
		return ((const struct nvtx_string *)a->message)->name;
	return "(wide)";
}

static int push(const char *name)
{
	struct pushed *p = pthread_getspecific(key);
	unsigned depth;

	if (!p) {
		p = malloc(sizeof(*p));
		if (!p || pthread_setspecific(key, p)) {
			free(p);
			return -1;
		}
		p->depth = 0;
	}
	depth = p->depth++;
	if (depth < DEPTH) {
		snprintf(p->names[depth], NAME, "%s", name ? name : "(unnamed)");
		replay_session_mark(p->names[depth], true);
	}
	return (int)depth;
}

static int pop(void)
{
	struct pushed *p = pthread_getspecific(key);

	if (!p || !p->depth)
		return -1;
	p->depth--;
	if (p->depth < DEPTH)
		replay_session_mark(p->names[p->depth], false);
	return (int)p->depth;
}

static uint64_t start(const char *name)
{
	uint64_t id = atomic_fetch_add(&started.next, 1);

	for (unsigned i = 0; i < STARTED; i++) {
		uint64_t expected = 0;

		if (!atomic_compare_exchange_strong(&started.ids[i], &expected, UINT64_MAX))
			continue;
		snprintf(started.names[i], NAME, "%s", name ? name : "(unnamed)");
		replay_session_mark(started.names[i], true);
		atomic_store(&started.ids[i], id);
		break;
	}
	return id;
}

static void end(uint64_t id)
{
	for (unsigned i = 0; id && i < STARTED; i++) {
		uint64_t expected = id;

		if (!atomic_compare_exchange_strong(&started.ids[i], &expected, UINT64_MAX))
			continue;
		replay_session_mark(started.names[i], false);
		atomic_store(&started.ids[i], 0);
		return;
	}
}

/* ---- as NVTX calls them ---- */

static int nvtx_push_ex(const struct nvtx_attributes *a)
{
	return push(name_of(a));
}
static int nvtx_push_wide(const void *name)
{
	(void)name;
	return push("(wide)");
}
static uint64_t nvtx_start_ex(const struct nvtx_attributes *a)
{
	return start(name_of(a));
}
static uint64_t nvtx_start_wide(const void *name)
{
	(void)name;
	return start("(wide)");
}
static int nvtx_domain_push_ex(void *domain, const struct nvtx_attributes *a)
{
	(void)domain;
	return push(name_of(a));
}
static int nvtx_domain_pop(void *domain)
{
	(void)domain;
	return pop();
}
static uint64_t nvtx_domain_start_ex(void *domain, const struct nvtx_attributes *a)
{
	(void)domain;
	return start(name_of(a));
}
static void nvtx_domain_end(void *domain, uint64_t id)
{
	(void)domain;
	end(id);
}
/* Never freed: the program keeps it as long as it likes. */
static void *nvtx_register_string(void *domain, const char *name)
{
	struct nvtx_string *s = malloc(sizeof(*s));

	(void)domain;
	if (s)
		snprintf(s->name, sizeof(s->name), "%s", name ? name : "(unnamed)");
	return s;
}

struct entry {
	unsigned module, id;
	nvtx_function *function;
};

static void fill(const struct nvtx_callbacks *callbacks)
{
#define F(x) ((nvtx_function *)(x))
	static const struct entry entries[] = {
		{NVTX_CORE, NVTX_RANGE_START_EX, F(nvtx_start_ex)},
		{NVTX_CORE, NVTX_RANGE_START_A, F(start)},
		{NVTX_CORE, NVTX_RANGE_START_W, F(nvtx_start_wide)},
		{NVTX_CORE, NVTX_RANGE_END, F(end)},
		{NVTX_CORE, NVTX_RANGE_PUSH_EX, F(nvtx_push_ex)},
		{NVTX_CORE, NVTX_RANGE_PUSH_A, F(push)},
		{NVTX_CORE, NVTX_RANGE_PUSH_W, F(nvtx_push_wide)},
		{NVTX_CORE, NVTX_RANGE_POP, F(pop)},
		{NVTX_CORE2, NVTX_DOMAIN_RANGE_START_EX, F(nvtx_domain_start_ex)},
		{NVTX_CORE2, NVTX_DOMAIN_RANGE_END, F(nvtx_domain_end)},
		{NVTX_CORE2, NVTX_DOMAIN_RANGE_PUSH_EX, F(nvtx_domain_push_ex)},
		{NVTX_CORE2, NVTX_DOMAIN_RANGE_POP, F(nvtx_domain_pop)},
		{NVTX_CORE2, NVTX_DOMAIN_REGISTER_STRING_A, F(nvtx_register_string)},
	};
#undef F

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		const struct entry *e = &entries[i];
		nvtx_function ***table = NULL;
		unsigned n = 0;

		if (callbacks->module_table((int)e->module, &table, &n) && table && e->id < n &&
		    table[e->id])
			*table[e->id] = e->function;
	}
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
	has_key = !pthread_key_create(&key, free);
}

int InitializeInjectionNvtx2(nvtx_export_table *get);

/* By NVTX at its first call. 0 is a failure: then NVTX does nothing, and the program goes on. */
ENTRY int InitializeInjectionNvtx2(nvtx_export_table *get)
{
	const struct nvtx_callbacks *callbacks = get ? get(NVTX_TABLE_CALLBACKS) : NULL;

	if (!callbacks || callbacks->size < sizeof(*callbacks) || !callbacks->module_table ||
	    !replay_session_engine())
		return 0;
	/* Several libraries of a program may each have an NVTX of their own. */
	pthread_once(&once, make_key);
	if (!has_key)
		return 0;
	fill(callbacks);
	return 1;
}
