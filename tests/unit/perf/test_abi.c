/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a counter's configuration: what is written reads back, what is not ours is refused.
 */
#include "../test.h"
#include "source/perf/perf_abi.h"

#include <linux/hw_breakpoint.h>
#include <stdio.h>

static void test_round_trip(void **state)
{
	static const char *const texts[] = {
		"type=1",
		"type=0 config=1 exclude_kernel=1",
		"type=4 config=0xfffffffffffffffe config1=0x1 config2=0x20 exclude_user=1",
		"pmu=msr",
		"pmu=cpu_core config=0x3c",
		"tracepoint=sched:sched_switch",
		"type=5 bp_type=x bp_len=8 object=/usr/lib/x.so offset=0x1234 build_id=0a1b2c",
		"type=5 bp_type=rw bp_len=1 object=/a%20b%25%0A%C3%A9 exclude_kernel=1",
		"uprobe=entry object=/usr/bin/xz offset=0x10",
		"uprobe=return object=/x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct perf_config c;
		struct error err = {0};
		char text[PERF_TEXT_SIZE];

		assert_int_equal(perf_config_decode(&c, texts[i], &err), 0);
		assert_int_equal(perf_config_encode(&c, text, &err), 0);
		assert_string_equal(text, texts[i]);
	}
}

static void test_fields(void **state)
{
	struct perf_config c;
	struct perf_event_attr attr;

	(void)state;
	assert_int_equal(perf_config_decode(&c,
					    "type=5 bp_type=w bp_len=4 object=/a%20b offset=0x10 "
					    "build_id=ff00 exclude_kernel=1",
					    NULL),
			 0);
	assert_int_equal(c.kind, PERF_KIND_BREAKPOINT);
	assert_int_equal(c.bp_type, HW_BREAKPOINT_W);
	assert_string_equal(c.object, "/a b");
	assert_int_equal(c.offset, 16);
	assert_string_equal(c.build_id, "ff00");
	assert_int_equal(perf_config_attr(&c, &attr, NULL), 0);
	assert_int_equal(attr.type, PERF_TYPE_BREAKPOINT);
	assert_int_equal(attr.bp_len, 4);
	assert_true(attr.exclude_kernel);
	assert_int_equal(perf_config_decode(&c, "pmu=no_such_pmu config=1", NULL), 0);
	assert_int_equal(perf_config_attr(&c, &attr, NULL), RC_UNSUPPORTED);
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"type",
		"type=",
		"type=x",
		"type=01",
		"type=4294967296",
		"type=1 ",
		" type=1",
		"type=1  config=2",
		"type=1 config=2 config=3",
		"type=1 config2=1 config1=1",
		"type=1 config=0",
		"type=1 config=0X2",
		"type=1 config=0xA",
		"type=1 config=18446744073709551616",
		"type=1 config=-1",
		"type=1 pmu=msr",
		"config=1",
		"type=1 colour=2",
		"type=1 exclude_kernel=0",
		"type=1 exclude_kernel=1 exclude_user=1",
		"type=1 object=/x",
		"type=5",
		"type=5 bp_type=x",
		"type=5 bp_type=x bp_len=9 object=/x",
		"type=5 bp_type=xw bp_len=8 object=/x",
		"type=5 bp_type=x bp_len=8 object=x",
		"type=5 config=1 bp_type=x bp_len=8 object=/x",
		"type=1 bp_type=x bp_len=8",
		"uprobe=middle object=/x",
		"uprobe=entry",
		"uprobe=entry object=/x%2",
		"uprobe=entry object=/x%",
		"uprobe=entry object=/x%zz",
		"uprobe=entry object=/x%00",
		"uprobe=entry object=/x%41",
		"uprobe=entry object=/x%c3",
		"uprobe=entry object=/x\ty",
		"uprobe=entry object=/x build_id=abc",
		"uprobe=entry object=/x build_id=AB",
		"pmu=../../etc",
		"pmu=",
		"tracepoint=sched",
		"tracepoint=:x",
		"tracepoint=a:../../b",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct perf_config c;
		struct error err = {0};

		if (perf_config_decode(&c, texts[i], &err) != RC_INVALID)
			fail_msg("'%s' was not refused", texts[i]);
		assert_true(err.message[0]);
	}
}

/* Whatever decodes must encode to the same text: a change of any one byte is refused or is
 * canonical. */
static void test_every_byte(void **state)
{
	static const char good[] =
		"type=5 bp_type=rw bp_len=4 object=/a%20b offset=0x10 build_id=ff00";
	char text[sizeof(good)], again[PERF_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(good); i++) {
		for (int c = 1; c < 256; c++) {
			struct perf_config config;

			memcpy(text, good, sizeof(good));
			text[i] = (char)c;
			if (perf_config_decode(&config, text, NULL))
				continue;
			assert_int_equal(perf_config_encode(&config, again, NULL), 0);
			/* Numbers have two spellings; everything else is canonical. */
			assert_int_equal(perf_config_decode(&config, again, NULL), 0);
		}
		memcpy(text, good, sizeof(good));
		text[i] = '\0'; /* every truncation */
		(void)perf_config_decode(&(struct perf_config){0}, text, NULL);
	}
}

static void test_too_long(void **state)
{
	struct perf_config c = {.kind = PERF_KIND_UPROBE};
	char text[PERF_TEXT_SIZE];
	struct error err = {0};

	(void)state;
	memset(c.object, 0x01, sizeof(c.object) - 1); /* three bytes each */
	c.object[0] = '/';
	assert_int_equal(perf_config_encode(&c, text, &err), 0);
	assert_int_equal(perf_config_decode(&c, text, &err), 0);
	assert_int_equal(strlen(c.object), PERF_OBJECT_SIZE - 1);
}

static void test_groups(void **state)
{
	struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE, .config = 1};

	(void)state;
	assert_int_equal(perf_attr_group(&a), PERF_TYPE_RAW);
	a.config = (uint64_t)10 << 32;
	assert_int_equal(perf_attr_group(&a), 10);
	a.type = PERF_TYPE_SOFTWARE;
	assert_int_equal(perf_attr_group(&a), 0);
	a.type = 10;
	assert_int_equal(perf_attr_group(&a), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_fields),
		cmocka_unit_test(test_refused),    cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_too_long),   cmocka_unit_test(test_groups),
	};

	return cmocka_run_group_tests_name("perf_abi", tests, NULL, NULL);
}
