/* SPDX-License-Identifier: Apache-2.0 */
/* Plan: round trips of a fixed plan and of seeded random ones, the very bytes, and the file. */
#include "plan_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void assert_same_indices(uint32_t n, const uint32_t *a, const uint32_t *b)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(a[i], b[i]);
}

static void assert_same_plan(const struct plan *a, const struct plan *b)
{
	assert_string_equal(a->hash, b->hash);
	assert_string_equal(a->chip, b->chip);
	assert_string_equal(a->selection, b->selection);
	assert_int_equal(a->lower_bound, b->lower_bound);
	assert_int_equal(a->proven, b->proven);
	assert_true(a->nodes == b->nodes);
	assert_int_equal(a->n_counters, b->n_counters);
	for (uint32_t i = 0; i < a->n_counters; i++) {
		assert_string_equal(a->counters[i].name, b->counters[i].name);
		assert_string_equal(a->counters[i].source, b->counters[i].source);
		assert_string_equal(a->counters[i].block, b->counters[i].block);
		assert_string_equal(a->counters[i].unit, b->counters[i].unit);
		assert_string_equal(a->counters[i].config, b->counters[i].config);
		assert_int_equal(a->counters[i].flags, b->counters[i].flags);
	}
	assert_int_equal(a->n_passes, b->n_passes);
	for (uint32_t i = 0; i < a->n_passes; i++) {
		assert_int_equal(a->passes[i].n_counters, b->passes[i].n_counters);
		assert_same_indices(a->passes[i].n_counters, a->passes[i].counters,
				    b->passes[i].counters);
		assert_string_equal(a->passes[i].reason, b->passes[i].reason);
		assert_string_equal(a->passes[i].config, b->passes[i].config);
	}
	assert_int_equal(a->n_live, b->n_live);
	for (uint32_t i = 0; i < a->n_live; i++) {
		assert_int_equal(a->live[i].pass, b->live[i].pass);
		assert_int_equal(a->live[i].group.n_counters, b->live[i].group.n_counters);
		assert_same_indices(a->live[i].group.n_counters, a->live[i].group.counters,
				    b->live[i].group.counters);
		assert_string_equal(a->live[i].group.config, b->live[i].group.config);
	}
	assert_int_equal(a->n_metrics, b->n_metrics);
	for (uint32_t i = 0; i < a->n_metrics; i++) {
		assert_string_equal(a->metrics[i].name, b->metrics[i].name);
		assert_string_equal(a->metrics[i].title, b->metrics[i].title);
		assert_string_equal(a->metrics[i].unit, b->metrics[i].unit);
		assert_string_equal(a->metrics[i].expression, b->metrics[i].expression);
		assert_int_equal(a->metrics[i].n_counters, b->metrics[i].n_counters);
		assert_same_indices(a->metrics[i].n_counters, a->metrics[i].counters,
				    b->metrics[i].counters);
		assert_int_equal(a->metrics[i].pass, b->metrics[i].pass);
	}
	assert_int_equal(a->n_dropped, b->n_dropped);
	for (uint32_t i = 0; i < a->n_dropped; i++) {
		assert_string_equal(a->dropped[i].name, b->dropped[i].name);
		assert_string_equal(a->dropped[i].reason, b->dropped[i].reason);
	}
}

/* There and back; the second encoding has the bytes of the first. */
static void assert_round_trip(struct plan *plan)
{
	struct str first = STR_INIT, second = STR_INIT;
	struct error err = {0};
	struct plan copy;

	assert_int_equal(plan_encode(plan, &first, &err), 0);
	assert_int_equal(plan_decode(&copy, "copy", first.text, first.size, &err), 0);
	assert_string_equal(err.message, "");
	assert_same_plan(plan, &copy);
	assert_int_equal(plan_encode(&copy, &second, &err), 0);
	assert_int_equal(first.size, second.size);
	assert_string_equal(first.text, second.text);
	plan_release(&copy);
	str_release(&first);
	str_release(&second);
}

