/* SPDX-License-Identifier: Apache-2.0 */
/* Merging: the same rows in any order and grouping, what is refused, named, replaced and resumed.
 */
#include "../test.h"
#include "base/str.h"
#include "run_dir.h"
#include "store/merge.h"
#include "store/merge_files.h"
#include "store/store.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_DIRS 4

static int dump_row(void *data, const struct store_row *r, struct error *err)
{
	struct str *out = data;

	(void)err;
	str_addf(out, "%u/%llu %s %s %d:", r->run->pass, (unsigned long long)r->dispatch,
		 r->run->spool->launch, r->run->spool->file, r->run->spool->rank);
	for (size_t i = 0; i < r->n_values; i++)
		str_addf(out, " %llu", (unsigned long long)r->values[i].value.u64);
	str_add(out, "\n");
	return 0;
}

/* Every row and finding of a directory. */
static char *dump(const char *dir)
{
	struct store_scan all = {.pass = STORE_ALL_PASSES};
	const struct store_finding *findings;
	struct str out = STR_INIT;
	struct error err = {0};
	struct store *s;
	size_t n;

	if (store_open(&s, dir, &err) || store_scan(s, &all, dump_row, &out, &err))
		fail_msg("%s", err.message);
	findings = store_findings(s, &n);
	for (size_t i = 0; i < n; i++)
		str_addf(&out, "%s\n", findings[i].text);
	str_addf(&out, "created %s\n", store_info(s)->created ? store_info(s)->created : "-");
	store_close(s);
	return str_take(&out);
}

struct set {
	struct run_dir dirs[N_DIRS];
	char out[300], other[300];
};

static void write_run(struct run_dir *d, const char *created, const char *collection,
		      const char *command, const char *filters)
{
	char text[600];

	snprintf(text, sizeof(text),
		 "{\"format\": \"retally run\", \"version\": 1, \"collection\": \"%s\", \"plan\": "
		 "\"%s\", \"filters\": \"%s\", \"command\": [\"%s\"], \"created\": \"%s\"}\n",
		 collection, d->plan->hash, filters, command, created);
	run_dir_write(d, "run.json", text);
}

#define COLLECTION "0123456789abcdef0123456789abcdef"

/* Directory i has spools of other passes and ranks; the last one also has one of the first, under
 * another name. */
static int set_up(void **state)
{
	struct set *s = calloc(1, sizeof(*s));
	struct spool_writer w;
	char created[32];

	assert_non_null(s);
	for (uint32_t i = 0; i < N_DIRS; i++) {
		struct run_dir *d = &s->dirs[i];

		run_dir_init(d, small_plan());
		d->next_start += 10 * (uint64_t)(N_DIRS - i);
		for (uint32_t k = 0; k < 2; k++) {
			run_dir_spool(d, &w, k ? "b" : "a", (int32_t)(i + k));
			add_small_pass(&w, 1 + (i + k) % 3, 100 * i + k);
			finish(&w);
		}
		snprintf(created, sizeof(created), "2026-01-0%uT00:00:00Z", 1 + (i + 2) % N_DIRS);
		write_run(d, created, COLLECTION, "app", "");
	}
	s->dirs[3].next_start = s->dirs[0].next_start - 2;
	run_dir_spool(&s->dirs[3], &w, "copy-of-another", 0);
	add_small_pass(&w, 1, 0);
	finish(&w);
	snprintf(s->out, sizeof(s->out), "%s-out", s->dirs[0].path);
	snprintf(s->other, sizeof(s->other), "%s-other", s->dirs[0].path);
	*state = s;
	return 0;
}

static void remove_directory(const char *path)
{
	struct run_dir d = {0};

	snprintf(d.path, sizeof(d.path), "%s", path);
	if (!access(path, F_OK))
		run_dir_remove(&d);
}

static int tear_down(void **state)
{
	struct set *s = *state;

	for (int i = 0; i < N_DIRS; i++)
		run_dir_remove(&s->dirs[i]);
	remove_directory(s->out);
	remove_directory(s->other);
	free(s);
	return 0;
}

/* Merges and returns the number of problems. */
static size_t merge(const char *const *dirs, size_t n, const char *out)
{
	struct merge_outcome o;
	struct error err = {0};
	size_t problems;

	if (merge_directories(dirs, n, out, &o, &err))
		fail_msg("%s", err.message);
	problems = o.problems.n;
	merge_outcome_release(&o);
	return problems;
}

static char *problem(const char *const *dirs, size_t n, const char *out)
{
	struct merge_outcome o;
	struct error err = {0};
	char *text;

	if (merge_directories(dirs, n, out, &o, &err))
		fail_msg("%s", err.message);
	assert_int_equal(o.problems.n, 1);
	text = strdup(o.problems.items[0]);
	merge_outcome_release(&o);
	return text;
}

