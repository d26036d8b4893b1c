/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target is one file fuzz_NAME.c with the entry point of libFuzzer, a folder corpus/NAME
 * with a few small inputs, and a line in meson.build; NAME.dict, when there, holds words for
 * libFuzzer. It runs under libFuzzer (scripts/fuzz) and, over its corpus alone and with any
 * compiler, as a test (driver.c).
 */
#ifndef RETALLY_TESTS_FUZZ_H
#define RETALLY_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold; a trap is a finding for both. */
#define fuzz_assert(condition)            \
	do {                              \
		if (!(condition))         \
			__builtin_trap(); \
	} while (0)

#endif
