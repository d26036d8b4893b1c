/* SPDX-License-Identifier: Apache-2.0 */
/* fallocate and pwrite as the linker's --wrap wants them, under both names they have with 64-bit
 * offsets. */
#include "syscall_wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

unsigned pwrite_calls;
bool fallocate_is_unsupported;

int __wrap_fallocate(int fd, int mode, off_t offset, off_t length);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t length);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t n, off_t offset);

int __wrap_fallocate(int fd, int mode, off_t offset, off_t length)
{
	if (fallocate_is_unsupported) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

int __wrap_fallocate64(int fd, int mode, off_t offset, off_t length)
{
	return __wrap_fallocate(fd, mode, offset, length);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	pwrite_calls++;
	return syscall(SYS_pwrite64, fd, bytes, n, offset);
}

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t n, off_t offset)
{
	return __wrap_pwrite(fd, bytes, n, offset);
}
