/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of programs linked in every way, of their libraries, and what has no place. */
#include "../test.h"
#include "perf_run.h"
#include "source/perf/perf_address.h"
#include "source/perf/perf_host_symbols.h"

#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const programs[] = {"perf_calls_pie", "perf_calls_fixed", "perf_calls_static",
				       "perf_calls_stripped"};

static int find(const char *program, const char *symbol, const char *object,
		struct perf_place *place, struct error *err)
{
	return perf_symbol_find(run_program(program), symbol, object, PERF_SYMBOL_FUNCTION, place,
				err);
}

static void test_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct perf_place place, other;
		struct error err = {0};

		if (find(programs[i], "perf_called", NULL, &place, &err))
			fail_msg("%s: %s", programs[i], err.message);
		assert_string_equal(strrchr(place.object, '/') + 1, programs[i]);
		assert_true(place.size > 0);
		assert_true(place.file_offset != UINT64_MAX);
		assert_int_equal(find(programs[i], "perf_never_called", NULL, &other, &err), 0);
		assert_true(place.load_offset != other.load_offset);
	}
}

static void test_library(void **state)
{
	struct perf_place place, named;
	struct error err = {0};

	(void)state;
	assert_int_equal(find("perf_calls_pie", "perf_library_called", NULL, &place, &err), 0);
	assert_non_null(strstr(place.object, "libperf_library.so"));
	assert_int_equal(
		find("perf_calls_pie", "perf_library_called", "libperf_library", &named, &err), 0);
	assert_memory_equal(&place, &named, sizeof(place));
	assert_int_equal(find("perf_calls_pie", "perf_library_called", place.object, &named, &err),
			 0);
	assert_memory_equal(&place, &named, sizeof(place));
	assert_int_equal(find("perf_calls_pie", "perf_library_called", "libc", &named, &err),
			 RC_NOT_FOUND);
	assert_int_equal(find("perf_calls_pie", "puts", "libc", &named, &err), 0);
	assert_int_equal(find("perf_calls_pie", "puts", "libnothing", &named, &err), RC_NOT_FOUND);
	assert_non_null(strstr(err.message, "libnothing"));
	/* In a static program the same function is its own. */
	assert_int_equal(find("perf_calls_static", "perf_library_called", NULL, &place, &err), 0);
	assert_non_null(strstr(place.object, "perf_calls_static"));
}

static void test_variables(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct perf_place place;
		struct error err = {0};

		assert_int_equal(perf_symbol_find(run_program(programs[i]), "perf_written", NULL,
						  PERF_SYMBOL_VARIABLE, &place, &err),
				 0);
		assert_int_equal(place.size, sizeof(long));
		assert_true(place.file_offset == UINT64_MAX); /* .bss */
		assert_int_equal(perf_symbol_find(run_program(programs[i]), "perf_thread_local",
						  NULL, PERF_SYMBOL_VARIABLE, &place, &err),
				 RC_UNSUPPORTED);
		assert_non_null(strstr(err.message, "thread-local"));
		assert_int_equal(perf_symbol_find(run_program(programs[i]), "perf_called", NULL,
						  PERF_SYMBOL_VARIABLE, &place, &err),
				 RC_NOT_FOUND);
	}
}

static void test_refused(void **state)
{
	struct perf_place place;
	struct error err = {0};

	(void)state;
	assert_int_equal(find("perf_calls_pie", "perf_caled", NULL, &place, &err), RC_NOT_FOUND);
	assert_non_null(strstr(err.message, "near: 'perf_called'"));
	assert_null(strstr(err.message, "stripped"));
	/* Static functions are gone from a stripped program, exported ones are not. */
	assert_int_equal(find("perf_calls_stripped", "in_child", NULL, &place, &err), RC_NOT_FOUND);
	assert_non_null(strstr(err.message, "stripped"));
	assert_int_equal(find("perf_calls_pie", "in_child", NULL, &place, &err), 0);
#if defined(__x86_64__)
	assert_int_equal(find("perf_calls_pie", "strlen", NULL, &place, &err), RC_UNSUPPORTED);
	assert_non_null(strstr(err.message, "IFUNC"));
#endif
	assert_int_equal(find("no_such_program", "main", NULL, &place, &err), RC_NOT_FOUND);
	assert_int_equal(
		perf_symbol_find("/etc/passwd", "main", NULL, PERF_SYMBOL_FUNCTION, &place, &err),
		RC_INVALID);
}

