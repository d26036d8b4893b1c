/* SPDX-License-Identifier: Apache-2.0 */
/* Data files: every shipped one loads, what they say arrives, and what is wrong is refused in
 * place. */
#include "../test.h"
#include "base/str.h"
#include "model/catalog_load.h"
#include "model/expr.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char chip_text[] =
	"chip: toy\n"
	"title: Toy chip\n"
	"vendor: none\n"
	"source: sim\n"
	"constants: [{name: dies, value: 2, unit: dies}, {name: low, value: -1.5}]\n"
	"blocks:\n"
	"  - {name: SQ, slots: 8, instances: 1, scope: per-GPU, reference: r, confidence: "
	"measured}\n"
	"  - {name: L2, slots: 4, instances: 3, scope: per-GPU, reference: r, confidence: "
	"inferred}\n";

static const char metrics_text[] =
	"chips: [toy]\n"
	"builtins:\n"
	"  - {name: requests, expression: $reads + WRITES}\n"
	"  - {name: reads, expression: READS}\n"
	"counters:\n"
	"  - {name: WAVES, block: SQ, event: \"4\", unit: waves, help: Waves started}\n"
	"  - {name: LEVEL, block: SQ, event: \"5\"}\n"
	"  - {name: LEVEL_SUM, block: SQ, event: \"5+\", level: LEVEL}\n"
	"  - {name: READS, block: L2, event: \"1\"}\n"
	"  - {name: WRITES, block: L2, event: \"2\"}\n"
	"  - {name: TIME, block: none, event: clock, unit: ns}\n"
	"metrics:\n"
	"  - id: \"1.1\"\n"
	"    name: traffic\n"
	"    title: Traffic\n"
	"    unit: B/wave\n"
	"    percent: true\n"
	"    expression: 64 * $requests / WAVES_sum / $dies\n"
	"  - {id: \"1.2\", name: balance, expression: \"max(READS[]) / READS[1] + $low\"}\n"
	"  - {id: \"2.1\", name: rate, expression: 1e9 * WAVES / $duration_ns}\n"
	"sets:\n"
	"  - {name: default, metrics: [rate, \"1.*\", traffic], counters: [TIME, \"WRITES[0]\"]}\n"
	"anchors: [WAVES]\n";

static int load(struct catalog *c, const char *text, struct error *err)
{
	int rc = catalog_load_chip_text(c, "chip", chip_text, strlen(chip_text), err);

	return rc ? rc : catalog_load_text(c, "f", text, strlen(text), err);
}

static void test_meaning(void **state)
{
	struct catalog c = {0};
	struct error err = {0};
	const struct metric *m;
	const struct metric_set *set;

	(void)state;
	if (load(&c, metrics_text, &err))
		fail_msg("%s", err.message);
	assert_string_equal(c.chip, "toy");
	assert_string_equal(c.counters.items[0].source, "sim");
	assert_string_equal(c.counters.items[0].unit, "waves");
	assert_int_equal(c.counters.items[catalog_find_counter(&c, "LEVEL_SUM")].level, 1);
	assert_int_equal(c.counters.items[catalog_find_counter(&c, "TIME")].block, BLOCK_NONE);
	m = &c.metrics.items[catalog_find_metric(&c, "1.1")];
	assert_string_equal(m->expression, "64 * ((READS) + WRITES) / WAVES_sum / 2");
	assert_int_equal(m->n_counters, 3);
	assert_true(m->percent);
	assert_string_equal(m->where, "f:13");
	m = &c.metrics.items[catalog_find_metric(&c, "balance")];
	assert_string_equal(m->expression, "max(READS[]) / READS[1] + (-1.5)");
	assert_int_equal(m->n_counters, 3); /* READS[0..2]; READS[1] is one of them */
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(c.counters.items[m->counters[i]].event, "1");
	m = &c.metrics.items[catalog_find_metric(&c, "rate")];
	assert_string_equal(m->expression, "1e9 * WAVES / $duration_ns");
	set = &c.sets.items[catalog_find_set(&c, "default")];
	assert_int_equal(set->n_metrics, 3);
	assert_int_equal(set->metrics[0], 2);
	assert_int_equal(set->metrics[1], 0);
	assert_int_equal(set->n_counters, 2);
	assert_int_equal(c.n_anchors, 1);
	assert_int_equal(c.skipped.n, 0);
	catalog_release(&c);
}

