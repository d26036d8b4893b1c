/* SPDX-License-Identifier: Apache-2.0 */
/* Names of events, for users with different rights, and the sysfs description of a PMU that is not
 * here. */
#include "../test.h"
#include "perf_run.h"
#include "source/perf/perf_host_names.h"

#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct perf_rights root = {.paranoid = 2, .privileged = true};
static const struct perf_rights user = {.paranoid = 2, .user_only = true};
static const struct perf_rights nobody = {.paranoid = 3, .user_only = true, .nothing = true};

static void check(const char *name, const struct perf_rights *rights, const char *text)
{
	struct perf_name n;
	struct error err = {0};
	char got[PERF_TEXT_SIZE];

	if (perf_name_parse(name, run_program("perf_calls_pie"), rights, &n, &err))
		fail_msg("%s: %s", name, err.message);
	assert_int_equal(perf_config_encode(&n.config, got, &err), 0);
	assert_string_equal(got, text);
}

static void check_refused(const char *name, const struct perf_rights *rights, int code,
			  const char *part)
{
	struct perf_name n;
	struct error err = {0};
	int rc = perf_name_parse(name, run_program("perf_calls_pie"), rights, &n, &err);

	if (rc != code || !strstr(err.message, part))
		fail_msg("%s: %d, '%s'", name, rc, err.message);
}

static void test_generic(void **state)
{
	(void)state;
	check("cycles", &root, "type=0");
	check("instructions:u", &root, "type=0 config=1 exclude_kernel=1");
	check("instructions:k", &root, "type=0 config=1 exclude_user=1");
	check("instructions:uk", &root, "type=0 config=1");
	check("page-faults", &root, "type=1 config=2");
	check("page-faults", &user, "type=1 config=2 exclude_kernel=1");
	check("L1-dcache-load-misses", &root, "type=3 config=0x10000");
	check("dTLB-stores", &root, "type=3 config=0x103");
	check("r1a8", &root, "type=4 config=0x1a8");
	check("r1a8:u", &root, "type=4 config=0x1a8 exclude_kernel=1");
	check("context-switches", &root, "type=1 config=3");
}

static void test_rights(void **state)
{
	struct perf_name n;

	(void)state;
	check_refused("context-switches", &user, RC_PERMISSION, "would read 0");
	check_refused("context-switches:u", &root, RC_UNSUPPORTED, "would read 0");
	check_refused("cycles:k", &user, RC_PERMISSION, "perf_event_paranoid");
	check_refused("task-clock", &nobody, RC_PERMISSION, "kernel.perf_event_paranoid=2");
	check_refused("uprobe:perf_called", &user, RC_PERMISSION, "bp:");
	assert_int_equal(perf_name_parse("task-clock", NULL, &user, &n, NULL), 0);
	assert_non_null(strstr(n.help, "user code only"));
	assert_string_equal(n.unit, "ns");
}

static void test_places(void **state)
{
	struct perf_name n, other;
	const char *program = run_program("perf_calls_pie");

	(void)state;
	assert_int_equal(perf_name_parse("bp:perf_called", program, &user, &n, NULL), 0);
	assert_int_equal(n.config.kind, PERF_KIND_BREAKPOINT);
	assert_int_equal(n.config.bp_type, HW_BREAKPOINT_X);
	assert_true(n.config.exclude_kernel);
	assert_int_equal(perf_name_parse("uprobe:perf_called", program, &root, &other, NULL), 0);
	assert_int_equal(other.config.kind, PERF_KIND_UPROBE);
	assert_true(other.config.offset == n.file_offset);
	assert_int_equal(perf_name_parse("bp:perf_called+1", program, &user, &other, NULL), 0);
	assert_int_equal(other.config.offset, n.config.offset + 1);
	assert_int_equal(perf_name_parse("mem:perf_written:w", program, &user, &n, NULL), 0);
	assert_int_equal(n.config.bp_type, HW_BREAKPOINT_W);
	assert_int_equal(n.config.bp_len, 8);
	assert_int_equal(perf_name_parse("mem:perf_sum", program, &user, &n, NULL), 0);
	assert_int_equal(n.config.bp_type, HW_BREAKPOINT_RW);
	assert_int_equal(n.config.bp_len, 4);
	assert_int_equal(perf_name_parse("mem:perf_large+16/8:w", program, &user, &n, NULL), 0);
	assert_int_equal(n.config.bp_len, 8);
	assert_int_equal(perf_name_parse("mem:perf_library_written@libperf_library", program, &user,
					 &n, NULL),
			 0);
	assert_non_null(strstr(n.config.object, "libperf_library"));
	check_refused("mem:perf_large", &user, RC_INVALID, "64 bytes");
	check_refused("mem:perf_large+64/8", &user, RC_INVALID, "only 64");
	check_refused("mem:perf_large+1/8", &user, RC_UNSUPPORTED, "aligned");
	check_refused("mem:perf_large/3", &user, RC_INVALID, "1, 2, 4 or 8");
	check_refused("mem:perf_sum:x", &user, RC_INVALID, "not r, w or rw");
#if defined(__x86_64__)
	check_refused("mem:perf_sum:r", &user, RC_UNSUPPORTED, "reads alone");
#endif
	check_refused("bp:", &user, RC_INVALID, "names no symbol");
	check_refused("bp:main@", &user, RC_INVALID, "no object");
	check_refused("bp:perf_called+x", &user, RC_INVALID, "not an offset");
	check_refused("bp:perf_calle", &user, RC_NOT_FOUND, "perf_called");
	assert_int_equal(perf_name_parse("bp:main", NULL, &user, &n, NULL), RC_INVALID);
}

