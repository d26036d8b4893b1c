/* SPDX-License-Identifier: Apache-2.0 */
/* Says M from main, after its library (if it has it) said C. */
#include <unistd.h>

#ifdef WITH_LIBRARY
__attribute__((visibility("default"))) void early_called(void);
/* A reference from data, or the linker leaves the library out. */
extern void (*early_reference)(void);
void (*early_reference)(void) = early_called;
#endif

int main(void)
{
	return write(1, "M", 1) == 1 ? 7 : 99;
}
