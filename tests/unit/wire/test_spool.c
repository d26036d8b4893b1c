/* SPDX-License-Identifier: Apache-2.0 */
/* Spool: what is written reads back, at any size, while it is written, and with few system calls.
 */
#include "spool_fixture.h"
#include "syscall_wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void test_round_trip(void **state)
{
	struct spool_header header = fixture_header();
	struct spool_note note = {.pass = 2, .kind = SPOOL_NOTE_FINDING};
	struct spool_record record;
	struct spool_writer w;
	struct spool_reader r;
	struct error err = {0};
	struct stat st;

	(void)state;
	assert_int_equal(spool_create(&w, fixture_path, &header, &err), 0);
	assert_int_equal(spool_append(&w, SPOOL_NOTE, &note, sizeof(note), "it works", 8, &err), 0);
	assert_int_equal(spool_append(&w, (enum spool_type)77, NULL, 0, NULL, 0, &err), 0);
	assert_int_equal(spool_append(&w, SPOOL_NOTE, &note, sizeof(note), "odd", 3, &err), 0);
	assert_int_equal(spool_close(&w, &err), 0);
	assert_int_equal(spool_close(&w, &err), 0);
	assert_int_equal(stat(fixture_path, &st), 0);
	assert_int_equal(st.st_size, 256 + 32 + 16 + 32 + 16); /* cut to what was written */

	assert_int_equal(spool_open(&r, fixture_path, &err), 0);
	assert_string_equal(r.header.collection, header.collection);
	assert_string_equal(r.header.host, "node17");
	assert_int_equal(r.header.rank, 3);
	assert_int_equal(r.header.local_rank, SPOOL_RANK_NONE);
	assert_true(r.header.start_ns == header.start_ns);
	assert_int_equal(spool_next(&r, &record, &err), 1);
	assert_int_equal(record.type, SPOOL_NOTE);
	assert_int_equal(record.offset, 256);
	assert_int_equal(record.size, 16);
	assert_memory_equal((const char *)record.payload + 8, "it works", 8);
	assert_int_equal(spool_next(&r, &record, &err), 1);
	assert_int_equal(record.type, 77);
	assert_int_equal(record.size, 0);
	assert_int_equal(spool_next(&r, &record, &err), 1);
	assert_int_equal(record.size, 11);
	assert_int_equal((uintptr_t)record.payload % 8, 0);
	assert_int_equal(spool_next(&r, &record, &err), 0);
	assert_int_equal(spool_next(&r, &record, &err), 0);
	assert_true(r.closed);
	assert_false(r.torn);
	spool_close_reader(&r);
}

/* Sizes around that of a window, and the largest record there is. */
static void test_sizes(void **state)
{
	static const size_t sizes[] = {
		0,     1,     7,     8,       65248,  65264, 65256, 65265,   65440,
		65456, 65457, 65520, 1 << 20, 100000, 3,     65264, 5 << 20, 1 << 24,
	};
	struct spool_header header = fixture_header();
	unsigned char *bytes = malloc(1 << 24);
	struct spool_record record;
	struct spool_writer w;
	struct spool_reader r;
	struct error err = {0};

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < 1 << 24; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251);
	assert_int_equal(spool_create(&w, fixture_path, &header, &err), 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		assert_int_equal(spool_append(&w, (enum spool_type)99, bytes, sizes[i] / 3,
					      bytes + sizes[i] / 3, sizes[i] - sizes[i] / 3, &err),
				 0);
	/* Too long is refused, and the spool goes on. */
	assert_int_equal(spool_append(&w, (enum spool_type)99, bytes, 1 << 24, bytes, 1, &err),
			 RC_INVALID);
	assert_int_equal(spool_append(&w, (enum spool_type)98, "x", 1, NULL, 0, &err), 0);
	assert_int_equal(spool_close(&w, &err), 0);
	assert_int_equal(spool_open(&r, fixture_path, &err), 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		assert_int_equal(spool_next(&r, &record, &err), 1);
		assert_int_equal(record.size, sizes[i]);
		assert_memory_equal(record.payload, bytes, sizes[i]);
	}
	assert_int_equal(spool_next(&r, &record, &err), 1);
	assert_int_equal(record.type, 98);
	assert_int_equal(spool_next(&r, &record, &err), 0);
	assert_true(r.closed);
	spool_close_reader(&r);
	free(bytes);
}

