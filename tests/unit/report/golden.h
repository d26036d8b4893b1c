/* SPDX-License-Identifier: Apache-2.0 */
/* Compares text with tests/golden/NAME; UPDATE_GOLDEN=1 rewrites the file. */
#ifndef RETALLY_TESTS_UNIT_REPORT_GOLDEN_H
#define RETALLY_TESTS_UNIT_REPORT_GOLDEN_H

void expect_golden(const char *name, const char *got);
/* What `write` prints, with every `from` (NULL: none) replaced by `to`. Freed by the caller. */
char *text_without(const char *text, const char *from, const char *to);

#endif
