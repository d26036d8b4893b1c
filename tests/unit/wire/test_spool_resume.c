/* SPDX-License-Identifier: Apache-2.0 */
/* A process goes on in its own spool after an exec: closed, killed, torn, or not its own. */
#include "spool_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Reads all; returns the number of records, or -1 when the file is damaged. */
static int count(void)
{
	struct spool_record record;
	struct error err = {0};
	struct spool_reader r;
	int n = 0, rc;

	assert_int_equal(spool_open(&r, fixture_path, &err), 0);
	while ((rc = spool_next(&r, &record, &err)) > 0)
		n++;
	assert_false(r.torn);
	spool_close_reader(&r);
	return rc ? -1 : n;
}

static void write_first(int n, bool close_it)
{
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct error err = {0};

	assert_int_equal(spool_create(&w, fixture_path, &header, &err), 0);
	for (int i = 0; i < n; i++)
		assert_int_equal(fixture_append(&w, (uint64_t)i, &err), 0);
	if (close_it)
		assert_int_equal(spool_close(&w, &err), 0);
	else
		spool_abandon(&w); /* as after kill -9: the preallocated zeros stay */
}

static int take(void *context, const struct spool_record *record, struct error *err)
{
	int *seen = context;

	(void)err;
	assert_int_equal(record->type, SPOOL_SAMPLES);
	return ++*seen == 100 ? RC_ERROR : 0;
}

static void test_goes_on(void **state)
{
	struct spool_writer w;
	struct error err = {0};

	(void)state;
	for (int closed = 0; closed < 2; closed++) {
		int seen = 0;

		unlink(fixture_path);
		write_first(20, closed);
		for (int again = 0; again < 3; again++) {
			seen = 0;
			assert_int_equal(
				spool_resume(&w, fixture_path, "launch", take, &seen, &err), 0);
			assert_int_equal(seen, 20 + again * 10);
			for (uint64_t i = 0; i < 10; i++)
				assert_int_equal(fixture_append(&w, i, &err), 0);
			assert_int_equal(spool_close(&w, &err), 0);
			assert_int_equal(count(), 30 + again * 10);
		}
	}
}

/* A log that outgrew the window it began in, whole and with its writer killed, many times. */
static void test_long(void **state)
{
	struct spool_writer w;
	struct error err = {0};
	int n = 2000;

	(void)state;
	write_first(n, true);
	for (int again = 0; again < 12; again++) {
		assert_int_equal(spool_resume(&w, fixture_path, "launch", NULL, NULL, &err), 0);
		for (uint64_t i = 0; i < 700; i++)
			assert_int_equal(fixture_append(&w, i, &err), 0);
		n += 700;
		if (again % 3)
			assert_int_equal(spool_close(&w, &err), 0);
		else
			spool_abandon(&w);
		assert_int_equal(count(), n);
	}
}

/* What a process was writing when it was killed is cut off, and what comes after it is found. */
static void test_torn(void **state)
{
	struct spool_writer w;
	struct error err = {0};
	struct stat st;

	(void)state;
	write_first(20, true);
	assert_int_equal(stat(fixture_path, &st), 0);
	for (int cut = 1; cut < 40; cut++) {
		struct spool_reader r;

		assert_int_equal(truncate(fixture_path, st.st_size - cut), 0);
		assert_int_equal(spool_resume(&w, fixture_path, NULL, NULL, NULL, &err), 0);
		assert_int_equal(fixture_append(&w, 7, &err), 0);
		assert_int_equal(spool_close(&w, &err), 0);
		assert_true(count() >= 19);
		assert_int_equal(spool_open(&r, fixture_path, &err), 0);
		spool_close_reader(&r);
		unlink(fixture_path);
		write_first(20, true);
	}
}

static void test_refused(void **state)
{
	struct spool_writer w;
	struct error err = {0};
	int seen = 99, fd;

	(void)state;
	assert_int_equal(spool_resume(&w, fixture_path, NULL, NULL, NULL, &err), RC_NOT_FOUND);
	assert_int_equal(fixture_append(&w, 1, &err), RC_IO);
	write_first(20, true);
	assert_int_equal(spool_resume(&w, fixture_path, "other", NULL, NULL, &err), RC_MISMATCH);
	assert_non_null(strstr(err.message, "other"));
	assert_int_equal(spool_resume(&w, fixture_path, "launch", take, &seen, &err), RC_ERROR);
	assert_int_equal(count(), 20);
	/* Damage in the middle: nothing is written behind it. */
	fd = open(fixture_path, O_WRONLY);
	assert_int_equal(pwrite(fd, "x", 1, 300), 1);
	close(fd);
	assert_int_equal(spool_resume(&w, fixture_path, NULL, NULL, NULL, &err), RC_CORRUPT);
	assert_int_equal(spool_close(&w, &err), 0);
}

#define spool_test(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		spool_test(test_goes_on),
		spool_test(test_long),
		spool_test(test_torn),
		spool_test(test_refused),
	};

	return cmocka_run_group_tests_name("spool resume", tests, NULL, NULL);
}
