/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the tab-separated chip files of the planner's tests into a catalogue.
 */
#include "chip_fixture.h"

#include "planner_instances.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 6

struct line {
	char *text;
	char *fields[FIELDS_MAX];
	int n;
};

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "chip fixture: %s '%s'\n", what, name);
	exit(2);
}

static size_t read_lines(const char *path, struct line **lines_out)
{
	FILE *in = fopen(path, "r");
	VEC(struct line) lines = {0};
	char *text = NULL;
	size_t size = 0;

	if (!in)
		fail("cannot open", path);
	while (getline(&text, &size, in) > 0) {
		struct line l = {.text = strdup(text)};
		char *rest = l.text, *field;

		l.text[strcspn(l.text, "\n")] = '\0';
		while (l.n < FIELDS_MAX && (field = strsep(&rest, "\t")))
			l.fields[l.n++] = field;
		if (!vec_push(&lines, l))
			fail("out of memory for", path);
	}
	free(text);
	fclose(in);
	*lines_out = lines.items;
	return lines.n;
}

static void add_block(struct chip_fixture *f, const struct line *l)
{
	struct block b = {.name = l->fields[1],
			  .slots = (uint32_t)strtoul(l->fields[2], NULL, 10),
			  .instances = 1,
			  .scope = "",
			  .reference = "",
			  .confidence = "vendor source"};

	if (l->n != 3 || catalog_add_block(&f->catalog, &b, NULL, NULL))
		fail("bad block", l->fields[1]);
}

static void add_counter(struct chip_fixture *f, const struct line *l)
{
	struct counter k = {.name = l->fields[1],
			    .unit = "count",
			    .help = "",
			    .source = "rocm",
			    .block = catalog_find_block(&f->catalog, l->fields[2]),
			    .event = l->fields[3],
			    .instance = -1,
			    .level = UINT32_MAX,
			    .config = ""};

	if (l->n == 5)
		k.level = catalog_find_counter(&f->catalog, l->fields[4]);
	if (l->n < 4 || k.block == UINT32_MAX || (l->n == 5 && k.level == UINT32_MAX) ||
	    catalog_add_counter(&f->catalog, &k, NULL, NULL))
		fail("bad counter", l->fields[1]);
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void add_metric(struct chip_fixture *f, const struct line *l)
{
	uint32_t counters[256];
	struct metric m = {.id = l->fields[1],
			   .name = l->fields[1],
			   .title = l->fields[4],
			   .unit = "",
			   .help = "",
			   .expression = "",
			   .counters = counters,
			   .where = ""};
	char *rest = l->fields[3], *name;

	if (l->n != 5)
		fail("bad metric", l->fields[1]);
	while ((name = strsep(&rest, " "))) {
		counters[m.n_counters] = catalog_find_counter(&f->catalog, name);
		if (counters[m.n_counters++] == UINT32_MAX)
			fail("no such counter", name);
	}
	qsort(counters, m.n_counters, sizeof(*counters), compare_u32);
	f->n_that_fit += l->fields[2][0] == '1';
	if (catalog_add_metric(&f->catalog, &m, NULL, NULL))
		fail("bad metric", l->fields[1]);
}

void chip_fixture_load(struct chip_fixture *f, const char *folder, const char *name, uint64_t seed)
{
	char path[4096];
	struct line *lines;
	size_t n;

	*f = (struct chip_fixture){0};
	snprintf(path, sizeof(path), "%s/%s.tsv", folder, name);
	n = read_lines(path, &lines);
	for (size_t i = n; seed && i > 1; i--) {
		size_t j = (size_t)(instance_random(&seed) % i);
		struct line l = lines[i - 1];

		lines[i - 1] = lines[j];
		lines[j] = l;
	}
	/* plain counters come before those that name one as their level */
	for (size_t i = 0; i < n; i++)
		if (lines[i].fields[0][0] == 'b')
			add_block(f, &lines[i]);
	for (size_t i = 0; i < n; i++)
		if (lines[i].fields[0][0] == 'c' && lines[i].n == 4)
			add_counter(f, &lines[i]);
	for (size_t i = 0; i < n; i++)
		if (lines[i].fields[0][0] == 'c' && lines[i].n == 5)
			add_counter(f, &lines[i]);
	for (size_t i = 0; i < n; i++)
		if (lines[i].fields[0][0] == 'm')
			add_metric(f, &lines[i]);
	for (size_t i = 0; i < n; i++)
		free(lines[i].text);
	free(lines);
	f->catalog.chip = "test";
	for (uint32_t m = 0; m < f->catalog.metrics.n; m++)
		if (!vec_push(&f->everything.metrics, m))
			fail("out of memory for", name);
	if (!f->catalog.metrics.n)
		chip_fixture_select_counters(f);
}

void chip_fixture_select_counters(struct chip_fixture *f)
{
	vec_clear(&f->everything.metrics);
	vec_clear(&f->everything.counters);
	for (uint32_t k = 0; k < f->catalog.counters.n; k++)
		if (!vec_push(&f->everything.counters, k))
			fail("out of memory for", "counters");
}

void chip_fixture_release(struct chip_fixture *f)
{
	selection_release(&f->everything);
	catalog_release(&f->catalog);
}
