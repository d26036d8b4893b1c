/* SPDX-License-Identifier: Apache-2.0 */
/* What the exporters share. */
#ifndef RETALLY_EXPORT_PARTS_H
#define RETALLY_EXPORT_PARTS_H

#include "export/export.h"
#include "export/join.h"

/* Chosen kernels (NULL: all) and names for people, by index in store_kernels. */
struct export_kernels {
	struct arena arena;
	bool *chosen;
	const char **names;
};

/* ---- omniperf.c ---- */
int export_omniperf(struct store *s, const struct export_options *o, const struct export_kernels *k,
		    struct str *notes, struct error *err);
/* ---- omniperf_sysinfo.c ---- */
/* The chip is one that rocprof-compute has analysis files for. */
bool omniperf_knows_chip(const char *chip);
int omniperf_sysinfo(const char *chip, const char *data_dir, struct str *out, struct error *err);

/* ---- perfetto.c: into a stream ---- */
int export_perfetto(struct store *s, const struct export_kernels *k, FILE *f, struct error *err);
/* ---- rocpd.c ---- */
int export_rocpd(struct store *s, const struct export_options *o, const struct export_kernels *k,
		 struct error *err);

/* A new file with this text; path is removed again when it cannot be filled. */
int export_write_file(const char *path, const struct str *text, struct error *err);

#endif