/* Each text is a metric file after "chips: [toy]\n" and the counter A of block SQ. */
static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"metrcs: []\n",
		 "f:3:1: unknown key 'metrcs' in a metric file; did you mean 'metrics'?"},
		{"metrics: 3\n", "f:3:10: 'metrics' is a list"},
		{"metrics: [3]\n", "f:3:11: 'metrics' is a list of mappings"},
		{"metrics:\n  - {name: x, expr: A}\n", "f:4:15: unknown key 'expr' in a metric"},
		{"metrics:\n  - {name: x}\n", "f:4:5: a metric without the key 'expression'"},
		{"metrics:\n  - {name: x-y, expression: A}\n",
		 "f:4:12: 'x-y' is no name of a metric: letters, digits and '_'"},
		{"metrics:\n  - {name: x, id: a, expression: A}\n",
		 "f:4:19: 'a' is no id: numbers with dots, such as 2.1.0"},
		{"metrics:\n  - {name: x, percent: yes, expression: A}\n",
		 "f:4:24: 'percent' is true or false"},
		{"metrics:\n  - name: x\n    expression: A + * 2\n",
		 "f:5:17: metric 'x': column 5: a value is missing, found '*'"},
		{"metrics:\n  - name: x\n    expression: AB / A\n",
		 "f:5:17: metric 'x': there is no counter 'AB' on toy"},
		{"metrics:\n  - name: x\n    expression: A-1\n",
		 "f:5:17: metric 'x': there is no counter 'A-1' on toy; to subtract, put spaces "
		 "around the '-'"},
		{"metrics:\n  - name: x\n    expression: A[9]\n",
		 "f:5:17: 'A' has no instance 9 of 1"},
		{"metrics:\n  - name: x\n    expression: A / $dise\n",
		 "f:5:17: there is no constant or built-in '$dise'; did you mean 'dies'?"},
		{"metrics:\n  - {name: x, expression: A}\n  - {name: x, expression: A}\n",
		 "f:5:12: metric 'x' is defined twice, first as 'x' in f:4"},
		{"metrics:\n  - {name: x, id: \"1\", expression: A}\n"
		 "  - {name: y, id: \"1\", expression: A}\n",
		 "f:5:12: metric 'y' is defined twice, first as 'x' in f:4"},
		{"builtins:\n  - {name: a, expression: $b}\n  - {name: b, expression: $a + A}\n",
		 "f:4:27: built-in '$a' uses itself"},
		{"builtins:\n  - {name: a, expression: 1 +}\n",
		 "f:4:27: built-in 'a': column 4: a value is missing, found the end"},
		{"builtins:\n  - {name: a, expression: 1}\n  - {name: a, expression: 2}\n",
		 "f:5:12: built-in 'a' is defined twice"},
		{"builtins:\n  - {name: dies, expression: 1}\n",
		 "f:4:12: '$dies' is a constant already"},
		{"builtins:\n  - {name: duration_ns, expression: 1}\n",
		 "f:4:12: '$duration_ns' is a constant already"},
		{"builtins:\n  - {name: a}\n", "f:4:5: a built-in without the text 'expression'"},
		{"sets:\n  - {name: s, metrics: [nope]}\n", "f:4:25: there is no metric 'nope'"},
		{"sets:\n  - {name: s, metrics: [\"9.*\"]}\n", "f:4:25: there is no metric '9.*'"},
		{"sets:\n  - {name: s, counters: [B]}\n", "f:4:26: there is no counter 'B' on toy"},
		{"sets:\n  - {name: s}\n  - {name: s}\n", "f:5:5: set 's' is defined twice"},
		{"anchors: [B]\n", "f:3:11: anchor 'B' is no counter of toy"},
		{"title: &x t\n", "f:3:8: anchors ('&') are not supported in data files"},
		{"title: *x\n", "f:3:8: aliases ('*') are not supported in data files"},
		{"title: !!str x\n", "f:3:8: tags ('!') are not supported in data files"},
		{"title: a\ntitle: b\n", "f:4:1: 'title' is given twice, first in line 3"},
		{"title: [\n",
		 "f:4:1: did not find expected node content while parsing a flow node"},
		{"---\ntitle: b\n", "f:3:1: a second document"},
		{"? [a]\n: b\n", "f:3:3: a key is a plain text"},
		{"title: \"a\\0b\"\n", "f:3:8: a NUL character"},
		{"title: [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]\n", "f:3:23: nested deeper than 16"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct catalog c = {0};
		struct error err = {0};
		struct str text = STR_INIT;
		int rc;

		str_addf(&text, "chips: [toy]\ncounters: [{name: A, block: SQ, event: a}]\n%s",
			 cases[i].text);
		rc = load(&c, str_text(&text), &err);
		assert_true(rc == RC_INVALID || rc == RC_EXISTS);
		if (strncmp(err.message, cases[i].message, strlen(cases[i].message)))
			fail_msg("%s: %s, not: %s", cases[i].text, err.message, cases[i].message);
		str_release(&text);
		catalog_release(&c);
	}
}

