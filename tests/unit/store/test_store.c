/* SPDX-License-Identifier: Apache-2.0 */
/* The store: what it reads, in which order, and what it says about bad, missing and foreign files.
 */
#include "../test.h"
#include "base/str.h"
#include "run_dir.h"
#include "store/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct store *open_store(struct run_dir *d)
{
	struct error err = {0};
	struct store *s = NULL;
	int rc = store_open(&s, d->path, &err);

	if (rc)
		fail_msg("store_open: %s", err.message);
	return s;
}

static int dump_row(void *data, const struct store_row *r, struct error *err)
{
	struct str *out = data;

	(void)err;
	str_addf(out, "%u/%llu rank %d k%u:", r->run->pass, (unsigned long long)r->dispatch,
		 r->run->spool->rank, r->kernel);
	for (size_t i = 0; i < r->n_values; i++) {
		const struct store_value *v = &r->values[i];

		if (!v->recorded)
			str_add(out, " -");
		else if (v->status != SAMPLE_OK)
			str_addf(out, " !%u", v->status);
		else if (v->kind == SAMPLE_U64)
			str_addf(out, " %llu", (unsigned long long)v->value.u64);
		else
			str_addf(out, " %.17g", v->value.f64);
	}
	for (size_t i = 0; i < r->n_instances; i++)
		str_addf(out, " [%u.%u]", r->instances[i].counter, r->instances[i].instance);
	str_add(out, "\n");
	return 0;
}

/* Everything a report could see, as text. */
static char *dump(struct run_dir *d)
{
	struct store *s = open_store(d);
	struct store_scan all = {.pass = STORE_ALL_PASSES};
	const struct store_finding *findings;
	const struct store_kernel *kernels;
	struct str out = STR_INIT;
	struct error err = {0};
	size_t n;

	if (store_scan(s, &all, dump_row, &out, &err))
		fail_msg("store_scan: %s", err.message);
	kernels = store_kernels(s, &n);
	for (size_t i = 0; i < n; i++)
		str_addf(&out, "kernel %s\n", kernels[i].name);
	findings = store_findings(s, &n);
	for (size_t i = 0; i < n; i++) {
		const char *text = strstr(findings[i].text, "spool/");

		str_addf(&out, "%s\n", text ? text : findings[i].text);
	}
	store_close(s);
	return str_take(&out);
}

static void expect_dump(struct run_dir *d, const char *want)
{
	char *got = dump(d);

	assert_string_equal(got, want);
	free(got);
}

static void expect_in_dump(struct run_dir *d, const char *want)
{
	char *got = dump(d);

	if (!strstr(got, want))
		fail_msg("'%s' is not in:\n%s", want, got);
	free(got);
}

static void test_three_passes(void **state)
{
	struct run_dir d;
	struct spool_writer w;

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_spool(&d, &w, "one", -1);
	for (uint32_t k = 1; k <= 3; k++)
		add_small_pass(&w, k, 0);
	finish(&w);
	for (int again = 0; again < 2; again++) /* from the spools, then from the database */
		expect_dump(&d, "1/0 rank -1 k0: 1000 11 21\n"
				"2/0 rank -1 k0: 1000 32\n"
				"3/0 rank -1 k0: 1000 43\n"
				"kernel process\n");
	run_dir_remove(&d);
}

static void test_same_pass_twice_is_two(void **state)
{
	struct run_dir d;
	struct spool_writer w;
	struct store *s;
	size_t n;

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_spool(&d, &w, "one", -1);
	add_small_pass(&w, 2, 0);
	add_small_pass(&w, 2, 5); /* again, in the same process */
	finish(&w);
	free(dump(&d));
	run_dir_spool(&d, &w, "two", -1);
	add_small_pass(&w, 2, 7);
	finish(&w);
	expect_dump(&d, "2/0 rank -1 k0: 1000 32\n"
			"2/0 rank -1 k0: 1005 37\n"
			"2/0 rank -1 k0: 1007 39\n"
			"kernel process\n");
	s = open_store(&d);
	store_runs(s, &n);
	assert_int_equal(n, 3);
	assert_int_equal(store_sample_count(s, 2, STEPS, SAMPLE_OK), 3);
	assert_false(store_pass_has_run(s, 1));
	store_close(s);
	run_dir_remove(&d);
}

