/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the layer reads out of LLVM bitcode: variables that keep their value. The modules are
 * written here, bit by bit; tests/cli/opencl/binaries.sh has those of PoCL. Cut or damaged ones are
 * survived, and never taken for harmless when cut.
 */
#include "../test.h"
#include "runtime/opencl/opencl_internal.h"

#include <stdlib.h>
#include <string.h>

void *pool_get(size_t bytes)
{
	return calloc(1, bytes);
}

void pool_put(void *object)
{
	free(object);
}

/* ---- a writer ---- */

static struct {
	unsigned char bytes[1024];
	size_t at; /* bits */
	size_t lengths[4], depth;
} out;

static void put(uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++, out.at++)
		if (value >> i & 1)
			out.bytes[out.at / 8] |= (unsigned char)(1u << out.at % 8);
}

static void vbr(uint64_t value, unsigned n)
{
	for (; value >> (n - 1); value >>= n - 1)
		put((value & ((1u << (n - 1)) - 1)) | 1u << (n - 1), n);
	put(value, n);
}

static void align(void)
{
	out.at = (out.at + 31) / 32 * 32;
}

static void enter(unsigned block, unsigned outer)
{
	put(1, outer);
	vbr(block, 8);
	vbr(3, 4); /* the width inside */
	align();
	out.lengths[out.depth++] = out.at;
	out.at += 32;
}

static void leave(void)
{
	size_t from = out.lengths[--out.depth], words, at;

	put(0, 3);
	align();
	words = (out.at - from) / 32 - 1;
	at = out.at;
	out.at = from;
	put(words, 32);
	out.at = at;
}

static void record(unsigned n, const uint64_t *numbers)
{
	put(3, 3);
	vbr(numbers[0], 6);
	vbr(n - 1, 6);
	for (unsigned i = 1; i < n; i++)
		vbr(numbers[i], 6);
}
#define RECORD(...) \
	record(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

/* An operand of an abbreviation: fixed (1) or VBR (2), of that many bits. */
static void encoded(uint64_t encoding, uint64_t bits)
{
	put(0, 1);
	put(encoding, 3);
	vbr(bits, 5);
}

/* The way LLVM writes variables: by an abbreviation of the module. */
static void define_variable(void)
{
	put(2, 3);
	vbr(8, 5);
	put(1, 1);
	vbr(7, 8);     /* GLOBALVAR */
	encoded(2, 8); /* name and length */
	encoded(2, 8);
	encoded(1, 5); /* type */
	encoded(2, 6); /* flags */
	encoded(2, 6); /* first value */
	put(0, 1);     /* the rest: an array ... */
	put(3, 3);
	put(0, 1); /* ... of 6 bits */
	put(4, 3);
}

static void variable(uint64_t flags, uint64_t first)
{
	put(4, 3);
	vbr(300, 8);
	vbr(4, 8);
	put(2, 5);
	vbr(flags, 6);
	vbr(first, 6);
	vbr(2, 6);
	put(9, 6);
	put(0, 6);
}

enum first {
	DECLARED,
	NOTHING, /* undefined */
	FIVE,
	CONSTANT, /* five, and never anything else */
	ALL_ZERO,
};

/* A module with these variables, a function, and a block in between that is none of ours. */
static size_t module(unsigned version, unsigned n, const enum first *first)
{
	memset(&out, 0, sizeof(out));
	put(0x4342, 16);
	put(0xDEC0, 16);
	enter(13, 2);
	RECORD(1, 'L', 'L', 'V', 'M');
	leave();
	enter(8, 2);
	RECORD(1, version);
	enter(0, 3); /* BLOCKINFO: an abbreviation of constants, an integer */
	RECORD(1, 11);
	put(2, 3);
	vbr(2, 5);
	put(1, 1);
	vbr(4, 8);
	put(0, 1);
	put(2, 3);
	vbr(8, 5);
	leave();
	enter(17, 3);
	RECORD(1, 20, 30, 40, 5000000000);
	leave();
	define_variable();
	for (unsigned i = 0; i < n; i++) /* numbers: the variables, the function, constants */
		variable(first[i] == CONSTANT ? 3 : 2, first[i] == DECLARED ? 0 : n + 1 + i + 1);
	RECORD(8, 310, 1, 4, 0, 0, 0);
	enter(11, 3);
	for (unsigned i = 0; i < n; i++) {
		RECORD(1, 2);
		if (first[i] == NOTHING)
			RECORD(3);
		else if (first[i] == ALL_ZERO)
			RECORD(2);
		else {
			put(4, 3);
			vbr(10, 8);
		}
	}
	leave();
	leave();
	return out.at / 8;
}
#define MODULE(...)                                                         \
	module(2, sizeof((enum first[]){__VA_ARGS__}) / sizeof(enum first), \
	       (enum first[]){__VA_ARGS__})

static bool keeps(size_t n)
{
	return bitcode_may_keep(out.bytes, n);
}

static void variables(void **state)
{
	(void)state;
	assert_false(keeps(module(2, 0, NULL)));
	assert_false(keeps(MODULE(NOTHING)));
	assert_false(keeps(MODULE(DECLARED)));
	assert_false(keeps(MODULE(CONSTANT)));
	assert_true(keeps(MODULE(FIVE)));
	assert_true(keeps(MODULE(ALL_ZERO)));
	assert_false(keeps(MODULE(NOTHING, CONSTANT, DECLARED, NOTHING)));
	assert_true(keeps(MODULE(NOTHING, CONSTANT, ALL_ZERO, DECLARED)));
	assert_true(keeps(MODULE(FIVE, NOTHING, NOTHING)));
}

static void unknown(void **state)
{
	size_t n = MODULE(NOTHING, CONSTANT);

	(void)state;
	assert_true(keeps(0));
	assert_true(bitcode_may_keep((const unsigned char *)"\177ELF and no bitcode", 20));
	n = module(1, 1, (enum first[]){NOTHING}); /* older ones number names otherwise */
	assert_true(keeps(n));
}

/* Behind something else, twice: both are looked at. */
static void several(void **state)
{
	unsigned char *both = calloc(1, 4096);
	size_t one = MODULE(NOTHING), two;

	(void)state;
	memcpy(both + 37, out.bytes, one);
	assert_false(bitcode_may_keep(both, 4096));
	two = MODULE(FIVE);
	memcpy(both + 37 + one + 5, out.bytes, two);
	assert_true(bitcode_may_keep(both, 4096));
	free(both);
}

static void damaged(void **state)
{
	size_t n = MODULE(NOTHING, CONSTANT, DECLARED);
	unsigned char *copy;

	(void)state;
	for (size_t cut = 1; cut < n; cut++) {
		copy = malloc(cut); /* of that size, for what looks at bounds */
		memcpy(copy, out.bytes, cut);
		assert_true(bitcode_may_keep(copy, cut));
		free(copy);
	}
	copy = malloc(n);
	for (size_t bit = 0; bit < n * 8; bit++) {
		memcpy(copy, out.bytes, n);
		copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
		(void)bitcode_may_keep(copy, n); /* either answer, and an end */
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(variables), cmocka_unit_test(unknown),
					   cmocka_unit_test(several), cmocka_unit_test(damaged)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