static void test_round_trip(void **state)
{
	struct plan plan = fixture_plan(), empty = {.chip = "", .selection = ""};

	(void)state;
	assert_round_trip(&plan);
	plan.n_live = 0;
	assert_round_trip(&plan);
	assert_round_trip(&empty);
}

/* Passes, and behind them the live groups. */
static void test_counted(void **state)
{
	struct plan plan = fixture_plan();
	uint32_t pass = 0;

	(void)state;
	assert_null(plan_counted(&plan, 0, &pass));
	assert_ptr_equal(plan_counted(&plan, 2, &pass), &plan.passes[1]);
	assert_int_equal(pass, 2);
	assert_ptr_equal(plan_counted(&plan, 3, &pass), &plan.live[0].group);
	assert_int_equal(pass, 2);
	assert_ptr_equal(plan_counted(&plan, 4, &pass), &plan.live[1].group);
	assert_int_equal(pass, 1);
	assert_null(plan_counted(&plan, 5, NULL));
	assert_null(plan_counted(&plan, UINT32_MAX, NULL));
}

/* The format, byte for byte. A change here is a change of PLAN_VERSION. */
static void test_bytes(void **state)
{
	static const char want[] = "{\n"
				   "  \"format\": \"retally-plan\",\n"
				   "  \"version\": 1,\n"
				   "  \"chip\": \"c\",\n"
				   "  \"selection\": \"-e x\",\n"
				   "  \"lower_bound\": 1,\n"
				   "  \"proven\": false,\n"
				   "  \"nodes\": 18446744073709551615,\n"
				   "  \"counters\": [\n"
				   "    {\n"
				   "      \"name\": \"x\",\n"
				   "      \"source\": \"sim\",\n"
				   "      \"block\": \"b\",\n"
				   "      \"unit\": \"count\",\n"
				   "      \"flags\": [\n"
				   "        \"anchor\",\n"
				   "        \"level\"\n"
				   "      ],\n"
				   "      \"config\": \"k=1\"\n"
				   "    }\n"
				   "  ],\n"
				   "  \"passes\": [\n"
				   "    {\n"
				   "      \"pass\": 1,\n"
				   "      \"counters\": [\n"
				   "        0\n"
				   "      ],\n"
				   "      \"reason\": \"\",\n"
				   "      \"config\": \"\"\n"
				   "    }\n"
				   "  ],\n"
				   "  \"metrics\": [],\n"
				   "  \"dropped\": [],\n"
				   "  \"hash\": \"";
	static const uint32_t zero = 0;
	struct plan_counter counter = {
		"x", "sim", "b", "count", PLAN_COUNTER_ANCHOR | PLAN_COUNTER_LEVEL, "k=1"};
	struct plan_pass pass = {1, &zero, "", ""};
	struct plan plan = {.chip = "c",
			    .selection = "-e x",
			    .lower_bound = 1,
			    .nodes = UINT64_MAX,
			    .n_counters = 1,
			    .counters = &counter,
			    .n_passes = 1,
			    .passes = &pass};
	struct str text = STR_INIT, sealed = STR_INIT;

	(void)state;
	str_add(&text, "kept: "); /* encoding appends, and hashes only what is its own */
	assert_int_equal(plan_encode(&plan, &text, NULL), 0);
	assert_memory_equal(text.text, "kept: ", 6);
	assert_memory_equal(text.text + 6, want, sizeof(want) - 1);
	str_add_bytes(&sealed, want, sizeof(want) - 1 - strlen("\"hash\": \""));
	fixture_seal(&sealed);
	assert_string_equal(text.text + 6, sealed.text);
	assert_int_equal(strlen(plan.hash), 32);
	assert_non_null(strstr(text.text, plan.hash));
	str_release(&text);
	str_release(&sealed);
}

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return n ? (uint32_t)(random_state >> 33) % n : 0;
}