/* The same spools, arriving one by one in every order, with a report in between or not. */
static void test_any_order(void **state)
{
	static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					 {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	char *first = NULL;

	(void)state;
	for (int o = 0; o < 12; o++) {
		struct run_dir d;
		char *got;

		run_dir_init(&d, small_plan());
		for (int i = 0; i < 3; i++) {
			int which = orders[o % 6][i];
			char name[16], kernel[16];
			struct spool_writer w;

			d.next_start = 1000000000 + (uint64_t)which;
			snprintf(name, sizeof(name), "s%d", which);
			snprintf(kernel, sizeof(kernel), "kernel_%c", 'c' - which);
			run_dir_spool(&d, &w, name, which);
			add_kernel(&w, 1, kernel);
			add_begin(&w, 1, 3);
			for (uint64_t n = 0; n < 3; n++) {
				struct spool_sample v = SAMPLE_U(CYCLES, n + (uint64_t)which);

				add_dispatch(&w, 1, n, 1, SPOOL_UNIT_DISPATCH);
				add_samples(&w, 1, n, &v, 1);
			}
			add_note(&w, 1, SPOOL_NOTE_FINDING, kernel);
			finish(&w);
			if (o >= 6)
				free(dump(&d));
		}
		got = dump(&d);
		run_dir_remove(&d);
		if (!first) {
			first = got;
			continue;
		}
		assert_string_equal(got, first);
		free(got);
	}
	free(first);
}

static void test_statuses_and_instances(void **state)
{
	struct run_dir d;
	struct spool_writer w;
	struct spool_sample a[] = {SAMPLE_U(CYCLES, 7), SAMPLE_U(INSTRUCTIONS, 0)};
	struct spool_sample b[] = {SAMPLE_U(BRANCHES, 3), SAMPLE_U(BRANCHES, 4)};
	struct store *s;
	struct str why = STR_INIT;

	(void)state;
	a[1].status = SAMPLE_OVERFLOWED;
	b[0].instance = 0;
	b[1].instance = 1;
	run_dir_init(&d, small_plan());
	run_dir_spool(&d, &w, "one", -1);
	add_begin(&w, 1, 3);
	add_dispatch(&w, 1, 0, 0, SPOOL_UNIT_PROCESS);
	add_samples(&w, 1, 0, a, 2); /* two groups for one dispatch */
	add_samples(&w, 1, 0, b, 2);
	add_end(&w, 1, 0, 0, 0);
	add_begin(&w, 2, 3);
	add_end(&w, 2, -1, 9, 0);
	finish(&w);
	expect_dump(&d, "1/0 rank -1 k0: 7 !2 7 [2.0] [2.1]\nkernel process\n");
	s = open_store(&d);
	assert_true(store_why_missing(s, INSTRUCTIONS, &why));
	assert_string_equal(str_text(&why), "overflowed in pass 1");
	str_clear(&why);
	assert_true(store_why_missing(s, STEPS, &why));
	assert_string_equal(str_text(&why),
			    "the program was killed in pass 2 by signal 9 (SIGKILL)");
	str_clear(&why);
	assert_true(store_why_missing(s, BYTES, &why));
	assert_string_equal(str_text(&why), "pass 3 was not run");
	assert_false(store_why_missing(s, BRANCHES, &why));
	str_release(&why);
	store_close(s);
	run_dir_remove(&d);
}

/* A rank that was ended at the time limit: what it had counted is no value, and its pass counts
 * only when that rank, and not just another one, has come to its end. */
static void test_time_limit(void **state)
{
	struct run_dir d;
	struct spool_writer w;
	struct spool_sample cut[] = {SAMPLE_U(CYCLES, 1000), SAMPLE_U(STEPS, 3)};
	struct str text = STR_INIT;
	struct store *s;

	(void)state;
	cut[0].status = cut[1].status = SAMPLE_INCOMPLETE;
	run_dir_init(&d, small_plan());
	run_dir_write_run_json(&d);
	run_dir_spool(&d, &w, "zero", 0);
	add_small_pass(&w, 1, 0);
	add_small_pass(&w, 2, 0);
	finish(&w);
	run_dir_spool(&d, &w, "one", 1);
	add_small_pass(&w, 1, 0);
	add_begin(&w, 2, 3);
	add_dispatch(&w, 2, 0, 0, SPOOL_UNIT_PROCESS);
	add_samples(&w, 2, 0, cut, 2);
	add_end(&w, 2, -1, 9, SPOOL_PASS_TIMED_OUT);
	finish(&w);
	free(dump(&d));
	s = open_store(&d);
	assert_true(store_pass_is_complete(s, 1));
	assert_true(store_pass_has_run(s, 2));
	assert_false(store_pass_is_complete(s, 2));
	assert_false(store_pass_is_complete(s, 3));
	assert_int_equal(store_sample_count(s, 2, STEPS, SAMPLE_OK), 1);
	assert_int_equal(store_sample_count(s, 2, STEPS, SAMPLE_INCOMPLETE), 1);
	assert_int_equal(store_summary(s, &text, NULL), 0);
	assert_non_null(strstr(str_text(&text), ": 1 of 3 passes, "));
	assert_non_null(strstr(str_text(&text), " --pass 2 "));
	str_clear(&text);
	store_close(s);
	run_dir_spool(&d, &w, "again", 1);
	add_small_pass(&w, 2, 0);
	finish(&w);
	s = open_store(&d);
	assert_true(store_pass_is_complete(s, 2));
	assert_int_equal(store_summary(s, &text, NULL), 0);
	assert_non_null(strstr(str_text(&text), ": 2 of 3 passes, "));
	str_release(&text);
	store_close(s);
	run_dir_remove(&d);

	run_dir_init(&d, small_plan()); /* and of one process: why there is nothing */
	run_dir_spool(&d, &w, "alone", -1);
	add_begin(&w, 2, 3);
	add_dispatch(&w, 2, 0, 0, SPOOL_UNIT_PROCESS);
	add_samples(&w, 2, 0, cut, 2);
	add_end(&w, 2, -1, 9, SPOOL_PASS_TIMED_OUT);
	finish(&w);
	s = open_store(&d);
	assert_true(store_why_missing(s, STEPS, &text));
	assert_string_equal(str_text(&text), "cut off at the time limit in pass 2");
	str_release(&text);
	store_close(s);
	run_dir_remove(&d);
}

static void test_big_and_bad_numbers(void **state)
{
	struct run_dir d;
	struct spool_writer w;
	struct spool_sample a[] = {SAMPLE_U(CYCLES, UINT64_MAX), SAMPLE_U(INSTRUCTIONS, 0),
				   SAMPLE_U(BRANCHES, INT64_MAX)};

	(void)state;
	a[1].kind = SAMPLE_F64;
	a[1].value.f64 = nan("");
	run_dir_init(&d, small_plan());
	run_dir_spool(&d, &w, "one", -1);
	add_begin(&w, 1, 3);
	add_dispatch(&w, 1, UINT64_MAX, 0, SPOOL_UNIT_PROCESS);
	add_samples(&w, 1, UINT64_MAX, a, 3);
	finish(&w);
	expect_dump(&d, "1/18446744073709551615 rank -1 k0: 1.8446744073709552e+19 !1 "
			"9223372036854775807\nkernel process\n"
			"spool/one.rts: a sample of 'instructions' in pass 1 has no meaning "
			"(status 0, kind 1)\n");
	run_dir_remove(&d);
}

static void test_records_that_lie(void **state)
{
	static const char *const sentences[] = {
		"spool/bad.rts: a record is about pass 9; the plan has 3 (and 2 more like it)",
		"spool/bad.rts: pass 1 was written for a plan of 7 passes; this one has 3",
		"spool/bad.rts: pass 2 ends without having begun",
		"spool/bad.rts: dispatch 0 of pass 1 is of kernel number 77, which no record names",
		"spool/bad.rts: kernel number 1 gets a second name",
		"spool/bad.rts: dispatch 5 of pass 1 is of an unknown kind (9)",
		"spool/bad.rts: a sample of pass 1 is of counter number 99; the plan has 5",
		("spool/bad.rts: a sample of pass 1 is of counter 'bp:step', which that pass does "
		 "not count"),
		"spool/bad.rts: samples of dispatch 4 of pass 1 come without that dispatch",
		"spool/bad.rts: dispatch 0 of pass 1 has 'cycles' twice; the first is used",
		"1/0 rank -1 k1: 1 - -",
		"kernel (unknown kernel)",
		("spool/bad.rts: a sample of 'branches' in pass 1 has no meaning (status 200, kind "
		 "0)"),
	};
	struct run_dir d;
	struct spool_writer w;
	struct spool_sample a[] = {SAMPLE_U(CYCLES, 1), SAMPLE_U(99, 1), SAMPLE_U(STEPS, 1),
				   SAMPLE_U(CYCLES, 2)};
	struct spool_sample odd = SAMPLE_U(BRANCHES, 2);

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_spool(&d, &w, "bad", -1);
	add_begin(&w, 9, 3);
	add_end(&w, 7, 0, 0, 0);
	add_begin(&w, 1, 7);
	add_end(&w, 2, 0, 0, 0);
	add_kernel(&w, 1, "a");
	add_kernel(&w, 1, "b");
	add_dispatch(&w, 1, 0, 77, SPOOL_UNIT_DISPATCH);
	add_dispatch(&w, 4, 0, 1, SPOOL_UNIT_DISPATCH);
	add_dispatch(&w, 1, 5, 1, 9);
	add_samples(&w, 1, 0, a, 4);
	add_samples(&w, 1, 4, a, 1);
	odd.status = 200;
	add_dispatch(&w, 1, 1, 1, SPOOL_UNIT_DISPATCH);
	add_samples(&w, 1, 1, &odd, 1);
	finish(&w);
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++)
		expect_in_dump(&d, sentences[i]);
	run_dir_remove(&d);
}

