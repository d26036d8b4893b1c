/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that behaves: one verb per trap of running a program several times. Verbs run one after
 * the other; each takes its own number of arguments.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void actor_called(int i);
/* What breakpoint counters are placed on. */
__attribute__((noinline)) void actor_called(int i)
{
	__asm__ volatile("" : : "r"(i) : "memory");
}

__attribute__((constructor)) static void early(void)
{
	actor_called(-1);
}

static int this_pass(void)
{
	const char *s = getenv("RETALLY_PASS");

	return s ? atoi(s) : 0;
}

static void nap(double seconds)
{
	struct timespec t = {.tv_sec = (time_t)seconds,
			     .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static void write_pid(const char *path, pid_t pid)
{
	FILE *f = fopen(path, "ae");

	if (!f)
		exit(99);
	fprintf(f, "%d\n", (int)pid);
	fclose(f);
}

static volatile sig_atomic_t seen[32];
static void on_signal(int s)
{
	seen[s]++;
}

static int number_of(const char *name)
{
	for (int i = 1; i < 32; i++)
		if (sigabbrev_np(i) && !strcmp(sigabbrev_np(i), name))
			return i;
	exit(98);
}

/* Leaves a process in a session of its own that sleeps; the caller goes on. */
static void leave_daemon(double seconds, const char *pid_file)
{
	pid_t child = fork();

	if (!child) {
		setsid();
		if (fork())
			_exit(0);
		write_pid(pid_file, getpid());
		nap(seconds);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void count_signal(const char *name, const char *ready)
{
	struct sigaction a = {.sa_handler = on_signal};
	int s = number_of(name);

	sigaction(s, &a, NULL);
	write_pid(ready, getpid());
	for (int i = 0; i < 1500 && !seen[s]; i++)
		nap(0.01);
	nap(0.3); /* a second copy would come now */
	printf("%s %d\n", name, (int)seen[s]);
}

static void read_line(void)
{
	char c;

	while (read(0, &c, 1) == 1) {
		if (write(1, &c, 1) != 1)
			exit(97);
		if (c == '\n')
			break;
	}
}

static void list_descriptors(void)
{
	for (int fd = 0; fd < 2048; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("%d ", fd);
	printf("\n");
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *verb = argv[i];
#define ARG (++i < argc ? argv[i] : (exit(96), (char *)NULL))
		fflush(stdout);
		if (!strcmp(verb, "exit")) {
			exit(atoi(ARG));
		} else if (!strcmp(verb, "die")) {
			raise(number_of(ARG));
		} else if (!strcmp(verb, "in")) { /* in PASS: the next verb only in that pass */
			if (atoi(ARG) != this_pass())
				return 0;
		} else if (!strcmp(verb, "print")) {
			printf("%s\n", ARG);
		} else if (!strcmp(verb, "complain")) {
			fprintf(stderr, "%s\n", ARG);
		} else if (!strcmp(verb, "pass")) {
			printf("%s of %s\n", getenv("RETALLY_PASS"), getenv("RETALLY_PASSES"));
		} else if (!strcmp(verb, "cat")) {
			char buffer[4096];
			ssize_t n;

			while ((n = read(0, buffer, sizeof(buffer))) > 0)
				if (write(1, buffer, (size_t)n) != n)
					return 97;
		} else if (!strcmp(verb, "line")) {
			read_line();
		} else if (!strcmp(verb, "sleep")) {
			nap(atof(ARG));
		} else if (!strcmp(verb, "pid")) {
			write_pid(ARG, getpid());
		} else if (!strcmp(verb, "daemon")) {
			double seconds = atof(ARG);

			leave_daemon(seconds, ARG);
		} else if (!strcmp(verb, "child")) { /* child SECONDS PIDFILE: not waited for */
			double seconds = atof(ARG);
			const char *pid_file = ARG;

			if (!fork()) {
				write_pid(pid_file, getpid());
				nap(seconds);
				_exit(0);
			}
		} else if (!strcmp(verb, "setsid")) {
			if (setsid() < 0)
				return 95;
		} else if (!strcmp(verb, "stop")) {
			raise(SIGSTOP);
		} else if (!strcmp(verb, "count")) {
			const char *name = ARG;

			count_signal(name, ARG);
		} else if (!strcmp(verb, "ignore")) {
			signal(number_of(ARG), SIG_IGN);
		} else if (!strcmp(verb, "shm")) {
			int fd = shm_open(ARG, O_RDWR | O_CREAT | O_EXCL, 0600);

			if (fd < 0) {
				perror("shm_open");
				return 94;
			}
			close(fd);
		} else if (!strcmp(verb, "unlink")) {
			unlink(ARG);
		} else if (!strcmp(verb, "close")) {
			for (int fd = 3; fd < 4096; fd++)
				close(fd);
		} else if (!strcmp(verb, "close-out")) {
			fclose(stdout);
		} else if (!strcmp(verb, "descriptors")) {
			list_descriptors();
		} else if (!strcmp(verb, "streams")) {
			for (int fd = 0; fd < 3; fd++) {
				struct stat st;

				printf("%c", fstat(fd, &st)         ? 'x'
					     : isatty(fd)           ? 't'
					     : S_ISFIFO(st.st_mode) ? 'p'
					     : S_ISREG(st.st_mode)  ? 'f'
								    : 'o');
			}
			printf("\n");
		} else if (!strcmp(verb, "address")) {
			printf("%p %p\n", (void *)&i, (void *)main);
		} else if (!strcmp(verb, "cwd")) {
			char *cwd = getcwd(NULL, 0);

			printf("%s\n", cwd ? cwd : "?");
			free(cwd);
		} else if (!strcmp(verb, "call")) {
			for (int k = atoi(ARG); k > 0; k--)
				actor_called(k);
		} else if (!strcmp(verb, "masked")) {
			sigset_t set;

			sigprocmask(SIG_BLOCK, NULL, &set);
			for (int s = 1; s < 32; s++)
				if (sigismember(&set, s))
					printf("%s ", sigabbrev_np(s) ? sigabbrev_np(s) : "?");
			printf("\n");
		} else {
			fprintf(stderr, "actor: no verb '%s'\n", verb);
			return 96;
		}
	}
	return 0;
}
