/* SPDX-License-Identifier: Apache-2.0 */
/* The plan's file: read whole, written beside its place and renamed, so that no half plan is ever
 * seen. */
#include "base/str.h"
#include "wire/collection.h"
#include "wire/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Appends what fd has to offer; more than the limit is left to the decoder to refuse. */
static int plan_read_all(int fd, struct str *text, const char *path, struct error *err)
{
	char *block = malloc(65536);
	int rc = block ? 0 : RC_NO_MEMORY;
	ssize_t n;

	while (!rc && text->size <= PLAN_FILE_SIZE_MAX) {
		n = read(fd, block, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = error_set_errno(err, 0, errno, "cannot read '%s'", path);
			break;
		}
		if (!n)
			break;
		str_add_bytes(text, block, (size_t)n);
		if (str_is_failed(text))
			rc = RC_NO_MEMORY;
	}
	free(block);
	return rc == RC_NO_MEMORY ? error_set(err, rc, "%s: out of memory", path) : rc;
}

int plan_read_file(struct plan *plan, const char *path, struct error *err)
{
	struct str text = STR_INIT;
	struct stat st;
	int fd, rc;

	*plan = (struct plan){0};
	/* A FIFO would block here, in the profiled program, until somebody writes to it. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return error_set_errno(err, 0, errno, "cannot open '%s'", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return error_set(err, RC_INVALID, "'%s' is not a regular file", path);
	}
	rc = plan_read_all(fd, &text, path, err);
	close(fd);
	if (!rc)
		rc = plan_decode(plan, path, str_text(&text), text.size, err);
	str_release(&text);
	return rc;
}

static int plan_write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

int plan_write_file(struct plan *plan, const char *path, struct error *err)
{
	struct str text = STR_INIT, temporary = STR_INIT;
	char id[HASH_TEXT_SIZE];
	int fd = -1, rc = plan_encode(plan, &text, err);

	if (rc)
		goto out;
	/* Several ranks may write the same plan to the same place. */
	launch_id(id);
	str_addf(&temporary, "%s.%s.tmp", path, id);
	if (str_is_failed(&temporary)) {
		rc = error_set(err, RC_NO_MEMORY, "%s: out of memory", path);
		goto out;
	}
	fd = open(temporary.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
	if (fd < 0) {
		rc = error_set_errno(err, 0, errno, "cannot create '%s'", temporary.text);
		goto out;
	}
	if (plan_write_all(fd, text.text, text.size))
		rc = error_set_errno(err, 0, errno, "cannot write '%s'", temporary.text);
	if (close(fd) && !rc)
		rc = error_set_errno(err, 0, errno, "cannot write '%s'", temporary.text);
	if (!rc && rename(temporary.text, path))
		rc = error_set_errno(err, 0, errno, "cannot rename '%s' to '%s'", temporary.text,
				     path);
	if (rc)
		unlink(temporary.text);
out:
	str_release(&temporary);
	str_release(&text);
	return rc;
}