static void test_torn_and_damaged(void **state)
{
	struct run_dir d;
	struct spool_writer w;
	long size;

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_spool(&d, &w, "one", -1);
	add_small_pass(&w, 1, 0);
	finish(&w);
	size = run_dir_file_size(&d, "spool/one.rts");
	run_dir_truncate(&d, "spool/one.rts", size - 8);
	expect_in_dump(&d, "1/0 rank -1 k0: 1000 11 21\n");
	expect_in_dump(&d, "spool/one.rts: ends within a record (its process was killed)");
	run_dir_remove(&d);

	run_dir_init(&d, small_plan());
	run_dir_spool(&d, &w, "one", -1);
	add_small_pass(&w, 1, 0);
	size = (long)w.offset;
	add_small_pass(&w, 2, 0);
	add_small_pass(&w, 3, 0);
	finish(&w);
	run_dir_flip_byte(&d, "spool/one.rts", size + 20);
	expect_in_dump(&d, "1/0 rank -1 k0: 1000 11 21\nkernel process\nspool/one.rts");
	expect_in_dump(&d, "what precedes it is used");
	run_dir_flip_byte(&d, "spool/one.rts", 3); /* now the header is bad, too */
	expect_in_dump(&d, "spool/one.rts: not a spool file");
	run_dir_remove(&d);
}

