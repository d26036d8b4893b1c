/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region_c CASE: a program with marks, one case per trap of counting and replaying regions. What it
 * prints depends on the memory that a region changes, so that a region that ran twice, or not at
 * all, shows. `work` is called a known number of times: the tests count it with a breakpoint.
 */
#include "region_work.h"
#include "retally.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t alarms;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int ready;

/* Three times the same region, and one inside another. */
static void plain(void)
{
	for (unsigned i = 1; i <= 3; i++) {
		RETALLY_BEGIN("outer");
		work_times(10 * i);
		RETALLY_BEGIN("inner");
		work_times(i);
		RETALLY_END("inner");
		RETALLY_END("outer");
	}
}

/* A sum in place: right only when it is done once. */
static void memory(void)
{
	size_t n = 64 << 20;
	unsigned char *p = malloc(n);
	unsigned long sum = 0;

	if (!p)
		exit(3);
	memset(p, 7, n);
	for (int round = 0; round < 2; round++) {
		RETALLY_BEGIN("memory");
		for (size_t i = 0; i < n; i++)
			p[i] = (unsigned char)(p[i] * 3 + 1);
		work_times(100);
		RETALLY_END("memory");
	}
	for (size_t i = 0; i < n; i++)
		sum += p[i];
	printf("sum %lu\n", sum);
	free(p);
}

static void allocate(void)
{
	static void *kept[100];

	RETALLY_BEGIN("allocate");
	for (unsigned i = 0; i < 1000; i++) {
		char *p = malloc(100 + i * 37);

		if (!p)
			exit(3);
		memset(p, (int)i, 100);
		free(kept[i % 100]);
		kept[i % 100] = p;
		work(&state);
	}
	free(malloc(32 << 20));
	RETALLY_END("allocate");
	for (unsigned i = 0; i < 100; i++) {
		state += *(unsigned char *)kept[i];
		free(kept[i]);
	}
}

static void output(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned i = 0; i < 4; i++) {
		RETALLY_BEGIN("output");
		work_times(5);
		printf("round %u %lu\n", i, state);
		RETALLY_END("output");
	}
}

static void file(void)
{
	char text[32] = "";
	int fd;

	RETALLY_BEGIN("file");
	work_times(5);
	fd = open("region.tmp", O_CREAT | O_RDWR | O_APPEND, 0600);
	if (fd < 0 || write(fd, "once\n", 5) != 5)
		exit(3);
	RETALLY_END("file");
	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		exit(3);
	printf("%s", text);
	unlink("region.tmp");
}

static void pair(void)
{
	int s[2];
	char c = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		exit(3);
	RETALLY_BEGIN("socket");
	work_times(5);
	if (send(s[0], "x", 1, 0) != 1)
		exit(3);
	RETALLY_END("socket");
	if (recv(s[1], &c, 1, 0) != 1)
		exit(3);
	printf("got %c, then %zd\n", c, recv(s[1], &c, 1, MSG_DONTWAIT));
}

static void make_child(void)
{
	int status = 0;
	pid_t pid;

	RETALLY_BEGIN("fork");
	work_times(5);
	pid = fork();
	if (!pid)
		_exit(7);
	waitpid(pid, &status, 0);
	RETALLY_END("fork");
	printf("child %d\n", WEXITSTATUS(status));
}

static void at_the_end(void)
{
	printf("the end, %lu\n", state);
}

static void leave(void)
{
	atexit(at_the_end);
	RETALLY_BEGIN("leave");
	work_times(5);
	exit(5);
}

static void recurse(unsigned depth)
{
	RETALLY_BEGIN("recurse");
	work_times(1);
	if (depth > 1)
		recurse(depth - 1);
	RETALLY_END("recurse");
}

static jmp_buf out;

__attribute__((noinline)) static void jump_from(void)
{
	RETALLY_BEGIN("jump");
	work_times(3);
	longjmp(out, 1);
}

static void jump(void)
{
	for (volatile int i = 0; i < 3; i++)
		if (!setjmp(out))
			jump_from();
	RETALLY_BEGIN("after");
	work_times(2);
	RETALLY_END("after");
}

static void strays(void)
{
	char longest[5001];

	RETALLY_END("never");
	RETALLY_BEGIN("a");
	RETALLY_BEGIN("b");
	work_times(1);
	RETALLY_END("a");
	RETALLY_END("b");
	RETALLY_BEGIN("");
	RETALLY_END("");
	RETALLY_BEGIN("bytes \x01\xff\xc3\x28 \"%s%n\"\n");
	RETALLY_END("bytes \x01\xff\xc3\x28 \"%s%n\"\n");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	RETALLY_BEGIN(longest);
	RETALLY_END(longest);
	RETALLY_BEGIN(NULL);
	RETALLY_END(NULL);
	for (int i = 0; i < 100; i++)
		recurse(70);
	RETALLY_BEGIN("open at the end");
}

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
	RETALLY_BEGIN("in the handler");
	RETALLY_END("in the handler");
}

