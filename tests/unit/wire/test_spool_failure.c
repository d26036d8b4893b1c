/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spool: processes that die, disks and limits that are reached, descriptors that are taken away.
 * Each case runs in a process of its own with the default action for every signal, so that a signal
 * where an error belongs is seen.
 */
#include "spool_fixture.h"
#include "syscall_wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define CHILD_SKIP 77

/* In the child: a condition that does not hold ends it with the line on stderr. */
#define child_check(condition)                                               \
	do {                                                                 \
		if (!(condition)) {                                          \
			dprintf(2, "# line %d: %s\n", __LINE__, #condition); \
			_exit(1);                                            \
		}                                                            \
	} while (0)

static void run_child(void (*f)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		f();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_SKIP)
		skip_because("no file system of a few pages may be mounted here");
	assert_false(WIFSIGNALED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Appends until the file is full, and checks that what fitted is there afterwards. Returns how
 * many. */
static uint64_t child_fill(void)
{
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct spool_reader r;
	struct error err = {0};
	uint64_t n = 0;
	int rc;

	child_check(!spool_create(&w, fixture_path, &header, &err));
	while (!(rc = fixture_append(&w, n, &err)))
		child_check(++n < 1000000);
	child_check(rc == RC_NO_SPACE);
	child_check(strstr(err.message, "no room"));
	child_check(fixture_append(&w, n, &err) == RC_NO_SPACE);
	child_check(!spool_close(&w, &err));
	child_check(!spool_open(&r, fixture_path, &err));
	child_check(fixture_count(&r, &err) == (int64_t)n);
	child_check(!r.closed); /* there was no room for the end */
	unlink(fixture_path);
	return n;
}

static void child_file_size_limit(void)
{
	struct rlimit limit = {300001, 300001};

	child_check(!setrlimit(RLIMIT_FSIZE, &limit));
	/* 112 bytes a record on average: what is missing is less than a window. */
	child_check(child_fill() > 1700);
	fallocate_is_unsupported = true;
	child_check(child_fill() > 1700);
}

static void test_file_size_limit(void **state)
{
	(void)state;
	run_child(child_file_size_limit);
}

static void child_full_disk(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", fixture_dir, "tmpfs", 0, "size=512k"))
		_exit(CHILD_SKIP);
	child_check(child_fill() > 3900);
	fallocate_is_unsupported = true;
	child_check(child_fill() > 3900);
}

static void test_full_disk(void **state)
{
	(void)state;
	run_child(child_full_disk);
}

/* No room for the first chunk: an error, and no empty file stays behind. */
static void child_no_room_at_all(void)
{
	struct rlimit limit = {100, 100};
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct error err = {0};

	child_check(!setrlimit(RLIMIT_FSIZE, &limit));
	child_check(spool_create(&w, fixture_path, &header, &err) == RC_NO_SPACE);
	child_check(access(fixture_path, F_OK) && errno == ENOENT);
	child_check(fixture_append(&w, 0, &err) == RC_NO_SPACE);
	child_check(!spool_close(&w, &err));
}

static void test_no_room_at_all(void **state)
{
	(void)state;
	run_child(child_no_room_at_all);
}

static void child_no_directory(void)
{
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct error err = {0};

	child_check(spool_create(&w, "/nonexistent/a.rts", &header, &err) == RC_NOT_FOUND);
	child_check(strstr(err.message, "/nonexistent/a.rts"));
}

static void test_no_directory(void **state)
{
	(void)state;
	run_child(child_no_directory);
}

/* The program closes every descriptor it does not know and opens files of its own. */
static void child_descriptor_taken(void)
{
	struct spool_header header = fixture_header();
	struct spool_writer w;
	struct spool_reader r;
	struct error err = {0};
	char other[128], text[8] = "";
	uint64_t n = 0;
	int fd;

	child_check(!spool_create(&w, fixture_path, &header, &err));
	snprintf(other, sizeof(other), "%s/other", fixture_dir);
	fd = open(other, O_RDWR | O_CREAT, 0600);
	child_check(write(fd, "program", 7) == 7);
	child_check(dup2(fd, w.fd) == w.fd);
	while (!fixture_append(&w, n, &err))
		child_check(++n < 10000);
	child_check(n > 400); /* what the window had room for */
	child_check(strstr(err.message, "closed its descriptor"));
	child_check(spool_close(&w, &err) == RC_IO);
	child_check(fcntl(fd, F_GETFD) >= 0);
	child_check(lseek(fd, 0, SEEK_END) == 7);
	child_check(pread(fd, text, 7, 0) == 7 && !strcmp(text, "program"));
	child_check(!spool_open(&r, fixture_path, &err));
	child_check(fixture_count(&r, &err) == (int64_t)n);
}

static void test_descriptor_taken(void **state)
{
	(void)state;
	run_child(child_descriptor_taken);
}

/* kill -9 at many moments: nothing but the record in the making is lost. */
static void test_killed(void **state)
{
	struct spool_header header = fixture_header();

	(void)state;
	for (uint64_t round = 0; round < 20; round++) {
		uint64_t least = round * round * 100;
		struct spool_writer w;
		struct spool_reader r;
		struct error err = {0};
		int pipes[2], status;
		int64_t n;
		char byte;
		pid_t pid;

		assert_int_equal(pipe(pipes), 0);
		assert_int_equal(spool_create(&w, fixture_path, &header, &err), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			for (uint64_t i = 0; i < 1000000; i++) {
				if (fixture_append(&w, i, NULL))
					_exit(1);
				if (i == least && write(pipes[1], "x", 1) != 1)
					_exit(2);
			}
			pause();
		}
		assert_int_equal(read(pipes[0], &byte, 1), 1);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		spool_abandon(&w);
		close(pipes[0]);
		close(pipes[1]);
		assert_int_equal(spool_open(&r, fixture_path, &err), 0);
		n = fixture_count(&r, &err);
		assert_string_equal(err.message, "");
		assert_true(n > (int64_t)least);
		assert_false(r.closed);
		unlink(fixture_path);
	}
}

#define spool_test(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		spool_test(test_file_size_limit),  spool_test(test_full_disk),
		spool_test(test_no_room_at_all),   spool_test(test_no_directory),
		spool_test(test_descriptor_taken), spool_test(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