static void test_counters_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{name: A, block: SQ}", "f:2:12: a counter without the key 'event'"},
		{"{name: A, block: SO, event: e}",
		 "f:2:29: there is no block 'SO' on toy; did you mean 'SQ'?"},
		{"{name: A B, block: SQ, event: e}", "f:2:19: 'A B' is no name of a counter"},
		{"{name: A, block: SQ, event: e, level: B}",
		 "f:2:50: level counter 'B' is not defined before its accumulator"},
		{"{name: A, block: SQ, event: e, instance: -1}",
		 "f:2:53: 'instance' is a whole number from 0 to 65535"},
		{"{name: A, block: SQ, event: e}, {name: A, block: SQ, event: e}",
		 "f:2:44: counter 'A' is defined twice"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct catalog c = {0};
		struct error err = {0};
		struct str text = STR_INIT;
		int rc;

		str_addf(&text, "chips: [toy]\ncounters: [%s]\n", cases[i].text);
		rc = load(&c, str_text(&text), &err);
		assert_true(rc == RC_INVALID || rc == RC_EXISTS);
		assert_string_equal(err.message, cases[i].message);
		str_release(&text);
		catalog_release(&c);
	}
}

static void test_chips_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "f:1:1: the file is empty"},
		{"[]", "f:1:1: the file is no mapping of keys to values"},
		{"chip: x\n", "f:1:1: a chip file without the key 'title'"},
		{"chip: x\ntitle: t\nvendor: v\nsource: s\nblocks:\n"
		 "  - {name: A, slots: 0, reference: r, confidence: measured}\n",
		 "f:6:22: 'slots' is a whole number from 1 to 1024"},
		{"chip: x\ntitle: t\nvendor: v\nsource: s\nblocks:\n"
		 "  - {name: A, slots: 1, reference: r, confidence: sure}\n",
		 "f:6:51: 'confidence' is one of measured, vendor source, inferred"},
		{"chip: x\ntitle: t\nvendor: v\nsource: s\nblocks:\n"
		 "  - {name: A, slots: 1, scope: all, reference: r, confidence: measured}\n",
		 "f:6:32: 'scope' is one of per-GPU, per-XCC, per-SE, per-SE/SA, per-AID, per-WGP, "
		 "thread"},
		{"chip: x\ntitle: t\nvendor: v\nsource: s\nconstants: [{name: a, value: one}]\n",
		 "f:5:30: 'value' is a number"},
		{"chip: x\ntitle: t\nvendor: v\nsource: s\nconstants: [{name: a, value: 1}, {name: "
		 "a, "
		 "value: 1}]\n",
		 "f:5:34: constant 'a' is defined twice"},
		{"\xff", "f: byte 0: invalid leading UTF-8 octet"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct catalog c = {0};
		struct error err = {0};

		assert_int_not_equal(
			catalog_load_chip_text(&c, "f", cases[i].text, strlen(cases[i].text), &err),
			0);
		assert_string_equal(err.message, cases[i].message);
		catalog_release(&c);
	}
}

