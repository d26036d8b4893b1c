/* SPDX-License-Identifier: Apache-2.0 */
/* The run directory, leftovers and the process tree, without running anything under retally. */
#include "../test.h"
#include "base/arena.h"
#include "base/str.h"
#include "launch/directory.h"
#include "launch/leftovers.h"
#include "launch/tree.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/retally-files.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static const char *in_folder(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void fill_plan(struct plan *plan, const char *selection)
{
	static struct plan_counter counter = {
		.name = "x", .source = "perf", .block = "", .unit = "count", .config = "type=1"};
	static const uint32_t indices[] = {0};
	static struct plan_pass pass = {
		.n_counters = 1, .counters = indices, .reason = "r", .config = ""};
	struct str text = STR_INIT;

	*plan = (struct plan){.chip = "cpu",
			      .selection = selection,
			      .lower_bound = 1,
			      .n_counters = 1,
			      .counters = &counter,
			      .n_passes = 1,
			      .passes = &pass};
	assert_int_equal(plan_encode(plan, &text, NULL), 0);
	str_release(&text);
}

static struct identity me = {.host = "here", .rank = -1, .size = -1, .local_rank = -1};

static int open_directory(struct directory *d, const char *name, char *const *argv,
			  const struct plan *plan, const char *filters, struct error *err)
{
	struct directory_request q = {
		.output = name,
		.argv = argv,
		.program = "/bin/app",
		.plan = plan,
		.filters = filters,
		.launch = "l1",
		.identity = &me,
	};

	memset(err, 0, sizeof(*err));
	return directory_open(d, &q, err);
}

static char arg_app[] = "app", arg_1[] = "1", arg_2[] = "2";
static char *const command_1[] = {arg_app, arg_1, NULL};
static char *const command_2[] = {arg_app, arg_2, NULL};

static void test_join_and_refuse(void **state)
{
	struct directory d;
	struct error err;
	struct plan plan, other;

	(void)state;
	fill_plan(&plan, "-e x");
	fill_plan(&other, "-e y");
	assert_int_equal(open_directory(&d, in_folder("a/b/c"), command_1, &plan, NULL, &err), 0);
	assert_false(d.joined);
	directory_release(&d);
	assert_int_equal(open_directory(&d, in_folder("a/b/c"), command_1, &plan, NULL, &err), 0);
	assert_true(d.joined);
	directory_release(&d);
	assert_int_equal(open_directory(&d, in_folder("a/b/c"), command_2, &plan, NULL, &err),
			 RC_MISMATCH);
	assert_non_null(strstr(err.message, "'app 1' there, 'app 2' now"));
	assert_int_equal(open_directory(&d, in_folder("a/b/c"), command_1, &other, NULL, &err),
			 RC_MISMATCH);
	assert_non_null(strstr(err.message, "another plan: '-e x'"));
	assert_non_null(strstr(err.message, "'-e y'"));
	assert_int_equal(open_directory(&d, in_folder("a/b/c"), command_1, &plan, "-k z", &err),
			 RC_MISMATCH);
	assert_non_null(strstr(err.message, "other filters: '' there, '-k z' now"));
}

