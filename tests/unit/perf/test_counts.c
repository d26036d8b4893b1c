/* SPDX-License-Identifier: Apache-2.0 */
/* Exact counts: in the main thread, in threads, children, before and after exec, by breakpoint, by
 * uprobe. */
#include "../test.h"
#include "perf_run.h"
#include "source/perf/perf_breakpoint.h"
#include "source/perf/perf_host_names.h"
#include "source/perf/perf_host_symbols.h"
#include "source/perf/perf_tracefs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* MAIN THREAD FORK BEFORE AFTER LIB */
#define CALLS "1000 500 100 10 77 30"

static const struct perf_rights root = {.paranoid = 2, .privileged = true};

static const char *config(const char *program, const char *name, char text[PERF_TEXT_SIZE])
{
	struct perf_name n;
	struct error err = {0};

	if (perf_name_parse(name, program, &root, &n, &err))
		fail_msg("%s", err.message);
	assert_int_equal(perf_config_encode(&n.config, text, &err), 0);
	return text;
}

static void need_breakpoints(void)
{
	struct error err = {0};

	if (perf_breakpoint_try(1, 0, NULL, &err) || perf_breakpoint_try(0, 1, NULL, &err)) {
		print_message("# %s\n", err.message);
		skip();
	}
}

static void need_uprobes(void)
{
	struct error err = {0};
	int dir;

	if (perf_tracefs_open(&dir, &err)) {
		print_message("# %s\n", err.message);
		skip();
	}
	if (faccessat(dir, "uprobe_events", W_OK, AT_EACCESS)) {
		close(dir);
		print_message("# uprobes cannot be registered here\n");
		skip();
	}
	close(dir);
}

static void check_value(const struct run *r, uint32_t i, uint64_t want)
{
	if (r->samples[i].status != SAMPLE_OK || r->samples[i].value.u64 != want)
		fail_msg("counter %u: status %d, value %llu, not %llu; %s", i, r->samples[i].status,
			 (unsigned long long)r->samples[i].value.u64, (unsigned long long)want,
			 r->why);
}

static const char *const programs[] = {"perf_calls_pie", "perf_calls_fixed", "perf_calls_static",
				       "perf_calls_stripped"};

static void test_breakpoints(void **state)
{
	(void)state;
	need_breakpoints();
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		const char *program = run_program(programs[i]);
		char called[PERF_TEXT_SIZE], never[PERF_TEXT_SIZE], library[PERF_TEXT_SIZE],
			written[PERF_TEXT_SIZE];
		const char *configs[] = {config(program, "bp:perf_called", called),
					 config(program, "bp:perf_never_called", never),
					 config(program, "bp:perf_library_called", library),
					 config(program, "mem:perf_written:w", written)};
		struct run r;

		run_counted(program, CALLS, true, configs, 4, &r);
		assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0);
		assert_string_equal(r.why, "");
		assert_int_equal(r.n, 4);
		/* What the child does after its exec is another program's. */
		check_value(&r, 0, 1000 + 500 + 100 + 10);
		check_value(&r, 1, 0);
		check_value(&r, 2, 30);
		check_value(&r, 3, 1000 + 500 + 100 + 10);
		assert_true(r.enabled == r.running && r.running > 0);
	}
}

static void test_too_many(void **state)
{
	const char *program = run_program("perf_calls_pie");
	char text[PERF_TEXT_SIZE];
	const char *configs[RUN_COUNTERS_MAX];
	struct run r;
	uint32_t slots = 0, right = 0;

	(void)state;
	need_breakpoints();
	(void)perf_breakpoint_try(PERF_BREAKPOINTS_TRIED_MAX, 0, &slots, NULL);
	assert_in_range(slots, 1, RUN_COUNTERS_MAX - 1);
	config(program, "bp:perf_called", text);
	for (uint32_t i = 0; i <= slots; i++)
		configs[i] = text;
	run_counted(program, "10 0 0 0 0 0", true, configs, slots + 1, &r);
	assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0);
	for (uint32_t i = 0; i <= slots; i++) {
		right += r.samples[i].status == SAMPLE_OK && r.samples[i].value.u64 == 10;
		if (r.samples[i].status != SAMPLE_OK)
			assert_int_equal(r.samples[i].status, SAMPLE_NOT_COLLECTED);
	}
	assert_int_equal(right, slots);
	assert_non_null(strstr(r.why, "in use"));
}

/* A machine that accepts breakpoints and never triggers them must not report 0. */
static void test_silent_breakpoints(void **state)
{
	const char *program = run_program("perf_calls_pie");
	char text[PERF_TEXT_SIZE];
	const char *configs[] = {config(program, "bp:perf_called", text)};
	struct error err = {0};
	struct run r;

	(void)state;
	if (perf_breakpoint_try(1, 0, NULL, &err) != RC_UNSUPPORTED) {
		print_message("# breakpoints work here\n");
		skip();
	}
	run_counted(program, CALLS, true, configs, 1, &r);
	assert_int_equal(r.samples[0].status, SAMPLE_NOT_COLLECTED);
	assert_true(r.why[0]);
	assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0);
}

