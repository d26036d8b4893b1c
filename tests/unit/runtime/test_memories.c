/* SPDX-License-Identifier: Apache-2.0 */
/* The list of the program's memories: addresses at the edges, overlaps, owners, names. */
#include "../test.h"
#include "runtime/common/memories.h"

#include <stdlib.h>

#define PAGE 0x1000u

static struct memories all = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static void add(uint64_t address, uint64_t size, uint64_t owner)
{
	assert_true(memories_add(
		&all, &(struct program_memory){.address = address, .size = size, .owner = owner}));
}

static int empty(void **state)
{
	(void)state;
	free(all.items);
	all = (struct memories){.lock = PTHREAD_RWLOCK_INITIALIZER};
	return 0;
}

static void finds_by_address(void **state)
{
	struct program_memory found;

	(void)state;
	for (uint64_t i = 1000; i > 0; i--) /* descending, and more than the first room */
		add(i * 2 * PAGE, PAGE, i);
	for (uint64_t i = 1; i <= 1000; i++) {
		assert_true(memories_find(&all, i * 2 * PAGE, &found));
		assert_int_equal(found.owner, i);
		assert_true(memories_find(&all, i * 2 * PAGE + PAGE - 1, &found));
		assert_int_equal(found.owner, i);
		assert_false(memories_find(&all, i * 2 * PAGE + PAGE, &found));
		assert_false(memories_find(&all, i * 2 * PAGE - 1, &found));
	}
	assert_int_equal(all.added, 1000);
	add(0, PAGE, 1);
	add(PAGE, 0, 1);
	assert_int_equal(all.n, 1000);
}

static void forgets_what_overlaps(void **state)
{
	struct program_memory found;

	(void)state;
	add(4 * PAGE, PAGE, 1);
	add(5 * PAGE, PAGE, 2);
	add(6 * PAGE, PAGE, 3);
	add(4 * PAGE + 8, PAGE, 4); /* the first and the second */
	assert_int_equal(all.n, 2);
	assert_false(memories_find(&all, 4 * PAGE, &found));
	assert_true(memories_find(&all, 5 * PAGE, &found));
	assert_int_equal(found.owner, 4);
	assert_true(memories_find(&all, 6 * PAGE, &found));
	assert_int_equal(found.owner, 3);
}

static void takes(void **state)
{
	struct program_memory m;

	(void)state;
	for (unsigned i = 1; i <= 8; i++)
		add(i * PAGE, PAGE, i % 2);
	assert_false(memories_take(&all, PAGE + 1, &m));
	assert_true(memories_take(&all, PAGE, &m));
	assert_false(memories_take(&all, PAGE, &m));
	/* 3, 4 and the one that only begins inside it */
	for (unsigned i = 3; i <= 5; i++) {
		assert_true(memories_take_in(&all, 3 * PAGE + 1, 2 * PAGE, &m));
		assert_int_equal(m.address, i * PAGE);
	}
	assert_false(memories_take_in(&all, 3 * PAGE + 1, 2 * PAGE, &m));
	while (memories_take_of_owner(&all, 0, &m))
		assert_int_equal(m.owner, 0);
	assert_int_equal(all.n, 1);
	assert_int_equal(all.items[0].address, 7 * PAGE);
	assert_true(memories_add(
		&all, &(struct program_memory){
			      .address = PAGE, .size = 8, .kind = MEMORY_VARIABLE, .module = 5}));
	assert_false(memories_take_of_module(&all, 0, &m)); /* no module's, and no variable */
	assert_true(memories_take_of_module(&all, 5, &m));
	assert_false(memories_take_of_module(&all, 5, &m));
}

static void count(void *data, const struct program_memory *memory)
{
	*(uint64_t *)data = *(uint64_t *)data * 10 + memory->owner;
}

