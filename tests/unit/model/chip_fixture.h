/* SPDX-License-Identifier: Apache-2.0 */
/* Real chips for planner tests and benchmarks: reads tests/unit/model/data/NAME.tsv as a catalogue.
 */
#ifndef RETALLY_TESTS_CHIP_FIXTURE_H
#define RETALLY_TESTS_CHIP_FIXTURE_H

#include "model/catalog.h"
#include "model/selection.h"

struct chip_fixture {
	struct catalog catalog;
	struct selection everything; /* all metrics, or all counters where there are no metrics */
	uint32_t n_that_fit;         /* metrics that the file says can be whole in one pass */
};

/* Exits the program with a message when the file is not as expected. With a nonzero seed the
 * catalogue's blocks, counters and metrics are added in shuffled order. */
void chip_fixture_load(struct chip_fixture *f, const char *folder, const char *name, uint64_t seed);
void chip_fixture_release(struct chip_fixture *f);
/* Selects the counters by name instead of the metrics. */
void chip_fixture_select_counters(struct chip_fixture *f);

#endif