static int resolve_bp(struct catalog *c, const char *name, uint32_t *index_out, void *data,
		      struct error *err)
{
	struct counter k = {.name = name, .block = BLOCK_NONE, .instance = -1, .level = UINT32_MAX};

	(void)data;
	if (!strcmp(name, "cycles"))
		return error_set(err, RC_PERMISSION, "not permitted, ask root");
	if (strncmp(name, "bp:", 3))
		return error_set(err, RC_NOT_FOUND, "no");
	return catalog_add_counter(c, &k, index_out, err);
}

/* On the machine at hand what cannot be counted is left out with its reason. */
static void test_machine(void **state)
{
	static const char text[] =
		"chips: [cpu]\n"
		"metrics:\n"
		"  - {name: used, expression: task-clock / $duration_ns}\n"
		"  - {name: ipc, id: \"1.1\", expression: instructions / cycles}\n"
		"  - {name: speed, expression: cycles / task-clock}\n"
		"  - {name: calls, expression: bp:f / task-clock}\n"
		"sets:\n"
		"  - {name: default, metrics: [ipc, used], counters: [cycles]}\n"
		"anchors: [instructions, task-clock]\n";
	struct counter k = {
		.name = "task-clock", .block = BLOCK_NONE, .instance = -1, .level = UINT32_MAX};
	struct catalog c = {.chip = "cpu", .resolve = resolve_bp};
	struct error err = {0};

	(void)state;
	assert_int_equal(catalog_add_counter(&c, &k, NULL, &err), 0);
	if (catalog_load_text(&c, "f", text, strlen(text), &err))
		fail_msg("%s", err.message);
	assert_int_equal(c.metrics.n, 2);
	assert_int_not_equal(catalog_find_metric(&c, "calls"), UINT32_MAX);
	assert_int_equal(c.skipped.n, 3);
	assert_string_equal(c.skipped.items[0].name, "ipc");
	assert_string_equal(c.skipped.items[0].reason,
			    "needs 'instructions', which this machine cannot count");
	assert_string_equal(c.skipped.items[1].reason, "needs 'cycles': not permitted, ask root");
	assert_int_equal(c.sets.items[0].n_metrics, 1);
	assert_int_equal(c.sets.items[0].n_counters, 0);
	assert_int_equal(c.sets.items[0].n_skipped, 2);
	assert_int_equal(c.n_anchors, 1);
	catalog_release(&c);
}

static const char *data_dir(void)
{
	const char *dir = getenv("RETALLY_DATA");

	if (!dir)
		skip();
	return dir;
}

/* Evaluates with every counter at 1, so that each shipped metric has been through the evaluator. */
static struct expr_value one(void *data, const char *name, int instance, size_t row)
{
	(void)data;
	(void)name;
	(void)instance;
	(void)row;
	return (struct expr_value){1, false};
}

static struct expr_value fact(void *data, const char *name, size_t row)
{
	(void)data;
	(void)row;
	assert_true(expr_is_run_fact(name)); /* chip constants were replaced */
	return (struct expr_value){1, false};
}

static size_t four(void *data, const char *name)
{
	(void)data;
	(void)name;
	return 4;
}