static const char *random_text(struct arena *arena, bool may_be_empty)
{
	static const char *const pieces[] = {
		"a", "Z", "9", ":",    "\"",   "\\",       "\n",   "\xc3\xa9",
		"/", "{", " ", "\x01", "hash", "\"hash\"", "\x7f", "\xf0\x9f\x98\x80"};
	struct str text = STR_INIT;
	uint32_t n = random_below(6) + !may_be_empty;
	char *copy;

	while (n--)
		str_add(&text, pieces[random_below(sizeof(pieces) / sizeof(*pieces))]);
	copy = arena_strdup(arena, str_text(&text));
	str_release(&text);
	return copy;
}

static uint32_t random_subset(struct arena *arena, uint32_t n, const uint32_t *of,
			      const uint32_t **out)
{
	uint32_t *items = arena_array(arena, n + 1, sizeof(*items)), k = 0;

	for (uint32_t i = 0; i < n; i++)
		if (random_below(2))
			items[k++] = of ? of[i] : i;
	*out = items;
	return k;
}

static struct plan random_plan(struct arena *a)
{
	struct plan p = {.n_counters = random_below(20), .n_passes = random_below(6)};

	p.chip = random_text(a, true);
	p.selection = random_text(a, true);
	p.lower_bound = random_below(p.n_passes + 1);
	p.proven = random_below(2);
	p.nodes = (uint64_t)random_below(1u << 31) << random_below(34);
	p.counters = arena_array(a, p.n_counters, sizeof(*p.counters));
	for (uint32_t i = 0; i < p.n_counters; i++)
		p.counters[i] = (struct plan_counter){
			.name = random_text(a, false),
			.source = random_text(a, false),
			.block = random_text(a, true),
			.unit = random_text(a, true),
			.flags = random_below(32),
			.config = random_text(a, true),
		};
	p.passes = arena_array(a, p.n_passes, sizeof(*p.passes));
	for (uint32_t i = 0; i < p.n_passes; i++) {
		p.passes[i].n_counters =
			random_subset(a, p.n_counters, NULL, &p.passes[i].counters);
		p.passes[i].reason = random_text(a, true);
		p.passes[i].config = random_text(a, true);
	}
	p.n_metrics = random_below(8);
	p.metrics = arena_array(a, p.n_metrics, sizeof(*p.metrics));
	for (uint32_t i = 0; i < p.n_metrics; i++) {
		struct plan_metric *m = &p.metrics[i];
		const struct plan_pass *in;

		m->pass = random_below(p.n_passes + 1);
		in = m->pass ? &p.passes[m->pass - 1] : NULL;
		m->n_counters = random_subset(a, in ? in->n_counters : p.n_counters,
					      in ? in->counters : NULL, &m->counters);
		m->name = random_text(a, false);
		m->title = random_text(a, true);
		m->unit = random_text(a, true);
		m->expression = random_text(a, true);
	}
	p.n_dropped = random_below(4);
	p.dropped = arena_array(a, p.n_dropped, sizeof(*p.dropped));
	for (uint32_t i = 0; i < p.n_dropped; i++)
		p.dropped[i] = (struct plan_dropped){random_text(a, true), random_text(a, true)};
	return p;
}

static void test_random_plans(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct arena arena = {0};
		struct plan plan;

		random_state = seed;
		plan = random_plan(&arena);
		assert_round_trip(&plan);
		arena_release(&arena);
	}
}