static void test_foreign_spools(void **state)
{
	struct run_dir d;
	struct spool_writer w;
	struct spool_header h;

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_write_run_json(&d);
	run_dir_spool(&d, &w, "mine", -1);
	add_small_pass(&w, 1, 0);
	finish(&w);
	h = run_dir_header(&d, -1);
	memset(h.plan_hash, 'f', 32);
	run_dir_spool_of(&d, &w, "plan", &h);
	add_small_pass(&w, 2, 0);
	finish(&w);
	h = run_dir_header(&d, -1);
	memset(h.collection, 'e', 32);
	run_dir_spool_of(&d, &w, "collection", &h);
	add_small_pass(&w, 2, 0);
	finish(&w);
	expect_in_dump(&d, "1/0 rank -1 k0: 1000 11 21\nkernel process\n");
	expect_in_dump(&d,
		       "spool/plan.rts: left out: it was made with plan ffffffffffff, plan.json "
		       "here is ");
	expect_in_dump(&d,
		       "spool/collection.rts: left out: its plan is the same, but the command or "
		       "the filters differ (collection eeeeeeeeeeee, here 0123456789ab)");
	run_dir_remove(&d);
}

/* Pass 1 in a.rts and pass 2 in b.rts, both in the database. */
static void two_spools_read(struct run_dir *d)
{
	struct spool_writer w;

	run_dir_init(d, small_plan());
	run_dir_spool(d, &w, "a", -1);
	add_small_pass(&w, 1, 0);
	finish(&w);
	run_dir_spool(d, &w, "b", -1);
	add_small_pass(&w, 2, 0);
	finish(&w);
	free(dump(d));
}

static void test_changed_and_gone(void **state)
{
	struct run_dir d;
	struct spool_writer w;
	char path[400], aside[400];

	(void)state;
	two_spools_read(&d);
	snprintf(path, sizeof(path), "%s/spool/a.rts", d.path);
	snprintf(aside, sizeof(aside), "%s/aside", d.path);
	assert_int_equal(rename(path, aside), 0);
	expect_dump(&d, "1/0 rank -1 k0: 1000 11 21\n2/0 rank -1 k0: 1000 32\nkernel process\n"
			"spool/a.rts: the file is gone; its values come from retally.db\n");
	assert_int_equal(rename(aside, path), 0);
	expect_dump(&d, "1/0 rank -1 k0: 1000 11 21\n2/0 rank -1 k0: 1000 32\nkernel process\n");
	assert_int_equal(unlink(path), 0);
	run_dir_spool(&d, &w, "a", -1); /* the name again, other content */
	add_small_pass(&w, 3, 1);
	finish(&w);
	expect_dump(&d, "2/0 rank -1 k0: 1000 32\n3/0 rank -1 k0: 1001 44\nkernel process\n");
	run_dir_remove(&d);
}

