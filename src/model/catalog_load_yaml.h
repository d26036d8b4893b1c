/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML file as a tree, for the loaders of data files. Only what data files need: one document of
 * mappings, lists and text. Anchors, aliases, tags, duplicate keys and keys that are not plain text
 * are refused; size, depth and number of values are bounded, because users write these files.
 */
#ifndef RETALLY_MODEL_CATALOG_LOAD_YAML_H
#define RETALLY_MODEL_CATALOG_LOAD_YAML_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YAML_FILE_SIZE_MAX (8u << 20)
#define YAML_DEPTH_MAX     16
#define YAML_VALUES_MAX    400000

enum yaml_kind {
	YAML_TEXT,
	YAML_LIST,
	YAML_MAPPING,
};
struct yaml_value {
	enum yaml_kind kind;
	uint32_t line, column; /* from 1 */
	const char *key;       /* in a mapping */
	uint32_t key_line, key_column;
	const char *text; /* of YAML_TEXT; no NUL inside */
	size_t n;         /* children */
	struct yaml_value *child, *next;
};

/* Parses text[0..size). `name` is the file. When go_on is not NULL it is asked after the first pair
 * of the top mapping; if it says no, *root_out is NULL and the rest is not looked at. */
int yaml_parse(struct arena *arena, const char *name, const char *text, size_t size,
	       bool (*go_on)(const struct yaml_value *first, void *data), void *data,
	       struct yaml_value **root_out, struct error *err);
/* Reads a file of at most YAML_FILE_SIZE_MAX bytes; the caller frees *text_out. */
int yaml_read_file(const char *path, char **text_out, size_t *size_out, struct error *err);

/* "NAME:LINE:COLUMN: ..." at the value, or at its key. Return code. */
int yaml_error(const struct yaml_value *v, const char *name, struct error *err, const char *fmt,
	       ...) __attribute__((format(printf, 4, 5)));
int yaml_key_error(const struct yaml_value *v, const char *name, struct error *err, const char *fmt,
		   ...) __attribute__((format(printf, 4, 5)));

/* `what` ("a counter") goes into messages. keys ends with NULL; one that starts with '!' is
 * required. */
int yaml_check_keys(const struct yaml_value *v, const char *name, const char *what,
		    const char *const *keys, struct error *err);
/* Member of a mapping that passed yaml_check_keys, or NULL. */
const struct yaml_value *yaml_member(const struct yaml_value *v, const char *key);
/* Typed members. A missing one leaves *value_out alone. */
int yaml_text(const struct yaml_value *v, const char *name, const char *key, const char **value_out,
	      struct error *err);
int yaml_uint(const struct yaml_value *v, const char *name, const char *key, uint32_t min,
	      uint32_t max, uint32_t *value_out, struct error *err);
int yaml_bool(const struct yaml_value *v, const char *name, const char *key, bool *value_out,
	      struct error *err);
int yaml_number(const struct yaml_value *v, const char *name, const char *key, double *value_out,
		struct error *err);
/* Member that is a list of mappings or of texts; *list_out is NULL when missing. */
int yaml_list(const struct yaml_value *v, const char *name, const char *key, enum yaml_kind kind,
	      const struct yaml_value **list_out, struct error *err);

#endif
