/* SPDX-License-Identifier: Apache-2.0 */
/* What run, plan and list share: the catalogue of a chip or of this machine, and the selection. */
#ifndef RETALLY_CLI_SETUP_H
#define RETALLY_CLI_SETUP_H

#include "cli/options.h"
#include "model/catalog.h"
#include "model/selection.h"
#include "source/cuda/cuda_host.h"
#include "wire/plan.h"

#define SETUP_THIS_MACHINE "cpu"

struct setup {
	struct catalog catalog;
	struct selection selection;
	struct plan plan;
	char *selection_text;
	bool this_machine; /* counters come from source perf and can be proven to schedule */
	bool is_sim;       /* the simulated device: its own table proves the plan */
	bool is_cuda;      /* one of NVIDIA's chips: planned by CUPTI, plan stays empty */
	struct cuda_host cuda;
};

/* Where chips and metrics are: RETALLY_DATA, else the installed folder, else the one beside the
 * build. The text lives for ever. */
const char *setup_data_dir(void);
/* Where libretally.so is: RETALLY_LIBRARY, else beside the build, else the installed one. The text
 * lives for ever. */
const char *setup_library(void);
/* Loads the catalogue. `program` (a path, may be NULL) must outlive s. */
int setup_catalog(struct setup *s, const struct options *o, char *program, struct error *err);
/* Loads what tells which sets there are for the chip of a plan, wherever it was made. */
int setup_sets(struct setup *s, const struct options *o, const struct plan *plan,
	       struct error *err);
/* Resolves the selection; setup_plan does so too, and plans it. */
int setup_select(struct setup *s, const struct options *o, struct error *err);
int setup_plan(struct setup *s, const struct options *o, struct error *err);
void setup_release(struct setup *s);

#endif
