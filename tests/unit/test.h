/* SPDX-License-Identifier: Apache-2.0 */
/* What every unit test includes: cmocka with the headers it wants before it. */
#ifndef RETALLY_TESTS_UNIT_TEST_H
#define RETALLY_TESTS_UNIT_TEST_H

/* cmocka.h needs the others before it */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
/* clang-format on */

/* Ends a test whose condition is not met. cmocka 1.1 prints its own skip() as "not ok" in TAP,
 * which makes the test a failure; this one says the reason in a line of its own. */
#define skip_because(reason)                                            \
	do {                                                            \
		print_message("# skipped: %s: %s\n", __func__, reason); \
		return;                                                 \
	} while (0)

#endif