static void alarmed(void)
{
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned i = 0; i < 5; i++) {
		RETALLY_BEGIN("alarmed");
		work_times(1000);
		RETALLY_END("alarmed");
	}
	while (alarms < 5)
		usleep(1000);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("alarms\n");
}

static void handle(void)
{
	signal(SIGUSR1, on_alarm);
	raise(SIGUSR1);
	printf("handled %d\n", (int)alarms);
}

static void *thread(void *argument)
{
	unsigned n = *(const unsigned *)argument;
	unsigned long x = 0;

	RETALLY_BEGIN("thread");
	for (unsigned i = 0; i < n; i++)
		work(&x);
	RETALLY_END("thread");
	return NULL;
}

static void threads(void)
{
	unsigned n[4] = {100, 200, 300, 400};
	pthread_t id[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, thread, &n[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
	RETALLY_BEGIN("own threads");
	for (int i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, thread, &n[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
	RETALLY_END("own threads");
}

static void *end_it(void *argument)
{
	RETALLY_END("crossed");
	return argument;
}

static void *begin_it(void *argument)
{
	RETALLY_BEGIN("crossed");
	return argument;
}

/* A region that one thread begins and another ends, both ways round. */
static void crossed(void)
{
	void *(*const thread_of[])(void *) = {begin_it, end_it};
	pthread_t id;

	for (int i = 0; i < 2; i++) {
		if (i)
			RETALLY_BEGIN("crossed");
		work_times(5);
		pthread_create(&id, NULL, thread_of[i], NULL);
		pthread_join(id, NULL);
		work_times(5);
		if (!i)
			RETALLY_END("crossed");
		printf("crossed %d %lu\n", i, state);
		fflush(stdout);
	}
	/* The first thread's is open still, and ends here. */
	RETALLY_END("crossed");
	RETALLY_BEGIN("behind");
	work_times(2);
	RETALLY_END("behind");
}

static void *partner(void *argument)
{
	pthread_mutex_lock(&lock);
	while (ready != 1)
		pthread_cond_wait(&change, &lock);
	ready = 2;
	pthread_cond_broadcast(&change);
	pthread_mutex_unlock(&lock);
	return argument;
}

/* A region that waits for a thread that was there before. */
static void wait_for_partner(void)
{
	pthread_t id;

	pthread_create(&id, NULL, partner, NULL);
	RETALLY_BEGIN("partner");
	work_times(5);
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_cond_broadcast(&change);
	while (ready != 2)
		pthread_cond_wait(&change, &lock);
	pthread_mutex_unlock(&lock);
	RETALLY_END("partner");
	pthread_join(id, NULL);
	printf("met\n");
}

/* Waits for a signal, which a copy of the process does not get. */
static void wait_for_signal(void)
{
	struct itimerval soon = {{0, 0}, {0, 300000}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	RETALLY_BEGIN("signal");
	work_times(5);
	while (!alarms) {
		struct timespec t = {100, 0};

		nanosleep(&t, NULL);
	}
	RETALLY_END("signal");
	printf("signalled\n");
}

static void shared(void)
{
	unsigned *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(3);
	RETALLY_BEGIN("shared");
	work_times(5);
	*p += 1;
	RETALLY_END("shared");
	printf("shared %u\n", *p);
}

static void on_child(int signal)
{
	(void)signal;
	printf("a child ended\n");
}

/* The program must not see the copies. */
static void watch(void)
{
	signal(SIGCHLD, on_child);
	RETALLY_BEGIN("watch");
	work_times(5);
	RETALLY_END("watch");
	printf("wait gives %d\n", (int)waitpid(-1, NULL, WNOHANG));
}

static void crash(void)
{
	RETALLY_BEGIN("crash");
	work_times(5);
	fflush(stdout);
	raise(SIGSEGV);
	RETALLY_END("crash");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"plain", plain},
		     {"memory", memory},
		     {"allocate", allocate},
		     {"output", output},
		     {"file", file},
		     {"socket", pair},
		     {"fork", make_child},
		     {"leave", leave},
		     {"jump", jump},
		     {"strays", strays},
		     {"alarmed", alarmed},
		     {"threads", threads},
		     {"crossed", crossed},
		     {"partner", wait_for_partner},
		     {"signal", wait_for_signal},
		     {"shared", shared},
		     {"watch", watch},
		     {"crash", crash},
		     {"handler", handle}};

	if (argc == 2 && !strcmp(argv[1], "recurse")) {
		recurse(5);
		printf("state %lu\n", state);
		return 0;
	}
	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			printf("state %lu\n", state);
			return 0;
		}
	return 2;
}
