/* SPDX-License-Identifier: Apache-2.0 */
/* The library of perf_calls: one exported function and a variable. */
void perf_library_called(void) __attribute__((noinline, visibility("default")));

__attribute__((visibility("default"))) volatile long perf_library_written;

void perf_library_called(void)
{
	perf_library_written++;
}
