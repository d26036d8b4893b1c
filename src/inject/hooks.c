/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of libc by which a program ends without its exit handlers, becomes another program,
 * or limits its system calls. Here they do our part first, in the process that owns the pass;
 * everywhere else (a forked or vforked child, a program without a plan) they are what they were.
 * Nothing is written before that was checked: a vforked child shares its parent's memory.
 *
 * Not reached: the raw system calls, and _exit called from inside libc (daemon() is the one that
 * matters, so it is here as well).
 */
#include "inject/inject.h"
#include "inject/replay_session.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default")))

/* ---- ending ---- */

HOOK void _exit(int status)
{
	int code = pass_end(status & 0xff);

	replay_session_stop(status);
	for (;;)
		syscall(SYS_exit_group, code);
}

HOOK void _Exit(int status)
{
	_exit(status);
}

HOOK void quick_exit(int status)
{
	void (*next)(int) = NULL;

	/* The handlers of the program come before ours, which was the first to be registered. */
	if (pass_is_owner())
		pass_set_quick_status(status);
	replay_session_set_quick_status(status);
	*(void **)(void *)&next = dlsym(RTLD_NEXT, "quick_exit");
	if (next)
		next(status);
	_exit(status);
}

HOOK int daemon(int nochdir, int noclose)
{
	pid_t child;
	int fd;

	if (!pass_is_owner()) {
		int (*next)(int, int) = NULL;

		*(void **)(void *)&next = dlsym(RTLD_NEXT, "daemon");
		if (next)
			return next(nochdir, noclose);
	}
	/* libc's own would leave by its inner _exit, past us. */
	child = fork();
	if (child < 0)
		return -1;
	if (child > 0)
		_exit(0);
	if (setsid() < 0)
		return -1;
	if (!nochdir && chdir("/")) {
		/* as in libc: no error */
	}
	if (noclose)
		return 0;
	fd = open("/dev/null", O_RDWR);
	if (fd < 0)
		return -1;
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
	return 0;
}

/* ---- becoming another program ---- */

HOOK int execve(const char *path, char *const argv[], char *const envp[])
{
	if (pass_is_owner())
		pass_exec(path, envp);
	return (int)syscall(SYS_execve, path, argv, envp);
}

HOOK int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

HOOK int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	if (pass_is_owner())
		pass_exec(NULL, envp);
	return (int)syscall(SYS_execveat, fd, path, argv, envp, flags);
}

HOOK int fexecve(int fd, char *const argv[], char *const envp[])
{
	int (*next)(int, char *const[], char *const[]) = NULL;

	if (pass_is_owner())
		pass_exec(NULL, envp);
	*(void **)(void *)&next = dlsym(RTLD_NEXT, "fexecve");
	if (next)
		return next(fd, argv, envp);
	errno = ENOSYS;
	return -1;
}

HOOK int execvpe(const char *file, char *const argv[], char *const envp[])
{
	int (*next)(const char *, char *const[], char *const[]) = NULL;

	if (pass_is_owner())
		pass_exec(strchr(file, '/') ? file : NULL, envp);
	*(void **)(void *)&next = dlsym(RTLD_NEXT, "execvpe");
	if (next)
		return next(file, argv, envp);
	errno = ENOSYS;
	return -1;
}

HOOK int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* The arguments of execl and its relatives as a list. From mmap: this may run in a signal handler.
 */
static char **hook_collect(const char *first, va_list *ap, size_t *size_out)
{
	size_t n = 1, i = 0;
	va_list count;
	char **list;

	va_copy(count, *ap);
	while (va_arg(count, char *))
		n++;
	va_end(count);
	*size_out = (n + 1) * sizeof(*list);
	list = mmap(NULL, *size_out, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (list == MAP_FAILED) {
		errno = E2BIG;
		return NULL;
	}
	list[i++] = (char *)(uintptr_t)first;
	while ((list[i] = va_arg(*ap, char *)))
		i++;
	return list;
}

/* What execl and its relatives have in common: a list of arguments, for execle with the environment
 * behind it. */
static int hook_exec_list(int (*exec)(const char *, char *const[], char *const[]), const char *file,
			  const char *first, va_list *ap, bool has_environment)
{
	size_t size;
	char **argv = hook_collect(first, ap, &size);
	int saved;

	if (!argv)
		return -1;
	exec(file, argv, has_environment ? va_arg(*ap, char *const *) : environ);
	saved = errno;
	munmap(argv, size);
	errno = saved;
	return -1;
}

/* Only the function itself can walk its arguments, so the three are made from one text. */
#define HOOK_EXEC_LIST(name, exec, has_environment)                         \
	HOOK int name(const char *file, const char *arg, ...)               \
	{                                                                   \
		va_list ap;                                                 \
		int rc;                                                     \
                                                                            \
		va_start(ap, arg);                                          \
		rc = hook_exec_list(exec, file, arg, &ap, has_environment); \
		va_end(ap);                                                 \
		return rc;                                                  \
	}
HOOK_EXEC_LIST(execl, execve, false)
HOOK_EXEC_LIST(execlp, execvpe, false)
HOOK_EXEC_LIST(execle, execve, true)

/* ---- limits ---- */

HOOK int prctl(int option, ...)
{
	unsigned long a[4];
	bool restricts;
	va_list ap;
	int rc;

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	/* A filter at NULL is how programs ask whether there are filters. */
	restricts = option == PR_SET_SECCOMP &&
		    (a[0] == SECCOMP_MODE_STRICT || (a[0] == SECCOMP_MODE_FILTER && a[1])) &&
		    pass_restrict();
	rc = (int)syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
	if (rc && restricts)
		pass_unrestrict();
	return rc;
}
