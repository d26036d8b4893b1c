/* SPDX-License-Identifier: Apache-2.0 */
/* One line on the user's stderr, also while the program's stderr goes to a file. */
#ifndef RETALLY_INJECT_SAY_H
#define RETALLY_INJECT_SAY_H

/* Descriptor to use instead of 2; -1: 2. Checked before each use: the program may have closed it.
 */
void say_set_fd(int fd);
int say_fd(void);
/* "retally: ...\n" in one write. No allocation; errno is preserved. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Closes the descriptor in a forked child, where it would keep a pipe of the user open. */
void say_abandon(void);

#endif