static void permute(const char *paths[N_DIRS], int at, struct set *s, const char *want, int *count)
{
	char *got;

	if (at == N_DIRS) {
		/* First so many into another directory, which is then merged with the rest; 0 is
		 * all at once, and the last one is one after the other into the same. */
		for (size_t group = 0; group <= N_DIRS; group++) {
			const char *rest[N_DIRS + 1] = {s->other};

			remove_directory(s->out);
			remove_directory(s->other);
			if (!group) {
				merge(paths, N_DIRS, s->out);
			} else if (group < N_DIRS) {
				merge(paths, group, s->other);
				for (size_t i = group; i < N_DIRS; i++)
					rest[1 + i - group] = paths[i];
				/* The group's own place among the inputs must not matter either. */
				if (*count % 2) {
					rest[0] = rest[1];
					rest[1] = s->other;
				}
				merge(rest, 1 + N_DIRS - group, s->out);
			} else {
				for (size_t i = 0; i < N_DIRS; i++) {
					merge(&paths[i], 1, s->out);
					free(dump(s->out)); /* the database grows step by step */
				}
			}
			got = dump(s->out);
			assert_string_equal(got, want);
			free(got);
			++*count;
		}
		return;
	}
	for (int i = at; i < N_DIRS; i++) {
		const char *mine = paths[at];

		paths[at] = paths[i];
		paths[i] = mine;
		permute(paths, at + 1, s, want, count);
		mine = paths[at];
		paths[at] = paths[i];
		paths[i] = mine;
	}
}

static void test_any_order_and_grouping(void **state)
{
	struct set *s = *state;
	const char *paths[N_DIRS];
	char *want;
	size_t lines = 0;
	int count = 0;

	for (int i = 0; i < N_DIRS; i++)
		paths[i] = s->dirs[i].path;
	assert_int_equal(merge(paths, N_DIRS, s->out), 0);
	want = dump(s->out);
	for (const char *c = want; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 2 * N_DIRS + 1); /* the copy is none of its own */
	assert_non_null(strstr(want, "created 2026-01-01"));
	permute(paths, 0, s, want, &count);
	assert_int_equal(count, 24 * (N_DIRS + 1));
	free(want);
}

static void test_again_and_into_an_input(void **state)
{
	struct set *s = *state;
	const char *two[] = {s->dirs[0].path, s->dirs[1].path}, *one[] = {s->dirs[0].path},
		   *round[] = {s->other};
	char *want, *got;

	merge(two, 2, s->out);
	want = dump(s->out);
	merge(two, 2, s->out);
	merge(one, 1, s->out);
	got = dump(s->out);
	assert_string_equal(got, want);
	free(got);
	merge(two, 2, s->dirs[1].path); /* where its own spools keep their names: */
	got = dump(s->dirs[1].path);
	assert_non_null(strstr(got, "spool/a.rts"));
	free(got);
	free(want);
	/* Under its canonical name it is the same spool still. */
	merge(two, 2, s->other);
	want = dump(s->dirs[1].path);
	merge(round, 1, s->dirs[1].path);
	got = dump(s->dirs[1].path);
	assert_string_equal(got, want);
	free(got);
	free(want);
}

static void expect_refused(struct set *s, const char *want)
{
	const char *two[] = {s->dirs[0].path, s->dirs[1].path};
	struct merge_outcome o;
	struct error err = {0};

	assert_int_equal(merge_directories(two, 2, s->out, &o, &err), RC_MISMATCH);
	if (!strstr(err.message, want))
		fail_msg("'%s' is not in '%s'", want, err.message);
	assert_int_not_equal(access(s->out, F_OK), 0); /* nothing was begun */
	merge_outcome_release(&o);
}

static void test_other_collections_are_refused(void **state)
{
	struct set *s = *state;
	struct plan other = *small_plan();
	char path[1200];

	write_run(&s->dirs[1], "2026", "ffff", "app2", "");
	expect_refused(s, "differ in the command: 'app' and 'app2'");
	write_run(&s->dirs[1], "2026", "ffff", "app", "-k copy");
	expect_refused(s, "differ in the filters: '' and '-k copy'");
	other.selection = "-e cycles";
	snprintf(path, sizeof(path), "%s/plan.json", s->dirs[1].path);
	assert_int_equal(plan_write_file(&other, path, NULL), 0);
	expect_refused(s, "differ in the plan: '-m ipc");
}

