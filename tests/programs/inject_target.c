/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_target MODE [ARG]: ends, forks, execs and changes its process in the ways a program can,
 * for the tests of application replay in process. What it prints must be the same with and without
 * retally, and in every pass.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *what)
{
	if (write(STDOUT_FILENO, what, strlen(what)) < 0)
		abort();
}

static void at_first(void)
{
	tell("atexit\n");
}

static void at_status(int status, void *text)
{
	printf("on_exit %d %s\n", status, (char *)text);
}

static void at_quick(void)
{
	tell("at_quick_exit\n");
}

__attribute__((destructor)) static void destroy(void)
{
	if (getenv("TELL_DESTRUCTOR"))
		tell("destructor\n");
}

static void *exit_in_thread(void *status)
{
	exit((int)(intptr_t)status);
}

static void *read_for_ever(void *unused)
{
	(void)unused;
	getchar(); /* holds the lock of stdin */
	return NULL;
}

static void *count_slowly(void *unused)
{
	(void)unused;
	usleep(50000);
	tell("thread\n");
	return NULL;
}

static void on_signal(int signal)
{
	_exit(signal);
}

static void end(const char *mode, int status)
{
	static char handler[] = "handler";
	pthread_t thread;

	if (!strcmp(mode, "exit"))
		exit(status);
	if (!strcmp(mode, "_exit")) {
		printf("never flushed");
		_exit(status);
	}
	if (!strcmp(mode, "_Exit"))
		_Exit(status);
	if (!strcmp(mode, "quick")) {
		printf("never flushed");
		at_quick_exit(at_quick);
		quick_exit(status);
	}
	if (!strcmp(mode, "err"))
		errx(status, "an error");
	if (!strcmp(mode, "order")) {
		setenv("TELL_DESTRUCTOR", "1", 1);
		atexit(at_first);
		on_exit(at_status, handler);
		printf("buffered\n");
		exit(status);
	}
	if (!strcmp(mode, "thread")) {
		pthread_create(&thread, NULL, exit_in_thread, (void *)(intptr_t)status);
		pause();
	}
	if (!strcmp(mode, "pthread_exit")) {
		pthread_create(&thread, NULL, count_slowly, NULL);
		pthread_exit(NULL);
	}
	if (!strcmp(mode, "locked")) { /* another thread holds stdin's lock at the end */
		pthread_create(&thread, NULL, read_for_ever, NULL);
		usleep(50000);
		exit(status);
	}
	if (!strcmp(mode, "signal")) { /* _exit in a handler, wherever the program is */
		signal(SIGALRM, on_signal);
		setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 20000}}, NULL);
		for (;;)
			free(malloc(1 + (size_t)rand() % 100000));
	}
	if (!strcmp(mode, "raw"))
		syscall(SYS_exit_group, status);
	if (!strcmp(mode, "abort"))
		abort();
	if (!strcmp(mode, "crash-in-2") &&
	    atoi(getenv("RETALLY_PASS") ? getenv("RETALLY_PASS") : "1") == 2)
		raise(SIGKILL);
}

/* From here on: write and exit_group, and the end at anything else. */
static void limit_calls(void)
{
	struct sock_filter list[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(list) / sizeof(*list), list};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		err(1, "seccomp");
}

static void limits(const char *mode)
{
	if (!strcmp(mode, "seccomp")) {
		limit_calls();
		tell("limited\n");
		exit(6);
	}
	if (!strcmp(mode, "seccomp-refused")) { /* asked for, and a filter that is none */
		struct sock_fprog none = {0};

		if (!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) || errno != EFAULT ||
		    !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &none) || errno != EINVAL)
			err(1, "seccomp");
		exit(6);
	}
	if (!strcmp(mode, "traceme")) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			err(1, "ptrace");
		exit(6);
	}
}

static void children(const char *mode)
{
	pid_t child = -1;
	int status = -1;

	if (!strcmp(mode, "fork-exit")) {
		fflush(stdout);
		child = fork();
		if (!child) {
			printf("child\n");
			exit(3);
		}
	} else if (!strcmp(mode, "vfork")) {
		child = vfork();
		if (!child) {
			execl("/nonexistent", "x", (char *)NULL);
			_exit(4);
		}
	} else if (!strcmp(mode, "system")) {
		FILE *f = popen("echo popen", "r");
		char line[64] = "";

		if (!f || !fgets(line, sizeof(line), f))
			exit(99);
		pclose(f);
		printf("%s", line);
		fflush(stdout);
		printf("system %d\n", WEXITSTATUS(system("/bin/true; exit 6")));
		exit(0);
	} else if (!strcmp(mode, "daemon") || !strcmp(mode, "daemon-libc")) {
		/* The child lives a little longer than the parent. */
		if (mode[6] ? daemon(1, 1) : 0)
			exit(99);
		if (!mode[6] && fork())
			_exit(0);
		usleep(200000);
		tell("daemon\n");
		_exit(0);
	} else if (!strcmp(mode, "unreaped")) {
		status = waitpid(-1, NULL, 0) > 0; /* one that an earlier pass left? */
		if (!fork())
			_exit(1);
		exit(status);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	if (child >= 0) {
		printf("child ended with %d\n", WEXITSTATUS(status));
		exit(0);
	}
}

static int count_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		/* Those from 400 up may be retally's. */
		n += entry->d_name[0] != '.' && fd < 400 && fd != dirfd(dir);
	}
	if (dir)
		closedir(dir);
	return n;
}

