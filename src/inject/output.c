/* SPDX-License-Identifier: Apache-2.0 */
/* Where later passes print, and whether they print the same. */
#include "inject/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void output_name(char path[SESSION_PATH_SIZE + 40], const struct session_paths *p,
			uint32_t pass, int fd)
{
	snprintf(path, SESSION_PATH_SIZE + 40, "%s/pass-%u.%s", p->output, pass,
		 fd == STDOUT_FILENO ? "stdout" : "stderr");
}

int output_redirect(const struct session_paths *p, const struct resume *r, uint32_t pass,
		    struct error *err)
{
	char path[SESSION_PATH_SIZE + 40];

	if (mkdir(p->output, 0777) && errno != EEXIST)
		return error_set_errno(err, 0, errno, "cannot make the directory '%s'", p->output);
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		int file;

		if (!resume_has_fd(r, fd)) {
			close(fd); /* as it was in pass 1 */
			continue;
		}
		output_name(path, p, pass, fd);
		file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
			    0666);
		if (file < 0)
			return error_set_errno(err, 0, errno, "cannot create '%s'", path);
		if (file == fd) { /* the program had closed it */
			fcntl(fd, F_SETFD, 0);
			continue;
		}
		if (dup2(file, fd) < 0) {
			close(file);
			return error_set_errno(err, 0, errno,
					       "cannot redirect the program's output");
		}
		close(file);
	}
	return 0;
}

/* Whether two files differ; a file that is not there is as good as empty. */
static bool output_files_differ(const char *a_path, const char *b_path)
{
	int a = open(a_path, O_RDONLY | O_CLOEXEC), b = open(b_path, O_RDONLY | O_CLOEXEC);
	char a_bytes[8192], b_bytes[8192];
	struct stat a_st, b_st;
	bool differs = false;

	if (a < 0 || b < 0 || fstat(a, &a_st) || fstat(b, &b_st))
		differs = a >= 0 || b >= 0;
	else
		differs = a_st.st_size != b_st.st_size;
	for (off_t at = 0; !differs && a >= 0 && at < a_st.st_size; at += (off_t)sizeof(a_bytes)) {
		ssize_t n = pread(a, a_bytes, sizeof(a_bytes), at);

		if (n < 0 || pread(b, b_bytes, sizeof(b_bytes), at) != n)
			differs = true;
		else
			differs = memcmp(a_bytes, b_bytes, (size_t)n) != 0;
	}
	if (a >= 0)
		close(a);
	if (b >= 0)
		close(b);
	return differs;
}

const char *output_differs(const struct session_paths *p, uint32_t pass)
{
	char now[SESSION_PATH_SIZE + 40], second[SESSION_PATH_SIZE + 40];

	if (pass < 3)
		return NULL;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		output_name(now, p, pass, fd);
		output_name(second, p, 2, fd);
		if (output_files_differ(now, second))
			return fd == STDOUT_FILENO ? "stdout" : "stderr";
	}
	return NULL;
}
