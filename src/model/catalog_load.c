/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding and reading data files: the chip's own, and the metric files that name it. A file names
 * its chips in its first key, so that the files of other chips cost one look at their first lines.
 */
#include "model/catalog_load.h"

#include "model/catalog_load_internal.h"
#include "model/nearest.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDER_DEPTH_MAX 8
#define FILES_MAX        4096

struct paths {
	VEC(const char *) of;
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory for the data files");
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_data_file(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && name[0] != '.' && !strcmp(name + n - 5, ".yaml");
}

/* Every *.yaml below a folder, unsorted. */
static int find_files(struct arena *arena, const char *folder, int depth, struct paths *paths,
		      struct error *err)
{
	DIR *dir = opendir(folder);
	struct dirent *d;
	struct stat st;
	int rc = 0;

	if (!dir)
		return error_set_errno(err, 0, errno, "cannot read the folder '%s'", folder);
	while (!rc && (d = readdir(dir))) {
		const char *path;

		if (d->d_name[0] == '.')
			continue;
		path = arena_printf(arena, "%s/%s", folder, d->d_name);
		if (!path)
			rc = no_memory(err);
		else if (stat(path, &st))
			continue; /* gone, or a dangling link */
		else if (S_ISDIR(st.st_mode) && depth < FOLDER_DEPTH_MAX)
			rc = find_files(arena, path, depth + 1, paths, err);
		else if (!S_ISREG(st.st_mode) || !is_data_file(d->d_name))
			continue;
		else if (paths->of.n == FILES_MAX)
			rc = error_set(err, RC_INVALID, "more than %d data files in '%s'",
				       FILES_MAX, folder);
		else if (!vec_push(&paths->of, path))
			rc = no_memory(err);
	}
	closedir(dir);
	return rc;
}

static int sorted_files(struct arena *arena, const char *folder, struct paths *paths,
			struct error *err)
{
	int rc = find_files(arena, folder, 0, paths, err);

	if (!rc && paths->of.n)
		qsort(paths->of.items, paths->of.n, sizeof(*paths->of.items), compare_paths);
	return rc;
}

/* ---- metric files ---- */

static bool names_chip(const struct yaml_value *chips, const char *chip)
{
	for (const struct yaml_value *v = chips->child; v; v = v->next)
		if (v->kind == YAML_TEXT && !fnmatch(v->text, chip, 0))
			return true;
	return false;
}

static bool wants_file(const struct yaml_value *first, void *chip)
{
	/* a file that does not begin with its chips is read, and refused with the reason */
	return strcmp(first->key, "chips") || first->kind != YAML_LIST || names_chip(first, chip);
}

static int parse_metric_file(struct arena *arena, const char *path, const char *chip,
			     const struct yaml_value **root_out, struct error *err)
{
	char *text, *chip_copy = arena_strdup(arena, chip);
	struct yaml_value *root;
	const struct yaml_value *chips;
	size_t size;
	int rc;

	*root_out = NULL;
	if (!chip_copy)
		return no_memory(err);
	rc = yaml_read_file(path, &text, &size, err);
	if (rc)
		return rc;
	rc = yaml_parse(arena, path, text, size, wants_file, chip_copy, &root, err);
	free(text);
	if (rc || !root)
		return rc;
	if (!root->child || strcmp(root->child->key, "chips"))
		return yaml_error(root, path, err, "the first key of a metric file is 'chips'");
	rc = yaml_list(root, path, "chips", YAML_TEXT, &chips, err);
	if (!rc)
		*root_out = root;
	return rc;
}

static int load_metrics(struct catalog *c, struct arena *scratch, const char *data_dir,
			const char *chip, struct error *err)
{
	struct {
		VEC(struct catalog_document) of;
	} documents = {0};
	struct catalog_document d;
	struct paths paths = {0};
	const char *folder = arena_printf(scratch, "%s/metrics", data_dir);
	int rc = folder ? sorted_files(scratch, folder, &paths, err) : no_memory(err);

	for (size_t i = 0; i < paths.of.n && !rc; i++) {
		d.name = paths.of.items[i];
		rc = parse_metric_file(scratch, d.name, chip, &d.root, err);
		if (!rc && d.root && !vec_push(&documents.of, d))
			rc = no_memory(err);
	}
	if (!rc)
		rc = catalog_load_documents(c, scratch, documents.of.items, documents.of.n, false,
					    err);
	vec_release(&documents.of);
	vec_release(&paths.of);
	return rc;
}

static int set_chip(struct catalog *c, const char *chip, struct error *err)
{
	if (c->chip)
		return 0;
	c->chip = arena_strdup(&c->arena, chip);
	return c->chip ? 0 : no_memory(err);
}

int catalog_load_metrics_for(struct catalog *c, const char *data_dir, const char *chip,
			     struct error *err)
{
	struct arena scratch = {0};
	int rc = set_chip(c, chip, err);

