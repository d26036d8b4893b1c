/* SPDX-License-Identifier: Apache-2.0 */
/* Turns on a GPU between processes: one at a time, over when its process dies, and no file of
 * somebody else's is taken for ours. */
#include "../test.h"
#include "source/cuda/cuda_turns.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char directory[] = "/tmp/retally-turns-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return !mkdtemp(directory) || setenv("XDG_RUNTIME_DIR", directory, 1);
}

static int tear_down(void **state)
{
	const char *argv[] = {"rm", "-r", directory, NULL};
	pid_t child = fork();

	(void)state;
	if (!child) {
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(1);
	}
	return waitpid(child, NULL, 0) != child;
}

static void path_of(char path[256], unsigned char last)
{
	snprintf(path, 256, "%s/retally-gpu-%u-000000000000000000000000000000%02x", directory,
		 (unsigned)geteuid(), last);
}

static struct cuda_turns *open_turns(unsigned char last)
{
	unsigned char uuid[16] = {[15] = last};
	struct cuda_turns *t = NULL;
	struct error err = {0};

	if (cuda_turns_open(uuid, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

/* Four processes add to a number in small steps that only one at a time can get right. */
static void test_exclusive(void **state)
{
	void *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	volatile long *shared = place;
	pid_t children[4];

	(void)state;
	assert_true(place != MAP_FAILED);
	for (int i = 0; i < 4; i++) {
		children[i] = fork();
		if (!children[i]) {
			struct cuda_turns *t = open_turns(1);

			for (int k = 0; k < 50; k++) {
				struct timespec pause = {0, 1000};
				long seen;

				if (cuda_turns_take(t, NULL))
					_exit(1);
				seen = *shared;
				nanosleep(&pause, NULL);
				*shared = seen + 1;
				cuda_turns_give(t);
			}
			_exit(0);
		}
	}
	for (int i = 0; i < 4; i++) {
		int status = -1;

		waitpid(children[i], &status, 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(*shared, 200);
}

/* Who dies in its turn leaves it, and others are seen only while they live. */
static void test_death(void **state)
{
	struct cuda_turns *t = open_turns(2);
	pid_t child;
	int status;

	(void)state;
	assert_false(cuda_turns_shared(t));
	child = fork();
	if (!child) {
		/* A new struct for the new process: the parent's locks are not its own. */
		execl("/proc/self/exe", "test_turns", "hold", (char *)NULL);
		_exit(1);
	}
	for (int i = 0; i < 3000 && !cuda_turns_shared(t); i++)
		usleep(10000);
	assert_true(cuda_turns_shared(t));
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	assert_int_equal(cuda_turns_take(t, NULL), 0);
	assert_int_equal(cuda_turns_take(t, NULL), 0);
	assert_false(cuda_turns_shared(t));
	cuda_turns_give(t);
	cuda_turns_give(t);
}

static void refused(unsigned char last)
{
	unsigned char uuid[16] = {[15] = last};
	struct cuda_turns *t = NULL;
	struct error err = {0};

	assert_true(cuda_turns_open(uuid, &t, &err) < 0);
	assert_null(t);
	assert_non_null(strstr(err.message, "not shared by turns"));
}

static void test_hostile(void **state)
{
	char path[256], target[300];
	int fd;

	(void)state;
	path_of(path, 3); /* a link */
	snprintf(target, sizeof(target), "%s/target", directory);
	assert_int_equal(symlink(target, path), 0);
	refused(3);
	assert_int_equal(access(target, F_OK), -1);
	path_of(path, 4); /* a pipe: it must not block either */
	assert_int_equal(mkfifo(path, 0600), 0);
	refused(4);
	path_of(path, 5); /* open to others */
	fd = open(path, O_CREAT | O_RDWR, 0600);
	assert_int_equal(fchmod(fd, 0666), 0);
	close(fd);
	refused(5);
	path_of(path, 6); /* a second name of another file */
	assert_int_equal(close(open(target, O_CREAT | O_RDWR, 0600)), 0);
	assert_int_equal(link(target, path), 0);
	refused(6);
	if (geteuid())
		return;
	path_of(path, 7); /* another user's */
	fd = open(path, O_CREAT | O_RDWR, 0600);
	assert_int_equal(fchown(fd, 65534, 65534), 0);
	close(fd);
	refused(7);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exclusive),
		cmocka_unit_test(test_death),
		cmocka_unit_test(test_hostile),
	};

	if (argc > 1 && !strcmp(argv[1], "hold")) {
		unsigned char uuid[16] = {[15] = 2};
		struct cuda_turns *t;

		if (!cuda_turns_open(uuid, &t, NULL) && !cuda_turns_take(t, NULL))
			sleep(100);
		return 1;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