static void write_and_count(uint64_t n)
{
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct spool_reader r;
	struct error err = {0};

	assert_int_equal(spool_create(&w, fixture_path, &header, &err), 0);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(fixture_append(&w, i, &err), 0);
	/* Before it is closed: whole records, then a tail of zeros. */
	assert_int_equal(spool_open(&r, fixture_path, &err), 0);
	assert_int_equal(fixture_count(&r, &err), n);
	assert_false(r.closed);
	assert_false(r.torn);
	assert_int_equal(spool_close(&w, &err), 0);
	assert_int_equal(spool_open(&r, fixture_path, &err), 0);
	assert_int_equal(fixture_count(&r, &err), n);
	assert_true(r.closed);
}

static void test_many(void **state)
{
	(void)state;
	pwrite_calls = 0;
	write_and_count(100000);
	/* 11.2 MB in windows of nearly 64 KiB, and no other call. */
	assert_in_range(pwrite_calls, 165, 180);
}

static void test_without_fallocate(void **state)
{
	(void)state;
	fallocate_is_unsupported = true;
	write_and_count(20000);
	fallocate_is_unsupported = false;
}

/* In a process that may do nothing but read, write and exit, appending works as long as the chunk
 * does. */
static void test_no_system_call(void **state)
{
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct spool_reader r;
	struct error err = {0};
	int status;
	pid_t pid;

	(void)state;
	if (getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "vgpreload"))
		skip_because("valgrind makes system calls of its own");
	assert_int_equal(spool_create(&w, fixture_path, &header, &err), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
			syscall(SYS_exit, 77);
		for (uint64_t i = 0; i < 400; i++)
			if (fixture_append(&w, i, NULL))
				syscall(SYS_exit, 1);
		syscall(SYS_exit, 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		spool_abandon(&w);
		skip_because("seccomp is not permitted here");
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	spool_abandon(&w);
	assert_int_equal(spool_open(&r, fixture_path, &err), 0);
	assert_int_equal(fixture_count(&r, &err), 400);
}

/* Whatever somebody leaves of a file, its writer ends with an error and not by a signal, also when
 * its descriptor is gone; nothing is added to the file any more. */
static void test_somebody_cuts_it(void **state)
{
	static const off_t lengths[] = {0, 100, 4096, 65536, 70000, 131071 - 4096};
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct error err;
	struct stat st;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(lengths) / sizeof(lengths[0]); i++) {
		off_t length = lengths[i / 2];

		err = (struct error){0};
		assert_int_equal(spool_create(&w, fixture_path, &header, &err), 0);
		assert_int_equal(fixture_append(&w, 1, &err), 0);
		errno = 77;
		assert_int_equal(spool_look(&w, &err), 0);
		assert_int_equal(errno, 77);
		assert_int_equal(truncate(fixture_path, length), 0);
		if (i % 2)
			close(w.fd);
		assert_int_equal(spool_look(&w, &err), RC_IO);
		assert_non_null(strstr(err.message, "cut it short"));
		assert_int_equal(fixture_append(&w, 2, &err), RC_IO);
		assert_int_equal(spool_look(&w, &err), 0); /* said once */
		spool_close(&w, NULL);
		assert_int_equal(stat(fixture_path, &st), 0);
		assert_int_equal(st.st_size, length);
		unlink(fixture_path);
	}
}