static void test_unknown(void **state)
{
	(void)state;
	check_refused("", &root, RC_INVALID, "not the name");
	check_refused("no-such-event", &root, RC_NOT_FOUND, "no-such-event");
	check_refused("no_pmu/event/", &root, RC_NOT_FOUND, "no PMU 'no_pmu'");
	check_refused("software/task-clock", &root, RC_INVALID, "PMU/EVENT/");
	check_refused("../x/", &root, RC_INVALID, "");
}

static void test_pfm(void **state)
{
	struct perf_name n;
	struct error err = {0};
	int rc = perf_pfm_parse("perf::PAGE-FAULTS:u", &n, &err);

	(void)state;
	if (rc == RC_NOT_FOUND && strstr(err.message, "libpfm4")) {
		print_message("# built without libpfm4\n");
		skip();
	}
	memset(&n, 0, sizeof(n));
	assert_int_equal(perf_pfm_parse("perf::PAGE-FAULTS:u", &n, &err), 0);
	assert_int_equal(n.config.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(n.config.config, PERF_COUNT_SW_PAGE_FAULTS);
	assert_true(n.config.exclude_kernel);
#if defined(__x86_64__)
	/* No machine is both, so at least one of them is another's. */
	rc = perf_pfm_parse("skl::INST_RETIRED:ANY_P:u", &n, &err);
	if (!rc)
		rc = perf_pfm_parse("amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:u", &n, &err);
	assert_int_equal(rc, RC_UNSUPPORTED);
	assert_non_null(strstr(err.message, "not this machine"));
#endif
	assert_int_equal(perf_pfm_parse("no_such_event", &n, &err), RC_NOT_FOUND);
	assert_null(getenv("LIBPFM_ENCODE_INACTIVE"));
}

static void put(const char *root_folder, const char *path, const char *text)
{
	char full[512], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root_folder, path);
	for (slash = strchr(full + strlen(root_folder) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_sysfs(void **state)
{
	char folder[] = "/tmp/retally-pmu-XXXXXX", command[64];
	struct perf_config c = {0};
	struct error err = {0};

	(void)state;
	assert_non_null(mkdtemp(folder));
	put(folder, "cpu/type", "4\n");
	put(folder, "cpu/format/event", "config:0-7,32-35\n");
	put(folder, "cpu/format/umask", "config:8-15\n");
	put(folder, "cpu/format/edge", "config:18\n");
	put(folder, "cpu/format/offcore_rsp", "config1:0-63\n");
	put(folder, "cpu/format/odd", "config9:0-3\n");
	put(folder, "cpu/events/loads", "event=0xd0,umask=0x81\n");
	put(folder, "cpu/events/loads.unit", "count\n");
	assert_int_equal(perf_sysfs_parse_at(folder, "cpu", "loads,edge", &c, &err), 0);
	assert_int_equal(c.config, 0x81d0 | 1 << 18);
	assert_string_equal(c.name, "cpu");
	memset(&c, 0, sizeof(c));
	assert_int_equal(perf_sysfs_parse_at(folder, "cpu",
					     "event=0x3c5,offcore_rsp=0xffffffffffffffff", &c,
					     &err),
			 0);
	assert_true(c.config == (0xc5 | (uint64_t)3 << 32));
	assert_true(c.config1 == UINT64_MAX);
	memset(&c, 0, sizeof(c));
	assert_int_equal(perf_sysfs_parse_at(folder, "cpu", "config=0x10,config1=2", &c, &err), 0);
	assert_int_equal(c.config, 0x10);
	assert_int_equal(c.config1, 2);
	assert_int_equal(perf_sysfs_parse_at(folder, "cpu", "event=0x1000", &c, &err), RC_INVALID);
	assert_int_equal(perf_sysfs_parse_at(folder, "cpu", "edge=2", &c, &err), RC_INVALID);
	assert_int_equal(perf_sysfs_parse_at(folder, "cpu", "event=zz", &c, &err), RC_INVALID);
	assert_int_equal(perf_sysfs_parse_at(folder, "cpu", "event=", &c, &err), RC_INVALID);
	assert_int_equal(perf_sysfs_parse_at(folder, "cpu", "odd=1", &c, &err), RC_UNSUPPORTED);
	assert_int_equal(perf_sysfs_parse_at(folder, "cpu", "stores", &c, &err), RC_NOT_FOUND);
	assert_non_null(strstr(err.message, "it has: loads"));
	assert_int_equal(perf_sysfs_parse_at(folder, "cpu", "colour=1", &c, &err), RC_NOT_FOUND);
	assert_non_null(strstr(err.message, "umask"));
	assert_int_equal(perf_sysfs_parse_at(folder, "gpu", "x", &c, &err), RC_NOT_FOUND);
	assert_int_equal(perf_sysfs_parse_at(folder, "cpu", "../type", &c, &err), RC_INVALID);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generic), cmocka_unit_test(test_rights),
		cmocka_unit_test(test_places),  cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_pfm),     cmocka_unit_test(test_sysfs),
	};

	return cmocka_run_group_tests_name("perf_names", tests, NULL, NULL);
}
