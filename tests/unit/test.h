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

#endif