	if (!rc)
		rc = load_metrics(c, &scratch, data_dir, chip, err);
	arena_release(&scratch);
	return rc;
}

int catalog_load_text(struct catalog *c, const char *name, const char *text, size_t size,
		      struct error *err)
{
	struct arena scratch = {0};
	struct catalog_document d = {.name = name};
	const struct yaml_value *chips;
	struct yaml_value *root;
	int rc = set_chip(c, "cpu", err);

	if (!rc)
		rc = yaml_parse(&scratch, name, text, size, NULL, NULL, &root, err);
	if (!rc)
		rc = yaml_list(root, name, "chips", YAML_TEXT, &chips, err);
	if (!rc && chips && !names_chip(chips, c->chip))
		rc = yaml_error(chips, name, err, "the file is not for %s", c->chip);
	if (!rc) {
		d.root = root;
		rc = catalog_load_documents(c, &scratch, &d, 1, true, err);
	}
	arena_release(&scratch);
	return rc;
}

int catalog_load_file(struct catalog *c, const char *path, struct error *err)
{
	size_t size;
	char *text;
	int rc = yaml_read_file(path, &text, &size, err);

	if (!rc)
		rc = catalog_load_text(c, path, text, size, err);
	free(text);
	return rc;
}

/* ---- chip files ---- */

static int load_block(struct catalog *c, const char *file, const struct yaml_value *v,
		      struct error *err)
{
	static const char *const keys[] = {"!name",      "!slots",      "instances", "scope",
					   "!reference", "!confidence", NULL};
	static const char *const scopes[] = {"",        "per-GPU", "per-XCC", "per-SE", "per-SE/SA",
					     "per-AID", "per-WGP", "thread",  NULL};
	static const char *const confidences[] = {"measured", "vendor source", "inferred", NULL};
	struct block b = {.name = "", .instances = 1, .scope = "", .confidence = ""};
	size_t i;
	int rc = yaml_check_keys(v, file, "a block", keys, err);

	if (rc || (rc = yaml_text(v, file, "name", &b.name, err)) ||
	    (rc = yaml_uint(v, file, "slots", 1, 1024, &b.slots, err)) ||
	    (rc = yaml_uint(v, file, "instances", 1, 4096, &b.instances, err)) ||
	    (rc = yaml_text(v, file, "scope", &b.scope, err)) ||
	    (rc = yaml_text(v, file, "reference", &b.reference, err)) ||
	    (rc = yaml_text(v, file, "confidence", &b.confidence, err)))
		return rc;
	for (i = 0; scopes[i] && strcmp(scopes[i], b.scope); i++)
		;
	if (!scopes[i])
		return yaml_error(yaml_member(v, "scope"), file, err,
				  "'scope' is one of per-GPU, per-XCC, per-SE, per-SE/SA, per-AID, "
				  "per-WGP, thread");
	for (i = 0; confidences[i] && strcmp(confidences[i], b.confidence); i++)
		;
	if (!confidences[i])
		return yaml_error(yaml_member(v, "confidence"), file, err,
				  "'confidence' is one of measured, vendor source, inferred");
	rc = catalog_add_block(c, &b, NULL, err);
	if (rc)
		error_prefix(err, "%.200s:%u:%u", file, v->line, v->column);
	return rc;
}

static int load_constant(struct catalog *c, const char *file, const struct yaml_value *v,
			 size_t n_before, struct error *err)
{
	static const char *const keys[] = {"!name", "!value", "unit", "reference", NULL};
	struct chip_constant k = {.name = "", .unit = ""};
	uint32_t known;
	int rc = yaml_check_keys(v, file, "a constant", keys, err);

	if (rc || (rc = yaml_text(v, file, "name", &k.name, err)) ||
	    (rc = yaml_text(v, file, "unit", &k.unit, err)) ||
	    (rc = yaml_number(v, file, "value", &k.value, err)))
		return rc;
	known = catalog_find_constant(c, k.name);
	if (known != UINT32_MAX && known < n_before)
		return 0; /* read from the machine: it knows better */
	rc = catalog_add_constant(c, &k, err);
	if (rc)
		error_prefix(err, "%.200s:%u:%u", file, v->line, v->column);
	return rc;
}

static int chip_head(struct arena *arena, const char *file, const struct yaml_value *root,
		     struct catalog_chip *chip_out, const char **source_out, struct error *err)
{
	static const char *const keys[] = {"!chip",     "!title", "!vendor", "!source",
					   "constants", "blocks", "anchors", NULL};
	struct catalog_chip chip = {"", "", ""};
	const char *source = "";
	int rc = yaml_check_keys(root, file, "a chip file", keys, err);

