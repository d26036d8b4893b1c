/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the loader: parsed metric files, and the two steps of loading them. */
#ifndef RETALLY_MODEL_CATALOG_LOAD_INTERNAL_H
#define RETALLY_MODEL_CATALOG_LOAD_INTERNAL_H

#include "model/catalog.h"
#include "model/catalog_load_yaml.h"

struct catalog_document {
	const char *name; /* the file, for messages and metric->where */
	const struct yaml_value *root;
};
/* Adds counters, then metrics, then sets of all documents, so that a file may use what another one
 * defines. `scratch` holds what is needed during loading only. `hints`: skipped metrics name the
 * nearest counter (for files of the user's). */
int catalog_load_documents(struct catalog *c, struct arena *scratch,
			   const struct catalog_document *documents, size_t n, bool hints,
			   struct error *err);
/* Resolves and appends anchors; with `lenient`, unknown ones are left out. */
int catalog_load_anchors(struct catalog *c, const char *name, const struct yaml_value *list,
			 bool lenient, struct error *err);

/* Replaces the built-ins of a document and the catalogue's constants in the text of an expression.
 */
struct str;
int catalog_load_expand(const struct catalog *c, const struct catalog_document *d,
			const struct yaml_value *at, const char *text, struct str *out,
			struct error *err);
/* The lines of the roofline of a document, whose built-ins are checked already. */
int catalog_load_roofline(struct catalog *c, const struct catalog_document *d,
			  struct arena *scratch, struct error *err);
/* Checks the built-ins of a document: names, syntax, no recursion. */
int catalog_load_builtins(const struct catalog *c, const struct catalog_document *d,
			  struct arena *scratch, struct error *err);

#endif
