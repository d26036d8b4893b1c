/* SPDX-License-Identifier: Apache-2.0 */
/* fallocate as the linker's --wrap wants it, under both names it has with 64-bit file offsets. */
#include "fallocate_wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

unsigned fallocate_calls;
bool fallocate_is_unsupported;

int __wrap_fallocate(int fd, int mode, off_t offset, off_t length);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t length);

int __wrap_fallocate(int fd, int mode, off_t offset, off_t length)
{
	fallocate_calls++;
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