static void test_uprobes(void **state)
{
	(void)state;
	need_uprobes();
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		const char *program = run_program(programs[i]);
		char called[PERF_TEXT_SIZE], never[PERF_TEXT_SIZE], library[PERF_TEXT_SIZE],
			back[PERF_TEXT_SIZE];
		const char *configs[] = {config(program, "uprobe:perf_called", called),
					 config(program, "uprobe:perf_never_called", never),
					 config(program, "uprobe:perf_library_called", library),
					 config(program, "uretprobe:perf_library_called", back)};
		struct run r;

		run_counted(program, CALLS, false, configs, 4, &r);
		/* Inherited uprobes once made pthread_create and fork of the program fail. */
		assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0);
		assert_string_equal(r.why, "");
		check_value(&r, 0, 1000 + 500 + 100 + 10 + 77);
		check_value(&r, 1, 0);
		check_value(&r, 2, 30);
		check_value(&r, 3, 30);
	}
}

static bool has_uprobe(int dir, const char *part)
{
	static char text[65536];
	int fd = openat(dir, "uprobe_events", O_RDONLY);
	ssize_t n = 0, got;

	while ((got = read(fd, text + n, sizeof(text) - 1 - (size_t)n)) > 0)
		n += got;
	close(fd);
	text[n] = '\0';
	return strstr(text, part);
}

static void test_uprobes_leave_nothing(void **state)
{
	struct perf_config c;
	char text[PERF_TEXT_SIZE], mine[32];
	struct error err = {0};
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr)};
	uint64_t id;
	int dir, status, fd;
	pid_t pid;

	(void)state;
	need_uprobes();
	assert_int_equal(perf_tracefs_open(&dir, &err), 0);
	snprintf(mine, sizeof(mine), "retally_%d/", (int)getpid());
	assert_false(has_uprobe(dir, mine)); /* of the tests before */
	config(run_program("perf_calls_pie"), "uprobe:perf_called", text);
	assert_int_equal(perf_config_decode(&c, text, &err), 0);
	/* A process that dies without closing leaves one; the next user takes it out. */
	pid = fork();
	if (!pid)
		_exit(perf_tracefs_add_uprobe(dir, "left", &c, &id, NULL) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	snprintf(mine, sizeof(mine), "retally_%d/", (int)pid);
	assert_true(has_uprobe(dir, mine));
	perf_tracefs_sweep(dir);
	assert_false(has_uprobe(dir, mine));
	/* Twice under one name replaces; removal removes. */
	snprintf(mine, sizeof(mine), "retally_%d/", (int)getpid());
	assert_int_equal(perf_tracefs_add_uprobe(dir, "x", &c, &id, &err), 0);
	assert_int_equal(perf_tracefs_add_uprobe(dir, "x", &c, &id, &err), 0);
	assert_true(has_uprobe(dir, mine));
	perf_tracefs_remove_uprobe(dir, "x");
	assert_false(has_uprobe(dir, mine));
	/* One that no event uses is swept, one in use is not. */
	assert_int_equal(perf_tracefs_add_uprobe(dir, "x", &c, &id, &err), 0);
	attr.config = id;
	fd = perf_open(&attr, 0, -1, -1);
	assert_true(fd >= 0);
	perf_tracefs_sweep(dir);
	assert_true(has_uprobe(dir, mine));
	close(fd);
	perf_tracefs_sweep(dir);
	assert_false(has_uprobe(dir, mine));
	close(dir);
}

static void test_uprobe_in_odd_path(void **state)
{
	char folder[] = "/tmp/retally odd #XXXXXX", command[2200], path[64], text[PERF_TEXT_SIZE];
	const char *configs[1];
	struct run r;

	(void)state;
	need_uprobes();
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a b", folder);
	snprintf(command, sizeof(command), "cp '%s' '%s'", run_program("perf_calls_static"), path);
	assert_int_equal(system(command), 0);
	configs[0] = config(path, "uprobe:perf_called", text);
	run_counted(path, "40 2 0 0 0 0", false, configs, 1, &r);
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	assert_int_equal(system(command), 0);
	check_value(&r, 0, 42);
}