static void test_damaged_and_foreign_spools_are_named(void **state)
{
	struct set *s = *state;
	const char *two[] = {s->dirs[0].path, s->dirs[1].path};
	struct spool_header h = run_dir_header(&s->dirs[1], 1);
	struct spool_writer w;
	char *text, *rows;

	run_dir_flip_byte(&s->dirs[0], "spool/a.rts", 20); /* within the header */
	text = problem(two, 2, s->out);
	assert_non_null(strstr(text, "spool/a.rts"));
	assert_non_null(strstr(text, "left out"));
	free(text);
	rows = dump(s->out);
	assert_non_null(strstr(rows, "2/0")); /* the others are there */
	free(rows);
	run_dir_flip_byte(&s->dirs[0], "spool/a.rts", 20);
	run_dir_flip_byte(&s->dirs[0], "spool/a.rts", 300); /* within the first record */
	text = problem(two, 2, s->out);
	assert_non_null(strstr(text, "what precedes it is used"));
	free(text);
	run_dir_flip_byte(&s->dirs[0], "spool/a.rts", 300);
	assert_int_equal(merge(two, 2, s->out), 0); /* better than what was taken before */

	memset(h.collection, 'f', 32);
	run_dir_spool_of(&s->dirs[1], &w, "foreign", &h);
	finish(&w);
	text = problem(two, 2, s->out);
	assert_non_null(strstr(text, "foreign.rts: is of another command"));
	free(text);
}

static void test_a_more_complete_version_wins(void **state)
{
	struct set *s = *state;
	const char *one[] = {s->dirs[0].path}, *two[] = {s->dirs[1].path};
	struct spool_header h = run_dir_header(&s->dirs[0], 2);
	struct spool_writer w;
	char *first, *text;

	run_dir_spool_of(&s->dirs[0], &w, "x", &h);
	add_small_pass(&w, 1, 7);
	finish(&w);
	run_dir_spool_of(&s->dirs[1], &w, "x", &h);
	add_small_pass(&w, 1, 7);
	add_small_pass(&w, 2, 7);
	finish(&w);
	merge(one, 1, s->out);
	merge(two, 1, s->out);
	first = dump(s->out);
	assert_non_null(strstr(first, "2/0 launch"));
	merge(one, 1, s->out); /* the shorter one does not come back */
	text = dump(s->out);
	assert_string_equal(text, first);
	free(text);
	free(first);
	/* Neither is the beginning of the other: one is kept, and it is said. */
	run_dir_spool_of(&s->dirs[0], &w, "y", &h);
	add_small_pass(&w, 3, 8);
	finish(&w);
	text = problem(one, 1, s->out);
	assert_non_null(strstr(text, "holds other records than"));
	free(text);
}

/* A spool with one pass, and where OUT is to have it. */
static void add_spool(struct set *s, struct spool_writer *w, const char *name, char path_out[400],
		      char out_path_out[400])
{
	struct spool_header h = run_dir_header(&s->dirs[0], 3);

	run_dir_spool_of(&s->dirs[0], w, name, &h);
	add_small_pass(w, 1, 5);
	snprintf(path_out, 400, "%s/spool/%s.rts", s->dirs[0].path, name);
	snprintf(out_path_out, 400, "%s/spool/%s.host.3.100.rts", s->out, h.launch);
}

