/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host names, launches and names of files that nobody should have: merged, every spool is there
 * once, within the directory and nowhere else, and no report breaks on them.
 */
#include "../test.h"
#include "base/arena.h"
#include "base/json.h"
#include "report/report.h"
#include "run_dir.h"
#include "store/merge.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {
	"../../../../tmp/x",
	"/etc/passwd",
	"..",
	".",
	"",
	"new\nline\r\n",
	"not utf-8 \xff\xfe\xc0\xaf",
	"\x1b[31mred\x07",
	"$(touch x);`touch y`",
	"--rf *",
	"a\"b'c,d;e\\",
	"%s%n%100d",
	"</script><b>&amp;",
	"wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww", /* all there is room for
									    */
};
#define N (sizeof(names) / sizeof(names[0]))

struct outcome {
	struct run_dir dirs[2];
	char out[300];
};

/* As a host, with the name as the file's where it can be one and would not be hidden; every third
 * also as the launch. */
static void add_spool(struct run_dir *d, size_t i)
{
	struct spool_header h = run_dir_header(d, (int32_t)(i % 4));
	struct spool_writer w;
	char file[80];

	_Static_assert(N < 100, "a pid each");
	h.pid = (int32_t)(100 + i);
	memset(h.host, 0, sizeof(h.host));
	snprintf(h.host, sizeof(h.host), "%s", names[i]);
	if (i % 3 == 0)
		snprintf(h.launch, sizeof(h.launch), "%s", names[i]);
	snprintf(file, sizeof(file), "%s%zu", strpbrk(names[i], "/.") ? "plain" : names[i], i);
	run_dir_spool_of(d, &w, file, &h);
	add_small_pass(&w, 1 + (uint32_t)(i % 3), i);
	finish(&w);
}

static size_t count_files(const char *path)
{
	DIR *folder = opendir(path);
	size_t n = 0;

	assert_non_null(folder);
	while (readdir(folder))
		n++;
	closedir(folder);
	return n - 2;
}

static void merge(const struct outcome *o, bool turned, size_t copied, size_t known)
{
	const char *dirs[] = {o->dirs[turned].path, o->dirs[!turned].path};
	struct merge_outcome m;
	struct error err = {0};

	if (merge_directories(dirs, 2, o->out, &m, &err))
		fail_msg("%s", err.message);
	assert_int_equal(m.problems.n, 0);
	assert_int_equal(m.copied, copied);
	assert_int_equal(m.known, known);
	merge_outcome_release(&m);
}

static char *report(const struct outcome *o, struct report_options options)
{
	struct error err = {0};
	struct store *s;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	if (store_open(&s, o->out, &err) || report_write(s, &options, f, &err))
		fail_msg("%s", err.message);
	fclose(f);
	store_close(s);
	return text;
}

static void expect_reports(const struct outcome *o)
{
	static const enum report_by by[] = {REPORT_BY_KERNEL, REPORT_BY_RANK, REPORT_BY_DISPATCH};

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		struct report_options options = {.by = by[i], .format = TABLE_TEXT};
		char *text = report(o, options);
		struct arena arena = {0};
		struct json_value *root;
		struct error err = {0};

		for (const char *c = text; *c; c++)
			assert_true(*c == '\n' || (unsigned char)*c >= ' ');
		assert_null(strstr(text, "\nline"));
		free(text);
		options.format = TABLE_JSON;
		text = report(o, options);
		if (json_parse(&arena, "report", text, strlen(text), &root, &err))
			fail_msg("%s", err.message);
		arena_release(&arena);
		free(text);
		options.format = TABLE_CSV;
		text = report(o, options);
		assert_true(json_is_utf8(text));
		free(text);
	}
}

static void test_hostile_names(void **state)
{
	char folder[] = "/tmp/retally-names-XXXXXX", spools[400];
	struct outcome o = {0};
	struct store *s;
	const struct store_spool *spool;
	size_t n;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(o.out, sizeof(o.out), "%s/out", folder);
	for (size_t i = 0; i < 2; i++) {
		run_dir_init(&o.dirs[i], small_plan());
		run_dir_write_run_json(&o.dirs[i]);
	}
	for (size_t i = 0; i < N; i++)
		add_spool(&o.dirs[i % 2], i);
	merge(&o, false, N, 0);
	merge(&o, true, 0, N);
	snprintf(spools, sizeof(spools), "%s/spool", o.out);
	assert_int_equal(count_files(spools), N);
	assert_int_equal(count_files(folder), 1);
	assert_int_equal(store_open(&s, o.out, NULL), 0);
	spool = store_spools(s, &n);
	assert_int_equal(n, N);
	for (size_t i = 0; i < N; i++) {
		bool found = false;

		for (size_t k = 0; k < n; k++)
			found = found || (spool[k].pid == (int32_t)(100 + i) &&
					  !strcmp(spool[k].host, names[i]));
		assert_true(found);
	}
	store_close(s);
	expect_reports(&o);
	/* One whose name breaks a line, and that is named for its damage. */
	run_dir_truncate(&o.dirs[1], "spool/new\nline\r\n5.rts", 300);
	snprintf(o.out, sizeof(o.out), "%s", o.dirs[1].path);
	expect_reports(&o);
	for (size_t i = 0; i < 2; i++)
		run_dir_remove(&o.dirs[i]);
	snprintf(o.dirs[0].path, sizeof(o.dirs[0].path), "%s", folder);
	run_dir_remove(&o.dirs[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_names),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