	if (rc || (rc = yaml_text(root, file, "chip", &chip.name, err)) ||
	    (rc = yaml_text(root, file, "title", &chip.title, err)) ||
	    (rc = yaml_text(root, file, "vendor", &chip.vendor, err)) ||
	    (rc = yaml_text(root, file, "source", &source, err)))
		return rc;
	chip_out->name = arena_strdup(arena, chip.name);
	chip_out->title = arena_strdup(arena, chip.title);
	chip_out->vendor = arena_strdup(arena, chip.vendor);
	*source_out = arena_strdup(arena, source);
	return chip_out->name && chip_out->title && chip_out->vendor && *source_out
		       ? 0
		       : no_memory(err);
}

/* *anchors_out lives in scratch: its counters are known only after the metric files. */
static int load_chip(struct catalog *c, struct arena *scratch, const char *file, const char *text,
		     size_t size, const struct yaml_value **anchors_out, struct error *err)
{
	size_t n_constants = c->constants.n;
	struct catalog_chip chip;
	const struct yaml_value *list;
	struct yaml_value *root;
	int rc = yaml_parse(scratch, file, text, size, NULL, NULL, &root, err);

	if (!rc)
		rc = chip_head(&c->arena, file, root, &chip, &c->source, err);
	if (rc)
		return rc;
	c->chip = chip.name;
	c->title = chip.title;
	rc = yaml_list(root, file, "constants", YAML_MAPPING, &list, err);
	for (const struct yaml_value *v = list ? list->child : NULL; v && !rc; v = v->next)
		rc = load_constant(c, file, v, n_constants, err);
	if (!rc)
		rc = yaml_list(root, file, "blocks", YAML_MAPPING, &list, err);
	for (const struct yaml_value *v = list ? list->child : NULL; v && !rc; v = v->next)
		rc = load_block(c, file, v, err);
	return rc ? rc : yaml_list(root, file, "anchors", YAML_TEXT, anchors_out, err);
}

int catalog_load_chip_text(struct catalog *c, const char *name, const char *text, size_t size,
			   struct error *err)
{
	struct arena scratch = {0};
	const struct yaml_value *anchors;
	int rc = load_chip(c, &scratch, name, text, size, &anchors, err);

	arena_release(&scratch);
	return rc;
}

static const char *chip_of_path(struct arena *arena, const char *path)
{
	const char *base = strrchr(path, '/') + 1;

	return arena_strndup(arena, base, strlen(base) - 5);
}

/* The file of a chip among those of the folder; RC_NOT_FOUND with the nearest. */
static int find_chip(struct arena *arena, const char *data_dir, const char *chip,
		     const char **path_out, struct error *err)
{
	const char *folder = arena_printf(arena, "%s/chips", data_dir);
	struct paths paths = {0};
	struct nearest n;
	char hint[160];
	int rc = folder ? sorted_files(arena, folder, &paths, err) : no_memory(err);

	*path_out = NULL;
	nearest_init(&n, chip);
	for (size_t i = 0; i < paths.of.n && !rc; i++) {
		const char *name = chip_of_path(arena, paths.of.items[i]);

		if (!name) {
			rc = no_memory(err);
			break;
		}
		if (!strcmp(name, chip))
			*path_out = paths.of.items[i];
		nearest_offer(&n, name);
	}
	vec_release(&paths.of);
	if (!rc && !*path_out)
		rc = error_set(err, RC_NOT_FOUND, "there is no chip '%.80s' in %s%s", chip, folder,
			       nearest_hint(&n, hint, sizeof(hint)));
	return rc;
}

int catalog_load_chip(struct catalog *c, const char *data_dir, const char *chip, struct error *err)
{
	const struct yaml_value *anchors = NULL;
	struct arena scratch = {0};
	char *text = NULL;
	const char *path;
	size_t size;
	int rc = find_chip(&scratch, data_dir, chip, &path, err);

	if (!rc)
		rc = yaml_read_file(path, &text, &size, err);
	if (!rc)
		rc = load_chip(c, &scratch, path, text, size, &anchors, err);
	if (!rc && strcmp(c->chip, chip))
		rc = error_set(err, RC_INVALID, "%s:1:1: the file of '%s' describes '%.80s'", path,
			       chip, c->chip);
	if (!rc)
		rc = load_metrics(c, &scratch, data_dir, chip, err);
	/* a chip without metric files has blocks, but no counters yet */
	if (!rc && c->counters.n)
		rc = catalog_load_anchors(c, path, anchors, false, err);
	free(text);
	arena_release(&scratch);
	return rc;
}

int catalog_list_chips(struct arena *arena, const char *data_dir, struct catalog_chip **chips_out,
		       size_t *n_out, struct error *err)
{
	struct arena scratch = {0};
	const char *folder = arena_printf(&scratch, "%s/chips", data_dir), *source;
	struct paths paths = {0};
	struct catalog_chip *chips = NULL;
	int rc = folder ? sorted_files(&scratch, folder, &paths, err) : no_memory(err);

	if (!rc)
		chips = arena_array(arena, paths.of.n, sizeof(*chips));
	if (!rc && !chips)
		rc = no_memory(err);
	for (size_t i = 0; i < paths.of.n && !rc; i++) {
		const char *path = paths.of.items[i];
		struct yaml_value *root;
		char *text = NULL;
		size_t size;

		rc = yaml_read_file(path, &text, &size, err);
		if (!rc)
			rc = yaml_parse(&scratch, path, text, size, NULL, NULL, &root, err);
		if (!rc)
			rc = chip_head(arena, path, root, &chips[i], &source, err);
		free(text);
	}
	*chips_out = chips;
	*n_out = paths.of.n;
	vec_release(&paths.of);
	arena_release(&scratch);
	return rc;
}