/* Closing is enough to find it. */
static void test_cut_before_it_is_closed(void **state)
{
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct error err = {0};
	struct stat st;

	(void)state;
	assert_int_equal(spool_create(&w, fixture_path, &header, &err), 0);
	assert_int_equal(fixture_append(&w, 1, &err), 0);
	assert_int_equal(truncate(fixture_path, 0), 0);
	assert_int_equal(spool_close(&w, &err), RC_IO);
	assert_non_null(strstr(err.message, "cut it short"));
	assert_int_equal(stat(fixture_path, &st), 0);
	assert_int_equal(st.st_size, 0);
}

static void test_never_over_another_file(void **state)
{
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct error err = {0};
	char text[8] = "";
	int fd = open(fixture_path, O_WRONLY | O_CREAT, 0600);

	(void)state;
	assert_int_equal(write(fd, "mine", 4), 4);
	close(fd);
	assert_int_equal(spool_create(&w, fixture_path, &header, &err), RC_EXISTS);
	assert_non_null(strstr(err.message, fixture_path));
	assert_int_equal(spool_append(&w, SPOOL_NOTE, "12345678", 8, NULL, 0, &err), RC_IO);
	assert_int_equal(spool_close(&w, &err), 0);
	fd = open(fixture_path, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	assert_string_equal(text, "mine");
	close(fd);
}

/* Numbers that open(2) gives to the program stay as they are without us. */
static void test_descriptor_is_out_of_the_way(void **state)
{
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct error err = {0};
	int before = open("/dev/null", O_RDONLY), after;

	(void)state;
	close(before);
	assert_int_equal(spool_create(&w, fixture_path, &header, &err), 0);
	after = open("/dev/null", O_RDONLY);
	close(after);
	assert_int_equal(after, before);
	assert_true(fcntl(w.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(spool_close(&w, &err), 0);
}

static void test_abandon_leaves_the_file_alone(void **state)
{
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct spool_reader r;
	struct error err = {0};
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(spool_create(&w, fixture_path, &header, &err), 0);
	assert_int_equal(fixture_append(&w, 0, &err), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		spool_abandon(&w);
		_exit(fixture_append(&w, 1, NULL) != RC_IO || spool_close(&w, NULL));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(fixture_append(&w, 1, &err), 0);
	assert_int_equal(spool_close(&w, &err), 0);
	assert_int_equal(spool_open(&r, fixture_path, &err), 0);
	assert_int_equal(fixture_count(&r, &err), 2);
	assert_true(r.closed);
}

/* A reader beside a writer sees a growing prefix and never damage. */
static void test_read_while_writing(void **state)
{
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct spool_reader r;
	struct error err = {0};
	int64_t n = 0, last = 0;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(spool_create(&w, fixture_path, &header, &err), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		for (uint64_t i = 0; i < 60000; i++)
			if (fixture_append(&w, i, NULL))
				_exit(1);
		_exit(spool_close(&w, NULL) ? 2 : 0);
	}
	do {
		assert_int_equal(spool_open(&r, fixture_path, &err), 0);
		n = fixture_count(&r, &err);
		if (n < 0)
			kill(pid, SIGKILL);
		assert_string_equal(err.message, "");
		assert_true(n >= last);
		last = n;
	} while (!r.closed && !waitpid(pid, &status, WNOHANG));
	if (r.closed)
		assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(spool_open(&r, fixture_path, &err), 0);
	assert_int_equal(fixture_count(&r, &err), 60000);
	spool_abandon(&w);
}

#define spool_test(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		spool_test(test_round_trip),
		spool_test(test_sizes),
		spool_test(test_many),
		spool_test(test_without_fallocate),
		spool_test(test_no_system_call),
		spool_test(test_somebody_cuts_it),
		spool_test(test_cut_before_it_is_closed),
		spool_test(test_never_over_another_file),
		spool_test(test_descriptor_is_out_of_the_way),
		spool_test(test_abandon_leaves_the_file_alone),
		spool_test(test_read_while_writing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