/* Prints what a process inherits, then changes all of it. */
static void inherit(void)
{
	struct rlimit limit, small;
	struct itimerval timer;
	char cwd[4096], comm[64] = "";
	sigset_t mask;
	cpu_set_t cpus;
	FILE *f = fopen("/proc/self/comm", "r");

	if (!f || !fgets(comm, sizeof(comm), f))
		exit(99);
	fclose(f);
	getrlimit(RLIMIT_CORE, &limit);
	getitimer(ITIMER_REAL, &timer);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	printf("comm %scwd %s umask %o core %lld usr1 %d hup %d nice %d cpus %d timer %ld files "
	       "%d\n",
	       comm, getcwd(cwd, sizeof(cwd)) ? cwd : "?", (unsigned)umask(0),
	       (long long)limit.rlim_cur, sigismember(&mask, SIGUSR1),
	       signal(SIGHUP, SIG_IGN) == SIG_IGN, getpriority(PRIO_PROCESS, 0), CPU_COUNT(&cpus),
	       timer.it_value.tv_sec + timer.it_value.tv_usec, count_files());
	fflush(stdout);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	small = limit;
	small.rlim_cur = limit.rlim_cur ? 0 : limit.rlim_max;
	setrlimit(RLIMIT_CORE, &small);
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	setpriority(PRIO_PROCESS, 0, 5);
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {100, 0}}, NULL);
	if (chdir("/") || open("/dev/null", O_RDONLY) < 0 || open("/dev/zero", O_RDONLY) < 0)
		exit(99);
	exit(0);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int status = argc > 2 ? atoi(argv[2]) : 0, fd;
	char c;

	end(mode, status);
	limits(mode);
	children(mode);
	if (!strcmp(mode, "inherit"))
		inherit();
	if (!strcmp(mode, "lock")) { /* left locked and open */
		fd = open("lockfile", O_RDWR | O_CREAT, 0666);
		if (flock(fd, LOCK_EX | LOCK_NB) || lockf(fd, F_TLOCK, 0))
			err(1, "lock");
		printf("locked\n");
	} else if (!strcmp(mode, "text")) { /* changes its arguments and environment */
		printf("%s %s %s\n", argv[1], argv[2], getenv("TEXT") ? getenv("TEXT") : "none");
		memset(argv[2], 'x', strlen(argv[2]));
		setenv("TEXT", "changed", 1);
		clearenv();
	} else if (!strcmp(mode, "remove")) { /* its own file */
		unlink(argv[0]);
		printf("removed\n");
	} else if (!strcmp(mode, "close-all")) { /* and takes the numbers for files of its own */
		for (fd = 3; fd < 1024; fd++)
			close(fd);
		for (fd = 3; fd < 1000; fd++)
			if (dup2(STDOUT_FILENO, fd) < 0)
				break;
		printf("closed\n");
	} else if (!strcmp(mode, "close-stdin")) {
		if (read(STDIN_FILENO, &c, 1) == 1)
			printf("%c\n", c);
		close(STDIN_FILENO);
	} else if (!strcmp(mode, "read-part")) {
		if (read(STDIN_FILENO, &c, 1) == 1)
			printf("%c\n", c);
	} else if (!strcmp(mode, "stack")) {
		printf("%p\n", (void *)&c);
	} else if (!strcmp(mode, "exec")) {
		if (chdir("/"))
			return 99;
		umask(077);
		execl("/bin/sh", "sh", "-c", "pwd; umask; exit 4", (char *)NULL);
	} else if (!strcmp(mode, "exec-clean")) {
		static char echo[] = "echo", clean[] = "clean";
		char *none[] = {NULL}, *args[] = {echo, clean, NULL};

		execve("/bin/echo", args, none);
	} else if (!strcmp(mode, "exec-fails")) {
		execlp("no-such-program", "x", (char *)NULL);
		printf("%s\n", strerror(errno));
	} else if (!strcmp(mode, "drop")) {
		if (setgid(65534) || setuid(65534))
			printf("not root\n");
	}
	return status;
}
