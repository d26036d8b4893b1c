/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metric files of AMD chips: the same metrics and counters as the public analysis files
 * (data/amd_expected_counters.txt), sets that hold what they promise, and values worked out by
 * hand.
 */
#include "../test.h"
#include "base/str.h"
#include "model/catalog_load.h"
#include "model/expr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NAMES_MAX 64
#define NAME_SIZE 80

struct names {
	size_t n;
	char name[NAMES_MAX][NAME_SIZE];
};

static const char *source_path(const char *relative)
{
	static char path[4096];
	const char *source = getenv("RETALLY_SOURCE");

	assert_non_null(source);
	snprintf(path, sizeof(path), "%s/%s", source, relative);
	return path;
}

static void load(struct catalog *c, const char *chip)
{
	struct error err = {0};

	*c = (struct catalog){0};
	if (catalog_load_chip(c, source_path("data"), chip, &err) != 0)
		fail_msg("%s: %s", chip, err.message);
}

/* NAME, NAME_sum, NAME[3] and NAME[] are one event; on MI200 one public formula uses the names that
 * the events have on MI300. */
static void add_name(struct names *set, const char *chip, const char *text)
{
	char name[NAME_SIZE];
	size_t n = strcspn(text, "[");
	char *ea;

	assert_true(n < sizeof(name));
	memcpy(name, text, n);
	name[n] = '\0';
	if (n > 4 && strcmp(name + n - 4, "_sum") == 0)
		name[n - 4] = '\0';
	ea = strstr(name, "_EA0_");
	if (ea && strcmp(chip, "gfx90a") == 0)
		memmove(ea + 3, ea + 4, strlen(ea + 4) + 1);
	for (size_t i = 0; i < set->n; i++)
		if (strcmp(set->name[i], name) == 0)
			return;
	assert_true(set->n < NAMES_MAX);
	memcpy(set->name[set->n++], name, sizeof(name));
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void names_text(struct names *set, struct str *out)
{
	qsort(set->name, set->n, NAME_SIZE, compare_names);
	str_clear(out);
	for (size_t i = 0; i < set->n; i++)
		str_addf(out, " %s", set->name[i]);
}

static void counters_of(const struct catalog *c, const struct metric *m, struct names *out)
{
	out->n = 0;
	for (uint32_t i = 0; i < m->n_counters; i++) {
		const struct counter *k = &c->counters.items[m->counters[i]];

		add_name(out, c->chip, k->name);
		if (k->level != UINT32_MAX)
			add_name(out, c->chip, c->counters.items[k->level].name);
	}
}

/* Compares one line of the list; returns false when it is about another chip. */
static bool check_line(const struct catalog *c, char *line)
{
	static struct names want, have;
	struct str want_text = STR_INIT, have_text = STR_INIT;
	char *save = NULL;
	const char *chip = strtok_r(line, " \n", &save);
	const char *id = strtok_r(NULL, " \n", &save);
	uint32_t metric;

	if (!chip || *chip == '#' || strcmp(chip, c->chip) != 0)
		return false;
	want.n = 0;
	for (const char *t; (t = strtok_r(NULL, " \n", &save));)
		add_name(&want, chip, t);
	/* The public formula of 3.1.39 leaves out which accumulator it divides. */
	if (strcmp(id, "3.1.39") == 0) {
		add_name(&want, chip, "SQ_IFETCH_LEVEL");
		add_name(&want, chip, "SQ_IFETCH_LEVEL_ACCUM");
	}
	metric = catalog_find_metric(c, id);
	if (metric == UINT32_MAX)
		fail_msg("%s has no metric %s", chip, id);
	assert_string_equal(c->metrics.items[metric].id, id);
	counters_of(c, &c->metrics.items[metric], &have);
	names_text(&want, &want_text);
	names_text(&have, &have_text);
	if (strcmp(want_text.text, have_text.text) != 0)
		fail_msg("%s %s (%s): counters%s, expected%s", chip, id,
			 c->metrics.items[metric].name, have_text.text, want_text.text);
	str_release(&want_text);
	str_release(&have_text);
	return true;
}

/* The most events in a block beyond its slots; 0 when all fit one pass. */
static uint32_t overflow(const struct catalog *c, const uint32_t *metrics, uint32_t n)
{
	uint32_t worst = 0;

	for (uint32_t b = 0; b < c->blocks.n; b++) {
		const char *events[256];
		uint32_t n_events = 0;

		for (uint32_t i = 0; i < n; i++) {
			const struct metric *m = &c->metrics.items[metrics[i]];

			for (uint32_t j = 0; j < 2 * m->n_counters; j++) {
				const struct counter *k = &c->counters.items[m->counters[j / 2]];
				uint32_t e;

				if (j % 2 && k->level == UINT32_MAX)
					continue;
				if (j % 2)
					k = &c->counters.items[k->level];
				if (k->block != b)
					continue;
				for (e = 0; e < n_events && strcmp(events[e], k->event) != 0; e++)
					;
				if (e == n_events) {
					assert_true(n_events < 256);
					events[n_events++] = k->event;
				}
			}
		}
		if (n_events > c->blocks.items[b].slots &&
		    n_events - c->blocks.items[b].slots > worst)
			worst = n_events - c->blocks.items[b].slots;
	}
	return worst;
}

static const struct metric_set *find_set(const struct catalog *c, const char *name)
{
	uint32_t i = catalog_find_set(c, name);

	if (i == UINT32_MAX)
		fail_msg("%s has no set '%s'", c->chip, name);
	return &c->sets.items[i];
}

static void test_public_metrics(void **state)
{
	static const struct {
		const char *chip;
		uint32_t metrics, in_one_pass;
	} chips[] = {
		{"gfx90a", 353, 343},
		{"gfx942", 353, 343},
		{"gfx950", 426, 416},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(chips) / sizeof(*chips); i++) {
		struct catalog c;
		const struct metric_set *full;
		char line[4096];
		uint32_t n = 0, fit = 0;
		FILE *f =
			fopen(source_path("tests/unit/model/data/amd_expected_counters.txt"), "r");

		assert_non_null(f);
		load(&c, chips[i].chip);
		while (fgets(line, sizeof(line), f))
			n += check_line(&c, line);
		fclose(f);
		assert_int_equal(n, chips[i].metrics);
		full = find_set(&c, "full");
		assert_int_equal(full->n_metrics, chips[i].metrics);
		for (uint32_t j = 0; j < full->n_metrics; j++) {
			assert_string_not_equal(c.metrics.items[full->metrics[j]].id, "");
			fit += overflow(&c, &full->metrics[j], 1) == 0;
		}
		assert_int_equal(fit, chips[i].in_one_pass);
		catalog_release(&c);
	}
}

static void test_sets(void **state)
{
	static const char *const chips[] = {"gfx906",  "gfx908",  "gfx90a", "gfx940",
					    "gfx941",  "gfx942",  "gfx950", "gfx1030",
					    "gfx1100", "gfx1200", "gfx1201"};

	(void)state;
	for (size_t i = 0; i < sizeof(chips) / sizeof(*chips); i++) {
		struct catalog c;
		uint32_t single = 0;

		load(&c, chips[i]);
		assert_true(find_set(&c, "default")->n_metrics >= 10);
		assert_true(find_set(&c, "full")->n_metrics >= 25);
		vec_for_each (&c.sets, s) {
			assert_true(s->n_metrics > 0);
			if (!strstr(s->title, "one pass"))
				continue;
			single++;
			if (overflow(&c, s->metrics, s->n_metrics) != 0)
				fail_msg("%s: set '%s' does not fit one pass", chips[i], s->name);
		}
		assert_true(single >= 4);
		catalog_release(&c);
	}
}

static void test_sections(void **state)
{
	static const struct {
		const char *set, *section;
	} sections[] = {
		{"speed_of_light", "2."},
		{"memory_chart", "3."},
		{"cp", "5."},
		{"spi", "6."},
		{"wavefront", "7."},
		{"instruction_mix", "10."},
		{"compute_pipe", "11."},
		{"lds", "12."},
		{"l1i", "13."},
		{"sl1d", "14."},
		{"ta_td", "15."},
		{"vl1d", "16."},
		{"l2", "17."},
		{"l2_channels", "18."},
	};
	struct catalog c;

	(void)state;
	load(&c, "gfx950");
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		const struct metric_set *s = find_set(&c, sections[i].set);
		uint32_t in_set = 0, in_file = 0;

		for (uint32_t j = 0; j < s->n_metrics; j++) {
			const char *id = c.metrics.items[s->metrics[j]].id;

			assert_true(!*id || strncmp(id, sections[i].section,
						    strlen(sections[i].section)) == 0);
			in_set += *id != '\0';
		}
		vec_for_each (&c.metrics, m)
			in_file += strncmp(m->id, sections[i].section,
					   strlen(sections[i].section)) == 0;
		assert_int_equal(in_set, in_file);
	}
	catalog_release(&c);
}

