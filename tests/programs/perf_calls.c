/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls one function a known number of times in every place where a counter may lose or double it.
 * perf_calls [hold] MAIN THREAD FORK BEFORE AFTER LIB: in the main thread, in another thread, in a
 * forked child, in a forked child before and after it executes this program again, and in a
 * library. With `hold` it stops itself first, so that addresses can be set.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Never inlined or changed: the address of the symbol is where every call arrives. */
#define COUNTED __attribute__((noinline, used, visibility("default")))

void perf_library_called(void);
void perf_called(long i);
void perf_never_called(void);

#define WATCHED __attribute__((visibility("default"))) volatile
WATCHED long perf_written;
WATCHED int perf_sum;
WATCHED char perf_large[64];
static __thread volatile int perf_thread_local;

COUNTED void perf_called(long i)
{
	perf_written = i;
	__asm__ volatile("");
}

COUNTED void perf_never_called(void)
{
	perf_sum++;
}

static void calls(long n)
{
	for (long i = 0; i < n; i++)
		perf_called(i);
}

static void *in_thread(void *n)
{
	calls(*(long *)n);
	perf_thread_local++;
	return NULL;
}

static void in_child(long n, const char *after, const char *self)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("perf_calls: fork");
		exit(3);
	}
	if (!pid) {
		calls(n);
		if (after)
			execl(self, self, after, "0", "0", "0", "0", "0", (char *)NULL);
		_exit(after ? 4 : 0);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	long n[6];
	pthread_t thread;
	int first = 1;

	if (argc > 1 && !strcmp(argv[1], "hold")) {
		raise(SIGSTOP);
		first++;
	}
	if (argc != first + 6)
		return 2;
	for (int i = 0; i < 6; i++)
		n[i] = atol(argv[first + i]);
	if (getenv("PERF_CALLS_NEVER"))
		perf_never_called();
	calls(n[0]);
	if (n[1]) {
		int error = pthread_create(&thread, NULL, in_thread, &n[1]);

		if (error) {
			fprintf(stderr, "perf_calls: pthread_create: %s\n", strerror(error));
			return 3;
		}
		pthread_join(thread, NULL);
	}
	if (n[2])
		in_child(n[2], NULL, NULL);
	if (n[3] || strcmp(argv[first + 4], "0"))
		in_child(n[3], argv[first + 4], "/proc/self/exe");
	for (long i = 0; i < n[5]; i++)
		perf_library_called();
	return 0;
}