static void test_foreign_folder(void **state)
{
	struct directory d;
	struct error err;
	struct plan plan;
	int fd;

	(void)state;
	fill_plan(&plan, "-e x");
	assert_int_equal(mkdir(in_folder("other"), 0777), 0);
	/* empty is fine to use */
	assert_int_equal(open_directory(&d, in_folder("other"), command_1, &plan, NULL, &err), 0);
	directory_release(&d);
	assert_int_equal(mkdir(in_folder("home"), 0777), 0);
	fd = open(in_folder("home/thesis.tex"), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(open_directory(&d, in_folder("home"), command_1, &plan, NULL, &err),
			 RC_EXISTS);
	assert_non_null(strstr(err.message, "thesis.tex"));
	assert_int_not_equal(access(in_folder("home/run.json"), F_OK), 0);
	/* what other ranks put there for a moment is ours */
	assert_int_equal(mkdir(in_folder("meeting"), 0777), 0);
	fd = open(in_folder("meeting/.star-0123"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(open_directory(&d, in_folder("meeting"), command_1, &plan, NULL, &err), 0);
	directory_release(&d);
	/* a file where the directory should be */
	assert_int_not_equal(
		open_directory(&d, in_folder("home/thesis.tex"), command_1, &plan, NULL, &err), 0);
	assert_non_null(strstr(err.message, "thesis.tex"));
}

static void test_damaged(void **state)
{
	struct directory d;
	struct error err;
	struct plan plan;
	int fd;

	(void)state;
	fill_plan(&plan, "-e x");
	assert_int_equal(mkdir(in_folder("damaged"), 0777), 0);
	fd = open(in_folder("damaged/run.json"), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "{\"format\": \"retally run\"", 24), 24);
	close(fd);
	assert_int_not_equal(open_directory(&d, in_folder("damaged"), command_1, &plan, NULL, &err),
			     0);
	assert_non_null(strstr(err.message, "damaged/run.json:1"));
}

/* Many processes at once: all succeed, one made it, and nothing temporary is left. */
/* Ranks that make one directory, in which the first go on while others still look at it. */
static int race_child(const char *name, const struct plan *plan, int go)
{
	struct directory d;
	struct error err;
	char c, file[32];
	int fd;

	if (read(go, &c, 1) < 0)
		return 9;
	if (open_directory(&d, in_folder(name), command_1, plan, NULL, &err)) {
		fprintf(stderr, "# %s\n", err.message);
		return 8;
	}
	snprintf(file, sizeof(file), "of-%d", (int)getpid());
	fd = openat(d.fd, file, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
	if (fd < 0)
		return 7;
	close(fd);
	return d.joined;
}

static void race(const char *name, const struct plan *plan)
{
	pid_t children[16];
	char command[128];
	int go[2], made = 0;

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	for (int i = 0; i < 16; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (!children[i]) {
			close(go[1]);
			_exit(race_child(name, plan, go[0]));
		}
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < 16; i++) {
		int status;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_true(WIFEXITED(status));
		assert_true(WEXITSTATUS(status) <= 1);
		made += WEXITSTATUS(status) == 0;
	}
	assert_int_equal(made, 1);
	snprintf(command, sizeof(command), "exit $(ls -A '%s/%s' | grep -c tmp)", folder, name);
	assert_int_equal(system(command), 0);
}

static void test_race(void **state)
{
	struct plan plan;
	char name[16];

	(void)state;
	fill_plan(&plan, "-e x");
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "race%d", i);
		race(name, &plan);
	}
}

static void test_spool_path(void **state)
{
	struct directory d = {.path = in_folder("x") ? strdup("D") : NULL, .fd = -1};
	struct identity ranked = {.host = "a/b", .rank = 3};
	char *path = directory_spool_path(&d, "L", &ranked, 17);

	(void)state;
	assert_string_equal(path, "D/spool/L.a_b.3.17.rts");
	free(path);
	path = directory_spool_path(&d, "L", &me, 17);
	assert_string_equal(path, "D/spool/L.here.-.17.rts");
	free(path);
	directory_release(&d);
}

static int make_file(const char *name)
{
	int fd = open(in_folder(name), O_CREAT | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	return fd;
}

static void test_leftovers(void **state)
{
	struct leftovers before = {0}, after = {0}, left = {0};
	char text[100], made[256];
	void *used;
	int fd;

	(void)state;
	mkdir(in_folder("shm"), 0777);
	close(make_file("shm/old"));
	close(make_file("shm/again"));
	assert_int_equal(leftovers_list(&before, in_folder("shm")), 0);
	assert_int_equal(before.items.n, 2);
	close(make_file("shm/new"));
	close(make_file("shm/another"));
	fd = make_file("shm/used");
	used = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(used != MAP_FAILED);
	close(fd);
	/* As sem_open makes it: under another name first. */
	snprintf(made, sizeof(made), "%s", in_folder("shm/used"));
	assert_int_equal(link(made, in_folder("shm/linked")), 0);
	assert_int_equal(unlink(made), 0);
	fd = make_file("shm/open");
	assert_int_equal(leftovers_list(&after, in_folder("shm")), 0);
	assert_int_equal(leftovers_since(&left, in_folder("shm"), &before, &after), 0);
	leftovers_describe(&left, text, sizeof(text));
	assert_string_equal(text, "another, new");
	assert_int_equal(leftovers_remove(&left, in_folder("shm")), 2);
	assert_int_equal(access(in_folder("shm/linked"), F_OK), 0);
	assert_int_equal(access(in_folder("shm/open"), F_OK), 0);
	assert_int_equal(access(in_folder("shm/old"), F_OK), 0);
	assert_int_not_equal(access(in_folder("shm/new"), F_OK), 0);
	munmap(used, 4096);
	close(fd);
	assert_int_equal(leftovers_list(&after, in_folder("nowhere")), -1);
	leftovers_release(&before);
	leftovers_release(&after);
	leftovers_release(&left);
}

/* Grandchildren are found, those known before are not, and killing reaches all. */
static void test_tree(void **state)
{
	struct tree known = {0}, now = {0};
	int ready[2];
	char c;
	pid_t old, fresh;

	(void)state;
	old = fork();
	if (!old) {
		pause();
		_exit(0);
	}
	assert_int_equal(tree_scan(&known, getpid(), NULL), 0);
	assert_int_equal(known.processes.n, 1);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	fresh = fork();
	if (!fresh) {
		if (!fork()) {
			if (write(ready[1], "", 1) != 1)
				_exit(1);
		}
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(tree_scan(&now, getpid(), &known), 0);
	assert_int_equal(now.processes.n, 2);
	assert_int_equal(tree_kill(getpid(), &known), 2);
	assert_int_equal(waitpid(fresh, NULL, 0), fresh);
	assert_int_equal(tree_scan(&now, getpid(), NULL), 0);
	assert_int_equal(now.processes.n, 1);
	assert_int_equal(now.processes.items[0].pid, old);
	kill(old, SIGKILL);
	assert_int_equal(waitpid(old, NULL, 0), old);
	tree_release(&known);
	tree_release(&now);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join_and_refuse),
		cmocka_unit_test(test_foreign_folder),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_race),
		cmocka_unit_test(test_spool_path),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_tree),
	};

	return cmocka_run_group_tests_name("files", tests, set_up, tear_down);
}