/* ---- values ---- */
static const struct {
	const char *name;
	double value;
} readings[] = {
	{"GRBM_GUI_ACTIVE", 8000}, /* over the dies */
	{"SQ_ACTIVE_INST_VALU", 76000},
	{"SQ_LEVEL_WAVES_ACCUM", 2432000},
	{"SQ_LDS_IDX_ACTIVE", 5000},
	{"SQ_LDS_BANK_CONFLICT", 1000},
	{"SQ_INSTS_VALU_ADD_F32", 10},
	{"SQ_INSTS_VALU_MUL_F32", 20},
	{"SQ_INSTS_VALU_TRANS_F32", 30},
	{"SQ_INSTS_VALU_FMA_F32", 40},
	{"SQ_INSTS_VALU_MFMA_MOPS_F32", 5},
	{"TCC_HIT", 300},
	{"TCC_MISS", 100},
	{"TCC_BUBBLE", 10},
	{"TCC_EA0_RDREQ", 100},
	{"TCC_EA0_RDREQ_32B", 20},
	{"TCC_EA0_RDREQ_DRAM", 120},
	{"TCC_EA0_WRREQ", 50},
	{"TCC_EA0_WRREQ_64B", 30},
	{"TCP_TCC_READ_REQ", 100},
	{"TCP_TCC_WRITE_REQ", 60},
	{"TCP_TCC_ATOMIC_WITH_RET_REQ", 30},
	{"TCP_TCC_ATOMIC_WITHOUT_RET_REQ", 10},
	{"TCP_TOTAL_CACHE_ACCESSES", 800},
};

