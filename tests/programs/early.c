/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose constructor is heard: for holding programs before any of their code ran. */
#include <unistd.h>

__attribute__((visibility("default"))) void early_called(void);
__attribute__((noinline)) void early_called(void)
{
	if (write(1, "C", 1) != 1)
		_exit(99);
}

__attribute__((constructor)) static void early(void)
{
	early_called();
}
