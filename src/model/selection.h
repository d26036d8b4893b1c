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

/* Adds the comma-separated names of -m, -e or --set. An unknown name is an error with the nearest
 * known name. Several calls add up; the order of names does not matter for the result. */
int selection_add_metrics(struct selection *s, const struct catalog *c, const char *list,
			  struct error *err);
int selection_add_counters(struct selection *s, const struct catalog *c, const char *list,
			   struct error *err);
int selection_add_set(struct selection *s, const struct catalog *c, const char *name,
		      struct error *err);
void selection_release(struct selection *s);

#endif
