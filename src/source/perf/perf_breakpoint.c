/* SPDX-License-Identifier: Apache-2.0 */
/* Counts a known number of calls and accesses of our own, to see whether breakpoints work here. */
#include "source/perf/perf_breakpoint.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TOUCHES 3

static volatile long touched[PERF_BREAKPOINTS_TRIED_MAX];

/* Never inlined, and called through a volatile pointer: its address is where the breakpoint is. */
__attribute__((noinline)) static long called(long x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

int perf_breakpoint_try(uint32_t code, uint32_t data, uint32_t *n_out, struct error *err)
{
	int fds[PERF_BREAKPOINTS_TRIED_MAX], rc = 0, saved = 0;
	uint32_t n = code + data, opened = 0, right = 0, silent = 0;
	long (*volatile call)(long) = called;

	if (n > PERF_BREAKPOINTS_TRIED_MAX)
		n = PERF_BREAKPOINTS_TRIED_MAX;
	for (; opened < n; opened++) {
		bool is_code = opened < code;
		struct perf_config c = {.kind = PERF_KIND_BREAKPOINT,
					.type = PERF_TYPE_BREAKPOINT,
					.bp_type = is_code ? HW_BREAKPOINT_X : HW_BREAKPOINT_W,
					.bp_len = sizeof(long),
					.exclude_kernel = true};
		struct perf_event_attr attr;

		(void)perf_config_attr(&c, &attr, NULL); /* fails for PMUs by name only */
		attr.bp_addr = is_code ? (uint64_t)(uintptr_t)called
				       : (uint64_t)(uintptr_t)&touched[opened];
		fds[opened] = perf_open(&attr, 0, -1, -1);
		if (fds[opened] < 0) {
			saved = errno;
			break;
		}
	}
	for (long i = 0; i < TOUCHES; i++) {
		(void)call(i);
		for (uint32_t k = 0; k < opened; k++)
			touched[k] = i;
	}
	for (uint32_t i = 0; i < opened; i++) {
		uint64_t value[3];

		if (read(fds[i], value, sizeof(value)) != (ssize_t)sizeof(value))
			value[0] = 0;
		right += value[0] == TOUCHES;
		silent += !value[0];
		close(fds[i]);
	}
	if (n_out)
		*n_out = opened;
	if (right < opened && !silent) /* seen: four on data under QEMU 7.2 without KVM */
		rc = error_set(err, RC_UNSUPPORTED,
			       "this machine counts %u hardware breakpoints at once wrongly (an "
			       "emulator?)",
			       opened);
	else if (right < opened)
		rc = error_set(
			err, RC_UNSUPPORTED,
			"this machine accepts hardware breakpoints but does not trigger them (a "
			"virtual machine without debug registers)");
	else if (opened < n && (saved == EACCES || saved == EPERM))
		rc = error_set_errno(err, RC_PERMISSION, saved,
				     "cannot open a hardware breakpoint");
	else if (!opened && n && saved != ENOSPC)
		rc = error_set_errno(err, RC_UNSUPPORTED, saved,
				     "this machine has no hardware breakpoints");
	else if (opened < n)
		rc = error_set(err, RC_NO_SLOT, "%u hardware breakpoints are free, not %u", opened,
			       n);
	return rc;
}