/* What the format cannot hold truly is refused, not changed. */
static void test_encode_refuses(void **state)
{
	static const uint32_t bad_index[] = {0, 3}, bad_order[] = {1, 0}, twice[] = {1, 1};
	struct str out = STR_INIT;
	struct plan_counter counter = {"x", "sim", "", "", 0, "path=/\xff"};
	struct plan_pass passes[2] = {fixture_passes[0], fixture_passes[1]};
	struct plan_metric metric = fixture_metrics[0];
	struct error err = {0};
	struct plan plan;

	(void)state;
	plan = fixture_plan();
	plan.passes = passes;
	passes[1].counters = bad_index;
	assert_int_equal(plan_encode(&plan, &out, &err), RC_INVALID);
	assert_string_equal(err.message, "plan: pass 2 refers to counter 3, but there are 3");
	passes[1].counters = bad_order;
	assert_int_equal(plan_encode(&plan, &out, &err), RC_INVALID);
	passes[1].counters = twice;
	assert_int_equal(plan_encode(&plan, &out, &err), RC_INVALID);
	assert_string_equal(err.message, "plan: the counters of pass 2 are not in ascending order");

	plan = fixture_plan();
	plan.n_metrics = 1;
	plan.metrics = &metric;
	metric.pass = 3;
	assert_int_equal(plan_encode(&plan, &out, &err), RC_INVALID);
	assert_string_equal(err.message, "plan: metric 'calls' is in pass 3, but there are 2");
	metric.pass = 2; /* bp:main is in pass 1 only */
	assert_int_equal(plan_encode(&plan, &out, &err), RC_INVALID);
	assert_non_null(strstr(err.message, "'calls' is not complete in pass 2"));

	plan = (struct plan){.n_counters = 1, .counters = &counter};
	assert_int_equal(plan_encode(&plan, &out, &err), RC_INVALID);
	assert_non_null(strstr(err.message, "not UTF-8"));
	counter.config = "";
	counter.flags = 32;
	assert_int_equal(plan_encode(&plan, &out, &err), RC_INVALID);
	counter.flags = 0;
	counter.name = "";
	assert_int_equal(plan_encode(&plan, &out, &err), RC_INVALID);
	plan = fixture_plan();
	plan.lower_bound = 3;
	assert_int_equal(plan_encode(&plan, &out, &err), RC_INVALID);
	assert_int_equal(out.size, 0);
	str_release(&out);
}

static void test_file(void **state)
{
	char dir[] = "/tmp/retally-plan.XXXXXX", path[64], missing[64];
	struct plan plan = fixture_plan(), copy;
	struct error err = {0};
	struct dirent *entry;
	struct stat st;
	int n = 0;
	FILE *f;
	DIR *d;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/plan.json", dir);
	snprintf(missing, sizeof(missing), "%s/no/plan.json", dir);
	assert_int_equal(plan_read_file(&copy, path, &err), RC_NOT_FOUND);
	assert_int_equal(plan_read_file(&copy, dir, &err), RC_INVALID);
	assert_non_null(strstr(err.message, dir));
	/* A FIFO without a writer must not be waited for. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(plan_read_file(&copy, path, &err), RC_INVALID);
	assert_non_null(strstr(err.message, "not a regular file"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(plan_write_file(&plan, missing, &err), RC_NOT_FOUND);
	assert_int_equal(plan_write_file(&plan, path, &err), 0);
	assert_int_equal(plan_write_file(&plan, path, &err), 0); /* over an older one */
	assert_int_equal(plan_read_file(&copy, path, &err), 0);
	assert_same_plan(&plan, &copy);
	plan_release(&copy);
	assert_int_equal(copy.n_counters, 0);
	plan_release(&copy); /* twice is fine */

	/* Edited by hand: still JSON, but not what was written. */
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(fseek(f, st.st_size - 46, SEEK_SET), 0);
	assert_int_equal(fputs("\n", f) < 0, 0);
	fclose(f);
	assert_int_equal(plan_read_file(&copy, path, &err), RC_CORRUPT);
	assert_non_null(strstr(err.message, path));
	assert_non_null(strstr(err.message, "was edited or damaged after it was written"));

	assert_int_equal(truncate(path, PLAN_FILE_SIZE_MAX + 1), 0);
	assert_int_equal(plan_read_file(&copy, path, &err), RC_INVALID);
	assert_non_null(strstr(err.message, "larger than"));
	d = opendir(dir);
	while ((entry = readdir(d)))
		n += entry->d_name[0] != '.';
	closedir(d);
	assert_int_equal(n, 1); /* no temporary file is left */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_counted),
		cmocka_unit_test(test_bytes),          cmocka_unit_test(test_random_plans),
		cmocka_unit_test(test_encode_refuses), cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