static void test_script(void **state)
{
	char path[] = "/tmp/retally-script-XXXXXX";
	int fd = mkstemp(path);
	struct perf_place place;
	struct error err = {0};
	static const char text[] = "#!/usr/bin/env -S sh -e\nexit 0\n";

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), (int)sizeof(text) - 1);
	close(fd);
	chmod(path, 0700);
	assert_int_equal(perf_symbol_find(path, "no_such_function_at_all", NULL,
					  PERF_SYMBOL_FUNCTION, &place, &err),
			 RC_NOT_FOUND);
	unlink(path);
	assert_non_null(strstr(err.message, path)); /* that it is a script, and of which program */
	assert_non_null(strstr(err.message, "interpreter"));
	assert_non_null(strstr(err.message, "sh"));
}

static void count_names(const char *name, void *data)
{
	int *seen = data;

	seen[0]++;
	seen[1] += !strcmp(name, "perf_called");
	seen[2] += !strcmp(name, "in_child");
}

static void test_list(void **state)
{
	int all[3] = {0}, exported[3] = {0};

	(void)state;
	assert_int_equal(perf_symbol_list(run_program("perf_calls_pie"), PERF_SYMBOL_FUNCTION,
					  count_names, all, NULL),
			 0);
	assert_int_equal(all[1], 1);
	assert_int_equal(all[2], 1);
	assert_int_equal(perf_symbol_list(run_program("perf_calls_stripped"), PERF_SYMBOL_FUNCTION,
					  count_names, exported, NULL),
			 0);
	assert_int_equal(exported[1], 1);
	assert_int_equal(exported[2], 0);
}

/* Addresses in a running process are those that the program itself would print: checked by reading
 * the bytes there and in the file. */
static void check_address(const char *program, const char *symbol)
{
	struct perf_config c = {.kind = PERF_KIND_BREAKPOINT,
				.type = PERF_TYPE_BREAKPOINT,
				.bp_type = HW_BREAKPOINT_X,
				.bp_len = 8};
	struct perf_place place;
	struct error err = {0};
	uint64_t address;
	unsigned char in_file[16], in_memory[16];
	char path[64];
	int status;
	FILE *f;
	pid_t pid;

	assert_int_equal(find(program, symbol, NULL, &place, &err), 0);
	memcpy(c.object, place.object, sizeof(c.object));
	memcpy(c.build_id, place.build_id, sizeof(c.build_id));
	c.offset = place.load_offset;
	pid = fork();
	if (!pid) {
		execl(run_program(program), program, "hold", "0", "0", "0", "0", "0", "0",
		      (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	if (perf_address_find(pid, &c, &address, &err))
		fail_msg("%s", err.message);
	f = fopen(place.object, "r");
	assert_non_null(f);
	assert_int_equal(fseek(f, (long)place.file_offset, SEEK_SET), 0);
	assert_int_equal(fread(in_file, 1, sizeof(in_file), f), sizeof(in_file));
	fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	f = fopen(path, "r");
	if (f) {
		assert_int_equal(fseek(f, (long)address, SEEK_SET), 0);
		assert_int_equal(fread(in_memory, 1, sizeof(in_memory), f), sizeof(in_memory));
		fclose(f);
		assert_memory_equal(in_file, in_memory, sizeof(in_file));
		/* Another build of the object is no match. */
		if (c.build_id[0]) {
			c.build_id[0] = c.build_id[0] == '0' ? '1' : '0';
			assert_int_equal(perf_address_find(pid, &c, &address, &err), RC_MISMATCH);
		}
	}
	memcpy(c.object, "/no/such/object", 16);
	assert_int_equal(perf_address_find(pid, &c, &address, &err), RC_NOT_FOUND);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

static void test_addresses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		check_address(programs[i], "perf_called");
	check_address("perf_calls_pie", "perf_library_called");
	check_address("perf_calls_fixed", "puts");
}

__attribute__((noinline, used)) void test_own_function(void);
void test_own_function(void)
{
	__asm__ volatile("");
}

static void test_own_address(void **state)
{
	struct perf_config c = {
		.kind = PERF_KIND_BREAKPOINT, .bp_type = HW_BREAKPOINT_X, .bp_len = 8};
	struct perf_place place;
	uint64_t address;

	(void)state;
	assert_int_equal(perf_symbol_find("/proc/self/exe", "test_own_function", NULL,
					  PERF_SYMBOL_FUNCTION, &place, NULL),
			 0);
	memcpy(c.object, place.object, sizeof(c.object));
	memcpy(c.build_id, place.build_id, sizeof(c.build_id));
	c.offset = place.load_offset;
	assert_int_equal(perf_address_find(0, &c, &address, NULL), 0);
	assert_true(address == (uint64_t)(uintptr_t)test_own_function);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions), cmocka_unit_test(test_library),
		cmocka_unit_test(test_variables), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_script),    cmocka_unit_test(test_list),
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_own_address),
	};

	return cmocka_run_group_tests_name("perf_symbols", tests, NULL, NULL);
}