static void test_software(void **state)
{
	const char *program = run_program("perf_calls_pie");
	static const char *const configs[] = {
		"type=1 config=1 exclude_kernel=1", "type=1 config=2 exclude_kernel=1",
		"type=1 config=8 exclude_kernel=1", "type=0 config=1 exclude_kernel=1",
		"pmu=no_such_pmu config=1",         "type=nonsense",
	};
	struct perf_event_attr attr;
	struct perf_config c;
	struct run r;
	int fd, hardware;

	(void)state;
	assert_int_equal(perf_config_decode(&c, configs[0], NULL), 0);
	assert_int_equal(perf_config_attr(&c, &attr, NULL), 0);
	fd = perf_open(&attr, 0, -1, -1);
	if (fd < 0) {
		print_message("# perf_event_open is not permitted here\n");
		skip();
	}
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
	assert_int_equal(perf_config_decode(&c, configs[3], NULL), 0);
	assert_int_equal(perf_config_attr(&c, &attr, NULL), 0);
	hardware = perf_open(&attr, 0, -1, -1);
	if (hardware >= 0)
		close(hardware);
	run_counted(program, "1000 500 1 1 1 30", false, configs, 6, &r);
	assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0);
	assert_int_equal(r.n, 6);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(r.samples[i].status, SAMPLE_OK);
		assert_int_equal(r.samples[i].counter, i);
		assert_int_equal(r.samples[i].instance, SPOOL_INSTANCE_ALL);
		assert_true(r.samples[i].value.u64 > 0 || i == 2);
	}
	/* Faults are minor or major, each once. */
	assert_true(r.samples[1].value.u64 > 10);
	assert_true(r.samples[2].value.u64 == 0 ||
		    r.samples[2].value.u64 <= r.samples[1].value.u64);
	assert_int_equal(r.samples[3].status, hardware >= 0 ? SAMPLE_OK : SAMPLE_NOT_COLLECTED);
	assert_int_equal(r.samples[4].status, SAMPLE_NOT_COLLECTED);
	assert_int_equal(r.samples[5].status, SAMPLE_NOT_COLLECTED);
	assert_true(r.why[0]);
}

/* Faults of a known number of pages, counted by the process for itself. */
static void test_self(void **state)
{
	struct plan_counter counters[] = {
		{"faults", "perf", "", "count", 0, "type=1 config=2 exclude_kernel=1"},
		{"not-ours", "cuda", "", "count", 0, "whatever"},
		{"clock", "perf", "", "ns", 0, "type=1 config=1 exclude_kernel=1"},
	};
	uint32_t indices[] = {0, 1, 2};
	struct plan_pass pass = {.n_counters = 3, .counters = indices};
	struct plan plan = {.n_counters = 3, .counters = counters, .n_passes = 1, .passes = &pass};
	struct spool_sample before[3], after[3], off[3];
	struct perf_device d;
	uint64_t enabled, running;
	volatile char *pages;
	uint32_t n;
	long size = sysconf(_SC_PAGESIZE);

	(void)state;
	assert_int_equal(perf_device_open(&d, &plan, 2, 0, 0, NULL), RC_INVALID);
	assert_int_equal(perf_device_open(&d, &plan, 1, 0, PERF_INHERIT, NULL), 0);
	if (d.why[0]) {
		print_message("# %s\n", d.why);
		perf_device_close(&d);
		skip();
	}
	assert_int_equal(d.n_events, 2);
	assert_int_equal(perf_device_read(&d, before, &n, &enabled, &running, NULL), 0);
	assert_int_equal(n, 2);
	assert_int_equal(before[0].status, SAMPLE_NOT_COLLECTED); /* never switched on is not 0 */
	pages = mmap(NULL, (size_t)size * 256, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	assert_true(pages != MAP_FAILED);
	madvise((void *)(uintptr_t)pages, (size_t)size * 256, MADV_NOHUGEPAGE);
	d.why[0] = '\0';
	assert_int_equal(perf_device_enable(&d, NULL), 0);
	assert_int_equal(perf_device_read(&d, before, &n, &enabled, &running, NULL), 0);
	for (long i = 0; i < 256; i++)
		pages[i * size] = 1;
	assert_int_equal(perf_device_read(&d, after, &n, &enabled, &running, NULL), 0);
	assert_int_equal(perf_device_disable(&d, NULL), 0);
	assert_int_equal(perf_device_read(&d, off, &n, &enabled, &running, NULL), 0);
	assert_int_equal(after[0].status, SAMPLE_OK);
	assert_int_equal(after[0].value.u64 - before[0].value.u64, 256);
	assert_int_equal(after[1].counter, 2);
	assert_true(after[1].value.u64 > before[1].value.u64);
	assert_true(enabled == running);
	munmap((void *)(uintptr_t)pages, (size_t)size * 256);
	perf_device_close(&d);
	perf_device_close(&d); /* twice is once */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_breakpoints),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_silent_breakpoints),
		cmocka_unit_test(test_uprobes),
		cmocka_unit_test(test_uprobes_leave_nothing),
		cmocka_unit_test(test_uprobe_in_odd_path),
		cmocka_unit_test(test_software),
		cmocka_unit_test(test_self),
	};

	return cmocka_run_group_tests_name("perf_counts", tests, NULL, NULL);
}
