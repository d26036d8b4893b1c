/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host half of the CUDA source: what NVIDIA's chips can count and how many passes a selection
 * takes, asked of CUPTI's host library; no GPU and no driver needed. A counter here is a CUPTI
 * metric with its suffix ("dram__bytes_read.sum"); which counters share a pass is CUPTI's own
 * knowledge.
 */
#ifndef RETALLY_SOURCE_CUDA_HOST_H
#define RETALLY_SOURCE_CUDA_HOST_H

#include "base/arena.h"
#include "base/error.h"
#include "model/catalog.h"
#include "source/cuda/cuda_api.h"
#include "wire/plan.h"

struct cuda_host {
	struct cuda_api api;
	const char *chip; /* as CUPTI spells it, "GH100" */
};

/* Opens CUPTI and checks the chip. RC_NOT_FOUND without a library; RC_INVALID for an unknown chip,
 * with the known ones. h holds nothing to release: vendor libraries stay open. */
int cuda_host_open(struct cuda_host *h, const char *chip, struct error *err);
/* The chips this library knows, as it orders them; the array is in the arena. */
int cuda_host_chips(struct cuda_api *api, struct arena *arena, const char *const **names_out,
		    size_t *n_out, struct error *err);
/* Passes for these counters together. RC_NOT_FOUND: a name it does not know (not said which);
 * RC_UNSUPPORTED: one that the range profiler cannot collect. */
int cuda_host_passes(const struct cuda_host *h, const char *const *names, size_t n,
		     uint32_t *passes_out, struct error *err);
/* Adds every base counter of the chip (without suffixes) with unit and help, for listing. */
int cuda_host_fill(const struct cuda_host *h, struct catalog *c, struct error *err);

/* The answer to `retally plan` for such a chip. */
struct cuda_plan_counter {
	const char *name;
	uint32_t alone;     /* passes it needs by itself; 0: refused */
	const char *reason; /* when refused, else NULL */
	bool absent;        /* refused because the chip has no such counter */
};
struct cuda_plan {
	uint32_t passes; /* for all that are not refused, together */
	size_t n;
	struct cuda_plan_counter *counters; /* sorted by name; in the arena */
	size_t n_refused;
	size_t n_absent; /* of these */
	/* All that are not refused, in the order in which CUPTI must be told them to need so few
	 * passes; in the arena. */
	const char **order;
	size_t n_order;
};
/* Probes each name on a throw-away object, then all good ones at once, in several orders (CUPTI's
 * own schedule depends on the order; the best one is kept, and the choice is the same for every
 * run). */
int cuda_host_plan(const struct cuda_host *h, struct arena *arena, const char *const *names,
		   size_t n, struct cuda_plan *plan_out, struct error *err);

/* A plan that the device half carries out; what the chip does not have was not wanted of it. With
 * `groups`, every pass stands alone wherever the counters allow that, for --pass and --distribute;
 * counters that need several passes by themselves then stay out, with that reason. Without, the
 * fewest passes, which only replay can use, and live groups of what fits one pass for the rest. The
 * plan's texts are its own. RC_NO_SLOT when nothing
 * is left. */
int cuda_host_make_plan(const struct cuda_host *h, const struct cuda_plan *p, bool groups,
			const char *selection, struct plan *plan_out, struct error *err);

/* The chip of the first GPU of this machine, asked of the driver. RC_NOT_FOUND: there is none, or
 * no driver. The text lives for ever. */
int cuda_host_detect(const char **chip_out, struct error *err);

#endif