#define UNKNOWN                                                                              \
	"retally.db that is damaged was made again from the spools; values of spools whose " \
	"files are gone, if it has any, are only in the old one, kept as "

static void test_database_damaged(void **state)
{
	struct run_dir d;
	struct spool_writer w;
	char path[400];

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_spool(&d, &w, "a", -1);
	add_small_pass(&w, 1, 0);
	finish(&w);
	run_dir_write(&d, "retally.db", "this is no database, but it is in the way\n");
	run_dir_write(&d, "retally.db.new", "left by an import that was killed\n");
	/* Nobody knows what it had. */
	expect_dump(&d,
		    "1/0 rank -1 k0: 1000 11 21\nkernel process\n" UNKNOWN "retally.db.damaged\n");
	assert_int_equal(run_dir_file_size(&d, "retally.db.damaged"), 42);
	expect_dump(&d, "1/0 rank -1 k0: 1000 11 21\nkernel process\n");
	run_dir_truncate(&d, "retally.db", 20000);
	expect_dump(&d, "1/0 rank -1 k0: 1000 11 21\nkernel process\n" UNKNOWN
			"retally.db.damaged.2\n");
	assert_int_equal(run_dir_file_size(&d, "retally.db.damaged"), 42);
	assert_int_equal(run_dir_file_size(&d, "retally.db.damaged.2"), 20000);
	/* A folder in the way of the import: nothing is replaced, and one other name is enough. */
	run_dir_write(&d, "retally.db", "not again\n");
	snprintf(path, sizeof(path), "%s/retally.db.new", d.path);
	assert_int_equal(mkdir(path, 0777), 0);
	for (int i = 0; i < 2; i++)
		expect_in_dump(&d, UNKNOWN "retally.db.damaged.3\n");
	assert_int_equal(run_dir_file_size(&d, "retally.db"), 10);
	run_dir_remove(&d);
}

/* Pages of values are damaged, and not all of them can be made again: what is left is shown. */
static void test_database_damaged_within(void **state)
{
	struct run_dir d;
	struct spool_writer w;
	char path[400];
	long size;

	(void)state;
	run_dir_init(&d, small_plan());
	for (uint32_t i = 0; i < 2; i++) {
		run_dir_spool(&d, &w, i ? "b" : "a", -1);
		add_small_pass(&w, 1 + i, 0);
		finish(&w);
	}
	free(dump(&d));
	size = run_dir_file_size(&d, "retally.db");
	snprintf(path, sizeof(path), "%s/spool/a.rts", d.path);
	assert_int_equal(unlink(path), 0);
	for (long at = 3; at < 2000; at++) /* the last page is of a table of values */
		run_dir_flip_byte(&d, "retally.db", size - 16384 + at);
	expect_in_dump(&d, "2/0 rank -1 k0: 1000 32\nkernel process\n"
			   "spool/a.rts'), whose files are gone, are only in the old one, kept as "
			   "retally.db.damaged\n");
	assert_int_equal(run_dir_file_size(&d, "retally.db.damaged"), size);
	run_dir_remove(&d);
}

/* A spool that was read and was emptied, or damaged where it begins, since. */
static void test_spool_unreadable_later(void **state)
{
	struct run_dir d;

	(void)state;
	two_spools_read(&d);
	run_dir_flip_byte(&d, "spool/a.rts", 3);
	for (int i = 0; i < 2; i++)
		expect_dump(&d,
			    "1/0 rank -1 k0: 1000 11 21\n2/0 rank -1 k0: 1000 32\nkernel process\n"
			    "spool/a.rts: not a spool file; its values come from retally.db\n");
	run_dir_flip_byte(&d, "spool/a.rts", 3);
	expect_dump(&d, "1/0 rank -1 k0: 1000 11 21\n2/0 rank -1 k0: 1000 32\nkernel process\n");
	run_dir_truncate(&d, "spool/a.rts", 0);
	expect_in_dump(&d, "1/0 rank -1 k0: 1000 11 21\n2/0 rank -1 k0: 1000 32\n");
	expect_in_dump(&d, "spool/a.rts: no spool header; ");
	/* It is not there to make a database again either. */
	run_dir_write(&d, "retally.db", "damaged\n");
	expect_in_dump(&d, UNKNOWN "retally.db.damaged\n");
	run_dir_remove(&d);
}