static void check_catalog(const struct catalog *c)
{
	struct expr_input in = {.n_rows = 3, .counter = one, .constant = fact, .instances = four};
	struct error err = {0};

	vec_for_each (&c->metrics, m) {
		struct arena arena = {0};
		const struct expr *e;
		struct expr_result r;

		if (expr_parse(&arena, m->name, m->expression, &e, &err))
			fail_msg("%s: %s", c->chip, err.message);
		assert_int_equal(expr_evaluate(e, &in, EXPR_RATIO_OF_SUMS, &r, &err), 0);
		assert_true(m->n_counters > 0 || strchr(m->expression, '$'));
		assert_true(*m->title && *m->unit);
		arena_release(&arena);
	}
	vec_for_each (&c->sets, s)
		assert_true(s->n_metrics + s->n_counters + s->n_skipped > 0);
}

static void test_every_chip(void **state)
{
	const char *dir = data_dir();
	struct catalog_chip *chips;
	struct arena arena = {0};
	struct error err = {0};
	size_t n;

	(void)state;
	if (catalog_list_chips(&arena, dir, &chips, &n, &err))
		fail_msg("%s", err.message);
	assert_int_equal(n, 12);
	for (size_t i = 0; i < n; i++) {
		struct catalog c = {0};

		if (catalog_load_chip(&c, dir, chips[i].name, &err))
			fail_msg("%s", err.message);
		assert_string_equal(c.chip, chips[i].name);
		assert_true(c.blocks.n > (strcmp(c.chip, "sim") ? 10u : 3u));
		vec_for_each (&c.blocks, b)
			assert_true(*b->reference && *b->confidence);
		assert_true(c.metrics.n > 0 && catalog_find_set(&c, "default") != UINT32_MAX);
		assert_int_equal(c.n_anchors, 2);
		check_catalog(&c);
		catalog_release(&c);
	}
	arena_release(&arena);
}

static void test_cpu(void **state)
{
	static const char *const names[] = {
		"task-clock",           "page-faults",      "major-faults",
		"context-switches",     "cycles",           "cpu-migrations",
		"instructions",         "branches",         "branch-misses",
		"cache-misses",         "cache-references", "cpu/slots/",
		"cpu/topdown-retiring/"};
	static const char *const sets[] = {"default", "full",   "cache",  "branch",
					   "tlb",     "memory", "topdown"};
	struct catalog c = {.chip = "cpu"};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct counter k = {
			.name = names[i], .block = BLOCK_NONE, .instance = -1, .level = UINT32_MAX};

		assert_int_equal(catalog_add_counter(&c, &k, NULL, &err), 0);
	}
	if (catalog_load_metrics_for(&c, data_dir(), "cpu", &err))
		fail_msg("%s", err.message);
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		assert_int_not_equal(catalog_find_set(&c, sets[i]), UINT32_MAX);
	assert_int_not_equal(catalog_find_metric(&c, "ipc"), UINT32_MAX);
	assert_int_not_equal(catalog_find_metric(&c, "topdown_retiring"), UINT32_MAX);
	assert_int_equal(catalog_find_metric(&c, "dtlb_mpki"), UINT32_MAX);
	assert_true(c.skipped.n > 0);
	check_catalog(&c);
	catalog_release(&c);
}

static void test_unknown_chip(void **state)
{
	struct catalog c = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(catalog_load_chip(&c, data_dir(), "gfx90", &err), RC_NOT_FOUND);
	assert_non_null(strstr(err.message, "; did you mean 'gfx90"));
	catalog_release(&c);
	assert_int_equal(catalog_load_chip(&c, "/nonexistent", "gfx90", &err), RC_NOT_FOUND);
	catalog_release(&c);
	assert_int_equal(catalog_load_file(&c, "/nonexistent.yaml", &err), RC_NOT_FOUND);
	assert_int_equal(catalog_load_file(&c, "/dev/null", &err), RC_INVALID);
	catalog_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meaning),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_counters_refused),
		cmocka_unit_test(test_chips_refused),
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_every_chip),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_unknown_chip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
