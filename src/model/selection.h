/* SPDX-License-Identifier: Apache-2.0 */
/* What the user wants collected: metrics, counters and sets, resolved against a catalogue. */
#ifndef RETALLY_MODEL_SELECTION_H
#define RETALLY_MODEL_SELECTION_H

#include "model/catalog.h"

struct selection_dropped {
	const char *name;   /* as written; lives in the catalogue's arena */
	const char *reason; /* "unknown metric on gfx90a; did you mean 'ipc'?" */
};

struct selection {
	VEC(uint32_t) metrics;  /* indices into the catalogue, ascending, no duplicates */
	VEC(uint32_t) counters; /* asked for by name, beside those that metrics need */
	VEC(struct selection_dropped) dropped;
};

/* Adds the comma-separated names of -m, -e or --set; -m takes names, ids and globs over both
 * ("2.*", "tcc_*"), -e names, X_sum, X[i] and globs. An unknown name is RC_NOT_FOUND with the
 * nearest known name; a metric that is known but not possible here goes to dropped. Several calls
 * add up; the order of names does not matter for the result. */
int selection_add_metrics(struct selection *s, const struct catalog *c, const char *list,
			  struct error *err);
/* The counters must be in the catalogue (a source adds what it resolves by name before); forms of a
 * known counter (X_sum, X[i]) are added to it. */
int selection_add_counters(struct selection *s, struct catalog *c, const char *list,
			   struct error *err);
int selection_add_set(struct selection *s, const struct catalog *c, const char *name,
		      struct error *err);
/* Walks a comma-separated list: false at its end, otherwise the next name without surrounding
 * spaces and backquotes (may be empty). Commas within pmu/event,a=b/ and f(int, int) do not
 * separate. */
bool selection_next_name(const char **list, const char **name_out, size_t *length_out);
/* Whether a name, id or glob means the metric of that name and id. */
bool selection_name_matches(const char *pattern, const char *name, const char *id);
void selection_release(struct selection *s);

#endif
