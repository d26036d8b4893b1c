/* SPDX-License-Identifier: Apache-2.0 */
/* What programs with regions do in them: calls of work(), which bp: and uprobe: count. For one file
 * of a program. */
#ifndef TESTS_REGION_WORK_H
#define TESTS_REGION_WORK_H

static unsigned long state = 1;

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone))
#endif
ALONE void work(unsigned long *x);
ALONE void work(unsigned long *x)
{
	*x = *x * 6364136223846793005ul + 1442695040888963407ul;
	__asm__ volatile("" ::: "memory");
}

static void work_times(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		work(&state);
}

#endif