static void scans_words(void **state)
{
	uint64_t seen = 0;
	const uint64_t words[] = {2 * PAGE,     0,       1, 4 * PAGE + 5, UINT64_MAX, 3 * PAGE,
				  2 * PAGE + 1, 5 * PAGE};

	(void)state;
	add(2 * PAGE, PAGE, 2);
	add(4 * PAGE, PAGE, 4);
	memories_scan(&all, words, sizeof(words) - 1, count, &seen); /* half a word is none */
	assert_int_equal(seen, 242);
	seen = 0;
	memories_each(&all, 4, count, &seen);
	assert_int_equal(seen, 4);
}

static void names_once(void **state)
{
	struct replay_memory *one = (void *)&all, *two = (void *)&one;
	struct program_memory m;

	(void)state;
	add(2 * PAGE, PAGE, 1);
	add(4 * PAGE, PAGE, 2);
	assert_false(memories_unknown(&all, 3, &m));
	assert_true(memories_unknown(&all, 1, &m));
	assert_false(memories_name(&all, 2 * PAGE + 8, one));
	assert_true(memories_name(&all, m.address, one));
	assert_false(memories_name(&all, m.address, two));
	assert_false(memories_unknown(&all, 1, &m));
	assert_true(memories_find(&all, 2 * PAGE, &m));
	assert_ptr_equal(m.known, one);
}

static void shares(void **state)
{
	struct replay_memory *one = (struct replay_memory *)(uintptr_t)1;
	struct program_memory m;
	uint64_t added;

	(void)state;
	add(2 * PAGE, PAGE, 1);
	assert_true(memories_name(&all, 2 * PAGE, one));
	added = all.added;
	assert_false(memories_share(&all, 3 * PAGE, &m));
	assert_int_equal(all.added, added);
	assert_true(memories_share(&all, 2 * PAGE + 8, &m));
	assert_ptr_equal(m.known, one);
	assert_int_equal(m.kind, MEMORY_DEVICE);
	assert_true(all.added > added); /* it must be told of again, as what it is now */
	assert_true(memories_unknown(&all, 1, &m));
	assert_int_equal(m.kind, MEMORY_SHARED);
	assert_false(memories_share(&all, 2 * PAGE, &m));
}

static void gives(void **state)
{
	struct program_memory m;

	(void)state;
	add(PAGE, PAGE, 1);
	for (unsigned i = 3; i <= 5; i++)
		assert_true(memories_add(
			&all, &(struct program_memory){.address = i * PAGE,
						       .size = PAGE,
						       .kind = i == 4 ? MEMORY_HOST : MEMORY_DEVICE,
						       .mapping_of = 9}));
	assert_false(memories_give(&all, 2 * PAGE, &m));
	assert_true(memories_give(&all, PAGE + 1, &m));
	assert_int_equal(m.kind, MEMORY_GIVEN);
	assert_int_equal(m.address, PAGE);
	assert_false(memories_give(&all, PAGE + 1, &m)); /* once */
	assert_false(memories_give_mapping(&all, 8, &m));
	for (unsigned i = 5; i >= 3; i -= 2) {
		assert_true(memories_give_mapping(&all, 9, &m));
		assert_int_equal(m.address, i * PAGE);
		assert_true(memories_find(&all, i * PAGE, &m));
		assert_int_equal(m.kind, MEMORY_GIVEN);
	}
	assert_false(memories_give_mapping(&all, 9, &m)); /* the host's stays that */
	assert_true(memories_find(&all, 4 * PAGE, &m));
	assert_int_equal(m.kind, MEMORY_HOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(finds_by_address, empty),
		cmocka_unit_test_setup(forgets_what_overlaps, empty),
		cmocka_unit_test_setup(takes, empty),
		cmocka_unit_test_setup(gives, empty),
		cmocka_unit_test_setup(scans_words, empty),
		cmocka_unit_test_setup(shares, empty),
		cmocka_unit_test_setup_teardown(names_once, empty, empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