static struct expr_value read_counter(void *data, const char *name, int instance, size_t row)
{
	(void)data;
	(void)row;
	for (size_t i = 0; i < sizeof(readings) / sizeof(*readings); i++)
		if (strcmp(readings[i].name, name) == 0)
			/* channel 3 has all of it when asked for one by one */
			return (struct expr_value){
				instance == -1 || instance == 3 ? readings[i].value : 0, false};
	return (struct expr_value){0, true};
}

static size_t count_instances(void *data, const char *name)
{
	(void)data;
	(void)name;
	return 16;
}

static struct expr_value read_constant(void *data, const char *name, size_t row)
{
	const struct catalog *c = data;

	(void)row;
	if (strcmp(name, "duration_ns") == 0)
		return (struct expr_value){2000, false};
	if (strcmp(name, "dispatches") == 0)
		return (struct expr_value){1, false};
	vec_for_each (&c->constants, k)
		if (strcmp(k->name, name) == 0)
			return (struct expr_value){k->value, false};
	return (struct expr_value){0, true};
}

static double constant(const struct catalog *c, const char *name)
{
	vec_for_each (&c->constants, k)
		if (strcmp(k->name, name) == 0)
			return k->value;
	fail_msg("%s has no constant %s", c->chip, name);
	return 0;
}

static void expect(struct catalog *c, const char *metric, double want)
{
	uint32_t i = catalog_find_metric(c, metric);
	struct expr_input in = {.n_rows = 1,
				.data = c,
				.counter = read_counter,
				.instances = count_instances,
				.constant = read_constant};
	struct expr_result result;
	const struct expr *e;
	struct error err = {0};

	assert_true(i != UINT32_MAX);
	assert_int_equal(expr_parse(&c->arena, metric, c->metrics.items[i].expression, &e, &err),
			 0);
	assert_int_equal(expr_evaluate(e, &in, EXPR_RATIO_OF_SUMS, &result, &err), 0);
	if (result.value.missing || fabs(result.value.number - want) > 1e-9 * fabs(want))
		fail_msg("%s: %g, expected %g", metric, result.value.number, want);
}

static void test_values(void **state)
{
	struct catalog c;
	double cycles, cus, dies;

	(void)state;
	load(&c, "gfx942");
	dies = constant(&c, "num_xcd");
	cus = constant(&c, "cu_per_gpu");
	cycles = 8000 / dies;
	expect(&c, "wave_kernel_cycles", cycles);
	expect(&c, "sol_valu_util", 100 * 76000 / (cycles * cus));
	expect(&c, "sol_occupancy", 2432000 / cycles);
	/* 4000 useful cycles, 4 bytes in each of 32 banks, 2000 ns */
	assert_true(constant(&c, "lds_banks_per_cu") == 32);
	expect(&c, "lds_bw", 4000.0 * 128 / 2000);
	expect(&c, "lds_conflicts", 0.25);
	/* 64 lanes, a multiply-add is two, and 512 a unit of matrix work */
	expect(&c, "ops_f32", 64.0 * (10 + 20 + 30 + 80) + 512.0 * 5);
	expect(&c, "l2_hit_rate", 75);
	/* 10 of 128 bytes, 20 of 32, the other 70 of 64 */
	expect(&c, "l2_fabric_read_bw", (10 * 128 + 20 * 32 + 70 * 64) / 2000.0);
	expect(&c, "l2_fabric_reads_64b", 70);
	/* 30 of 64 bytes, the other 20 of 32 */
	expect(&c, "l2_fabric_write_bw", (30 * 64 + 20 * 32) / 2000.0);
	/* more of the own memory than in all: counted in other passes, and not below 0 */
	expect(&c, "l2_fabric_reads_remote", 0);
	expect(&c, "vl1d_hit_rate", 75);
	/* reads return 128 bytes on MI300 */
	expect(&c, "vl1d_l2_bw", (128 * 100 + 64 * 100) / 2000.0);
	expect(&c, "l2chan_hit_rate", 75);
	expect(&c, "l2chan_miss_imbalance", 16);
	catalog_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_public_metrics),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
