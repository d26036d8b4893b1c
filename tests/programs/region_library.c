/* SPDX-License-Identifier: Apache-2.0 */
/* A library with marks, for programs that have none of their own. */
#include "retally.h"

void marked_region(void (*f)(void));
__attribute__((visibility("default"))) void marked_region(void (*f)(void))
{
	RETALLY_BEGIN("library");
	f();
	RETALLY_END("library");
}
