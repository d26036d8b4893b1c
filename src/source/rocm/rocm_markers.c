/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocTX has two kinds of ranges: a stack in every thread (push, pop) and ranges with an id that any
 * thread ends (start, stop). The engine wants the name at both ends, so it is kept meanwhile. A
 * begin is told when the program's call is over, an end before it is made.
 */
#include "source/rocm/rocm_markers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH   32
#define OPEN    64
#define LONGEST 512

static _Thread_local struct {
	unsigned depth; /* may be more than are kept */
	char *names[DEPTH];
} stack __attribute__((tls_model("initial-exec")));

static struct {
	pthread_mutex_t lock;
	struct {
		uint64_t id;
		char *name; /* NULL: free */
	} items[OPEN];
} started = {.lock = PTHREAD_MUTEX_INITIALIZER};

static char *copy(const char *message)
{
	return message ? strndup(message, LONGEST) : NULL;
}

static char *keep(uint64_t id, char *name)
{
	char *kept = NULL;

	pthread_mutex_lock(&started.lock);
	for (unsigned i = 0; i < OPEN && !kept; i++)
		if (!started.items[i].name) {
			started.items[i].id = id;
			started.items[i].name = kept = name;
		}
	pthread_mutex_unlock(&started.lock);
	return kept;
}

static char *take(uint64_t id)
{
	char *name = NULL;

	pthread_mutex_lock(&started.lock);
	for (unsigned i = 0; i < OPEN && !name; i++)
		if (started.items[i].name && started.items[i].id == id) {
			name = started.items[i].name;
			started.items[i].name = NULL;
		}
	pthread_mutex_unlock(&started.lock);
	return name;
}

void rocm_markers_record(const struct rocp_tracing_record *record,
			 void (*range)(void *data, const char *name, bool begins), void *data)
{
	const struct rocp_marker_data *m = record->payload;
	bool enter = record->phase == ROCP_PHASE_ENTER;
	char *name = NULL;

	if (!m || m->size < sizeof(*m))
		return;
	if (record->operation == ROCP_MARKER_RANGE_PUSH && !enter) {
		if (stack.depth < DEPTH && (name = copy(m->args.message)))
			range(data, name, true);
		if (stack.depth < DEPTH)
			stack.names[stack.depth] = name;
		stack.depth++;
	} else if (record->operation == ROCP_MARKER_RANGE_POP && enter && stack.depth) {
		if (--stack.depth < DEPTH && (name = stack.names[stack.depth])) {
			range(data, name, false);
			free(name);
		}
	} else if (record->operation == ROCP_MARKER_RANGE_START && !enter) {
		if ((name = copy(m->args.message)) && keep(m->result.range_id, name))
			range(data, name, true);
		else
			free(name);
	} else if (record->operation == ROCP_MARKER_RANGE_STOP && enter &&
		   (name = take(m->args.range_id))) {
		range(data, name, false);
		free(name);
	}
}
