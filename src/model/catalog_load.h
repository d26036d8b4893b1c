/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills a catalogue from data files: DATA_DIR/chips/CHIP.yaml (blocks and slots) and the files
 * under DATA_DIR/metrics (counters, metrics, sets), in the sorted order of their paths.
 * docs/add-a-metric.md describes the format. The files may come from users: what is wrong in them
 * is refused with "FILE:LINE:COLUMN: sentence". After an error the catalogue can only be released.
 *
 * Built-ins and constants of the chip are replaced by their values in metric->expression, so that a
 * plan can be evaluated without its data files; facts of the run ($duration_ns) stay.
 *
 * A catalogue without a source (the machine at hand: a source's host half has put its counters in)
 * takes from the files what can be counted; the other metrics go to catalog->skipped. For a chip
 * that was loaded by name a counter that is not defined is an error.
 */
#ifndef RETALLY_MODEL_CATALOG_LOAD_H
#define RETALLY_MODEL_CATALOG_LOAD_H

#include "model/catalog.h"

/* Blocks and constants of the chip and everything under metrics/ that names it. Constants that are
 * in the catalogue already (read from the machine) win over the file's. RC_NOT_FOUND with the
 * nearest chip. */
int catalog_load_chip(struct catalog *c, const char *data_dir, const char *chip, struct error *err);
/* Only the metric files that name `chip`; sets c->chip when it is not set. */
int catalog_load_metrics_for(struct catalog *c, const char *data_dir, const char *chip,
			     struct error *err);
/* One metric file of the user's; its `chips`, when given, must name c->chip. */
int catalog_load_file(struct catalog *c, const char *path, struct error *err);
/* The same from memory; `name` goes into messages. */
int catalog_load_text(struct catalog *c, const char *name, const char *text, size_t size,
		      struct error *err);
/* A chip file from memory, without its metrics. */
int catalog_load_chip_text(struct catalog *c, const char *name, const char *text, size_t size,
			   struct error *err);

struct catalog_chip {
	const char *name;
	const char *title;
	const char *vendor;
};
/* The chips of DATA_DIR/chips, sorted by name; they live in the arena. */
int catalog_list_chips(struct arena *arena, const char *data_dir, struct catalog_chip **chips_out,
		       size_t *n_out, struct error *err);

#endif