/* What cannot be made again is not replaced. */
static void test_database_damaged_without_spools(void **state)
{
	struct run_dir d;
	struct store *s = NULL;
	struct error err = {0};
	char path[400], text[64] = "";
	FILE *file;

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_write(&d, "retally.db", "all that is left\n");
	assert_int_not_equal(store_open(&s, d.path, &err), 0);
	assert_null(s);
	assert_non_null(strstr(err.message, "it is left as it is"));
	snprintf(path, sizeof(path), "%s/retally.db", d.path);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, "all that is left\n");
	run_dir_remove(&d);
}

static void test_unwritable_directory(void **state)
{
	struct run_dir d;
	struct spool_writer w;
	char path[400];

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_spool(&d, &w, "a", -1);
	add_small_pass(&w, 1, 0);
	finish(&w);
	/* A folder in the way refuses root, too. */
	snprintf(path, sizeof(path), "%s/retally.db.new", d.path);
	assert_int_equal(mkdir(path, 0777), 0);
	expect_in_dump(&d, "1/0 rank -1 k0: 1000 11 21\n");
	expect_in_dump(&d,
		       "retally.db was not updated, a temporary database was used: cannot write");
	run_dir_remove(&d);
}

static void test_missing_named_in_run_json(void **state)
{
	struct run_dir d;

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_write(&d, "run.json", "{\"version\": 1, \"spools\": [\"x.rts\"]}");
	expect_dump(&d, "spool/x.rts: named in run.json, but the file is missing\n");
	/* A damaged one hides nothing. */
	run_dir_write(&d, "run.json", "{\"version\": 1,");
	expect_in_dump(&d, "run.json is not used, the command is unknown: ");
	run_dir_write(&d, "run.json", "{\"version\": 18446744073709551617}");
	expect_in_dump(&d, "run.json is not used, the command is unknown: ");
	{
		struct error err = {0};
		struct store *s = NULL;

		assert_int_equal(store_open(&s, "/nonexistent/dir", &err), RC_NOT_FOUND);
		assert_int_equal(store_open(&s, "/", &err), RC_NOT_FOUND);
		assert_non_null(strstr(err.message, "is not a run directory"));
	}
	run_dir_remove(&d);
}

static void test_commands(void **state)
{
	static const uint32_t list[] = {1, 3, 4, 6, 7, 8};
	struct run_dir d;
	struct store *s;
	struct str text = STR_INIT, want = STR_INIT;

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_write_run_json(&d);
	s = open_store(&d);
	store_pass_command(s, 2, &text);
	str_addf(&want,
		 "retally run -m ipc,bytes_per_step -e branches --pass 2 -o %s -- /usr/bin/app"
		 " 'two words' 'it'\\''s'",
		 d.path);
	assert_string_equal(str_text(&text), str_text(&want));
	str_clear(&text);
	store_list_passes(list, 6, &text);
	assert_string_equal(str_text(&text), "1, 3, 4, 6-8");
	str_clear(&text);
	assert_int_equal(store_summary(s, &text, NULL), 0);
	assert_non_null(strstr(str_text(&text), "retally: app: 0 of 3 passes, 0 of 5 counters, "
						"0 of 2 metrics\n"));
	assert_non_null(strstr(str_text(&text), "  next: retally run "));
	str_release(&text);
	str_release(&want);
	store_close(s);
	run_dir_remove(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_passes),
		cmocka_unit_test(test_same_pass_twice_is_two),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_statuses_and_instances),
		cmocka_unit_test(test_time_limit),
		cmocka_unit_test(test_big_and_bad_numbers),
		cmocka_unit_test(test_records_that_lie),
		cmocka_unit_test(test_torn_and_damaged),
		cmocka_unit_test(test_foreign_spools),
		cmocka_unit_test(test_changed_and_gone),
		cmocka_unit_test(test_database_damaged),
		cmocka_unit_test(test_database_damaged_within),
		cmocka_unit_test(test_spool_unreadable_later),
		cmocka_unit_test(test_database_damaged_without_spools),
		cmocka_unit_test(test_unwritable_directory),
		cmocka_unit_test(test_missing_named_in_run_json),
		cmocka_unit_test(test_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