static char *content(const char *path, size_t *n_out)
{
	char *bytes;

	assert_int_equal(merge_read(path, SIZE_MAX, &bytes, n_out, NULL), 0);
	return bytes;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	assert_int_equal(stat(a, &x) | stat(b, &y), 0);
	return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* OUT may share the file of a closed spool only: others still change. */
static void test_what_may_change_is_copied(void **state)
{
	struct set *s = *state;
	const char *one[] = {s->dirs[0].path};
	char open[400], open_out[400], bad[400], bad_out[400], good[400], good_out[400];
	struct spool_writer w, closed;
	char *before, *after;
	size_t n, m;

	add_spool(s, &w, "open", open, open_out);
	add_spool(s, &closed, "bad", bad, bad_out);
	finish(&closed);
	run_dir_flip_byte(&s->dirs[0], "spool/bad.rts", 300);
	add_spool(s, &closed, "good", good, good_out);
	finish(&closed);
	assert_int_equal(merge(one, 1, s->out), 1);
	assert_false(is_same_file(open, open_out));
	assert_false(is_same_file(bad, bad_out));
	before = content(open_out, &n);
	add_small_pass(&w, 2, 5);
	after = content(open_out, &m);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	free(after);
	free(before);
	before = content(good, &n);
	assert_int_equal(unlink(good), 0);
	after = content(good_out, &m);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	free(after);
	free(before);
	finish(&w);
	assert_int_equal(merge(one, 1, s->out), 1); /* the damaged one still */
	before = content(open, &n);
	after = content(open_out, &m); /* is whole by now */
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	free(after);
	free(before);
}

static void test_files_are_compared_and_placed(void **state)
{
	struct set *s = *state;
	static char big[200000];
	char *bytes;
	int folder, a, b;
	size_t n;

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 7 + i / 999);
	folder = open(s->dirs[0].path, O_RDONLY | O_DIRECTORY);
	assert_true(folder >= 0);
	assert_int_equal(merge_write(folder, "a", big, sizeof(big), NULL), 0);
	assert_int_equal(merge_write(folder, "b", "other", 5, NULL), 0);
	a = openat(folder, "a", O_RDONLY);
	b = openat(folder, "b", O_RDONLY);
	assert_int_equal(merge_compare(a, a), 0);
	assert_true(merge_compare(a, b) < 0 && merge_compare(b, a) > 0);
	close(b);
	assert_int_equal(merge_place(a, folder, "b", NULL), 0); /* instead of what was there */
	b = openat(folder, "b", O_RDONLY);
	assert_int_equal(merge_compare(a, b), 0);
	close(b);
	big[sizeof(big) - 1]++;
	assert_int_equal(merge_write(folder, "b", big, sizeof(big) - 1, NULL), 0);
	b = openat(folder, "b", O_RDONLY);
	assert_true(merge_compare(a, b) > 0 && merge_compare(b, a) < 0); /* its beginning */
	close(b);
	close(a);
	/* No name is left that could be linked: copied, unless the file system clones. */
	a = openat(folder, "a", O_RDONLY);
	assert_int_equal(unlinkat(folder, "a", 0), 0);
	assert_int_equal(merge_place(a, folder, "b", NULL), 0);
	close(a);
	b = openat(folder, ".", O_RDONLY | O_DIRECTORY);
	assert_int_equal(faccessat(b, "a", F_OK, 0), -1);
	close(b);
	snprintf(s->other, sizeof(s->other), "%s/b", s->dirs[0].path);
	bytes = content(s->other, &n);
	big[sizeof(big) - 1]--;
	assert_int_equal(n, sizeof(big));
	assert_memory_equal(bytes, big, n);
	free(bytes);
	unlinkat(folder, "b", 0);
	close(folder);
}

static void test_a_spool_that_is_gone_is_named(void **state)
{
	struct set *s = *state;
	const char *one[] = {s->dirs[0].path};
	char path[300], *text;

	free(dump(s->dirs[0].path));
	snprintf(path, sizeof(path), "%s/spool/b.rts", s->dirs[0].path);
	assert_int_equal(unlink(path), 0);
	text = problem(one, 1, s->out);
	assert_non_null(strstr(text, "spool/b.rts: the file is gone"));
	free(text);
}

static void test_a_damaged_plan_is_made_up_for(void **state)
{
	struct set *s = *state;
	const char *two[] = {s->dirs[0].path, s->dirs[1].path};
	char *text, *rows;

	run_dir_write(&s->dirs[0], "plan.json", "{");
	text = problem(two, 2, s->out);
	assert_non_null(strstr(text, "plan.json"));
	rows = dump(s->out);
	assert_non_null(strstr(rows, "1/0 launch"));
	free(rows);
	free(text);
}

static void test_what_is_no_run_directory(void **state)
{
	struct set *s = *state;
	const char *missing[] = {"/nonexistent"}, *one[] = {s->dirs[0].path}, *tmp[] = {"/proc"};
	struct merge_outcome o;
	char path[400];
	FILE *f;

	assert_int_equal(merge_directories(missing, 1, s->out, &o, NULL), RC_NOT_FOUND);
	merge_outcome_release(&o);
	assert_int_equal(merge_directories(tmp, 1, s->out, &o, NULL), RC_INVALID);
	merge_outcome_release(&o);
	assert_int_equal(mkdir(s->out, 0777), 0);
	snprintf(path, sizeof(path), "%s/thesis.txt", s->out);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(merge_directories(one, 1, s->out, &o, NULL), RC_EXISTS);
	merge_outcome_release(&o);
	snprintf(path, sizeof(path), "%s/spool", s->out);
	assert_int_not_equal(access(path, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_any_order_and_grouping, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_again_and_into_an_input, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_collections_are_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_damaged_and_foreign_spools_are_named, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_more_complete_version_wins, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_what_may_change_is_copied, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_files_are_compared_and_placed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_spool_that_is_gone_is_named, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_damaged_plan_is_made_up_for, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_no_run_directory, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
