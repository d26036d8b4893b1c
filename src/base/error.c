/* SPDX-License-Identifier: Apache-2.0 */
/* The error object: filling and prefixing. No allocation, usable in the injected object. */
#include "base/error.h"

#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	str_tame_line(err->message);
	return code;
}

static int error_code_of_errno(int errno_value)
{
	switch (errno_value) {
	case ENOMEM:
		return RC_NO_MEMORY;
	case ENOSPC:
	case EDQUOT:
		return RC_NO_SPACE;
	case EACCES:
	case EPERM:
	case EROFS:
		return RC_PERMISSION;
	case ENOENT:
		return RC_NOT_FOUND;
	case EEXIST:
		return RC_EXISTS;
	default:
		return RC_IO;
	}
}

int error_set_errno(struct error *err, int code, int errno_value, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!code)
		code = error_code_of_errno(errno_value);
	if (!err)
		return code;
	err->code = code;
	va_start(ap, fmt);
	n = vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->message))
		snprintf(err->message + n, sizeof(err->message) - (size_t)n, ": %s",
			 strerror(errno_value));
	str_tame_line(err->message);
	return code;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	char old[ERROR_MESSAGE_SIZE];
	va_list ap;
	int n;

	if (!err)
		return RC_ERROR;
	memcpy(old, err->message, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->message))
		snprintf(err->message + n, sizeof(err->message) - (size_t)n, ": %.*s",
			 (int)(sizeof(err->message) - (size_t)n), old);
	str_tame_line(err->message);
	return err->code;
}

const char *error_code_name(int code)
{
	switch (code) {
	case RC_OK:
		return "ok";
	case RC_NO_MEMORY:
		return "no-memory";
	case RC_IO:
		return "io";
	case RC_NO_SPACE:
		return "no-space";
	case RC_INVALID:
		return "invalid";
	case RC_CORRUPT:
		return "corrupt";
	case RC_NOT_FOUND:
		return "not-found";
	case RC_EXISTS:
		return "exists";
	case RC_PERMISSION:
		return "permission";
	case RC_UNSUPPORTED:
		return "unsupported";
	case RC_NO_SLOT:
		return "no-slot";
	case RC_MISMATCH:
		return "mismatch";
	case RC_END:
		return "end";
	case RC_TIMEOUT:
		return "timeout";
	case RC_BUSY:
		return "busy";
	default:
		return "error";
	}
}
