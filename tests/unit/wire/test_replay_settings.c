/* SPDX-License-Identifier: Apache-2.0 */
/* RETALLY_REPLAY: what is written is read back, and nothing else is taken. */
#include "../test.h"
#include "wire/replay_settings.h"

#include <stdlib.h>
#include <string.h>

static const char *const ranges[] = {"solve", "glob:step;*"};
static const char *const patterns[] = {"add", "regex:^a;b%$", "glob:x*\n", "!exact:caf\xc3\xa9"};

static struct replay_settings example(void)
{
	return (struct replay_settings){.mode = REPLAY_SETTINGS_NONE,
					.engine = REPLAY_SETTINGS_SDK,
					.verify = REPLAY_SETTINGS_ALWAYS,
					.cache = REPLAY_SETTINGS_FLUSH,
					.window = 300,
					.max_snapshot = 1ull << 40,
					.repeat = 3,
					.skip = 5,
					.count = UINT64_MAX,
					.pass = 2,
					.random = true,
					.seed = 7,
					.offset = 9,
					.until = 5000,
					.launch = "0123abc",
					.collection = "ff",
					.patterns = patterns,
					.n_patterns = 4,
					.ranges = ranges,
					.n_ranges = 2};
}

static void test_round_trip(void **state)
{
	struct replay_settings a = example(), b;
	struct str first = STR_INIT, second = STR_INIT;
	struct arena arena = {0};
	struct error err = {0};

	(void)state;
	replay_settings_format(&a, &first);
	assert_string_equal(str_text(&first),
			    "mode=none;engine=sdk;verify=always;cache=flush;window=300;max-"
			    "snapshot=1099511627776;"
			    "repeat=3;skip=5;count=18446744073709551615;pass=2;random=1;seed=7;"
			    "offset=9;until=5000;launch=0123abc;collection=ff;kernel=add;"
			    "kernel=regex:^a%3Bb%25$;kernel=glob:x*%0A;kernel=!exact:caf\xc3\xa9;"
			    "range=solve;range=glob:step%3B*");
	if (replay_settings_parse(&b, &arena, str_text(&first), &err))
		fail_msg("%s", err.message);
	assert_int_equal(b.n_patterns, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(b.patterns[i], patterns[i]);
	assert_int_equal(b.n_ranges, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(b.ranges[i], ranges[i]);
	replay_settings_format(&b, &second);
	assert_string_equal(str_text(&first), str_text(&second));
	str_release(&first);
	str_release(&second);
	arena_release(&arena);
}

/* Every text that lacks a byte of the right one, or has another one there, is refused or means
 * something that is written just like that. */
static void test_damage(void **state)
{
	struct replay_settings a = example(), b;
	struct str text = STR_INIT, again = STR_INIT;
	struct arena arena = {0};
	int refused = 0;

	(void)state;
	replay_settings_format(&a, &text);
	for (size_t i = 0; i < 2 * text.size; i++) {
		char *bad = strdup(str_text(&text));
		size_t at = i / 2;

		if (i % 2)
			memmove(bad + at, bad + at + 1, text.size - at);
		else
			bad[at] = bad[at] == '0' ? '1' : '0';
		if (replay_settings_parse(&b, &arena, bad, NULL)) {
			refused++;
		} else {
			str_clear(&again);
			replay_settings_format(&b, &again);
			assert_string_equal(str_text(&again), bad);
		}
		free(bad);
	}
	assert_true(refused > 100);
	str_release(&text);
	str_release(&again);
	arena_release(&arena);
}

static void test_sentences(void **state)
{
	static const char rest[] =
		";skip=0;count=0;pass=0;random=0;seed=0;offset=0;until=0;launch=1;"
		"collection=1";
	static const char *const cases[][2] = {
		{"", "'mode=' is expected at ''"},
		{"mode=none;engine=x;", "'x' is no value of 'engine'"},
		{"mode=fast;", "'fast' is no value of 'mode'"},
		{"mode=none;engine=own;verify=first;cache=keep;window=01;max-snapshot=0;repeat=1",
		 "'01' is no value of 'window'"},
		{"mode=none;engine=own;verify=first;cache=keep;window=4294967296;max-snapshot=0;"
		 "repeat=1",
		 "'4294967296' is no value of 'window'"},
		{"mode=none;engine=own;verify=first;cache=keep;window=0;max-snapshot="
		 "99999999999999999999;"
		 "repeat=1",
		 "'99999999999999999999' is no value of 'max-snapshot'"},
		{"mode=none;engine=own;verify=first;cache=keep;window=0;max-snapshot=-1;repeat=1",
		 "'-1' is no value of 'max-snapshot'"},
		{"mode=none;engine=own;verify=first;cache=keep;window=0;max-snapshot=0;repeat=0",
		 "'0' is no value of 'repeat'"},
		{"mode=none;engine=own;verify=first;cache=keep;window=0;max-snapshot=0;repeat=1;"
		 "skip=0;count=0;pass=0;random=0;seed=0;offset=0;until=1000000",
		 "'1000000' is no value of 'until'"},
		{"mode=window;engine=own;verify=first;cache=keep;window=0;max-snapshot=0;repeat=1;"
		 "skip=0;count=0;pass=0;random=0;seed=0;offset=0;until=5;"
		 "launch=1;collection=1",
		 "until=5 is for dispatches that are counted live (mode=none), not for "
		 "mode=window"},
		{"mode=none;engine=own;verify=first;cache=cold;window=0;max-snapshot=0;repeat=1",
		 "'cold' is no value of 'cache'"},
		{"mode=none;engine=own;verify=first;cache=keep;window=0;max-snapshot=0;repeat=1;"
		 "skip=0;count="
		 "0;pass=0;"
		 "random=0;seed=0;offset=0;until=0;launch=1;collection=1;range=a;kernel=b",
		 "nothing is expected at 'kernel=b"},
	};
	struct arena arena = {0};
	struct replay_settings s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = {0};
		struct str text = STR_INIT;

		str_addf(&text, "%s%s", cases[i][0], rest);
		if (!i)
			str_clear(&text);
		assert_int_equal(replay_settings_parse(&s, &arena, str_text(&text), &err),
				 RC_INVALID);
		if (!strstr(err.message, cases[i][1]))
			fail_msg("'%s' is not in '%s'", cases[i][1], err.message);
		str_release(&text);
	}
	arena_release(&arena);
}

static void test_filters(void **state)
{
	static const char *const ab[] = {"b", "a"}, *const ba[] = {"a", "b"};
	struct replay_settings s = {.repeat = 1};
	struct str text = STR_INIT;

	(void)state;
	assert_int_equal(replay_settings_filters(&s, &text), 0);
	assert_string_equal(str_text(&text), "");
	for (int i = 0; i < 2; i++) {
		str_clear(&text);
		s = (struct replay_settings){.patterns = i ? ab : ba,
					     .n_patterns = 2,
					     .ranges = i ? ba : ab,
					     .n_ranges = 2,
					     .skip = 3,
					     .count = 4};
		assert_int_equal(replay_settings_filters(&s, &text), 0);
		assert_string_equal(str_text(&text), "-c 4 -k a -k b --range a --range b -s 3");
		str_clear(&text);
		s.cache = REPLAY_SETTINGS_FLUSH;
		assert_int_equal(replay_settings_filters(&s, &text), 0);
		assert_string_equal(str_text(&text),
				    "-c 4 -k a -k b --range a --range b -s 3 --cache flush");
	}
	str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
