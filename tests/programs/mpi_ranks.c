/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPI program that uses what a replay can break: a collective, a ring, a large message, memory
 * shared by the ranks of a node, and, when asked, every way to end badly.
 *
 *   mpi_ranks [WHAT [RANK [PASS]]]   WHAT of: ok exit abort kill segv stay nofinalize; done by RANK
 *                                    (-1: all of them) in PASS (of RETALLY_PASS; 0: in all)
 *
 * Rank 0 prints "ranks N sum S node K", K the ranks that share memory with it. Functions f1 to f10
 * are called 10 K + rank times, the truth for bp: counts, and nothing else of the program depends
 * on them. MPI_RANKS_PIDS=DIR: each rank leaves an empty file DIR/PASS.PID first of all.
 * MPI_RANKS_EVENT=FILE: a rank that does WHAT adds a line with the time (seconds since 1970) just
 * before.
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LARGE (1 << 20)

/* Called a known number of times: what bp: counts. */
__attribute__((noinline)) int mpi_ranks_step(int x);
__attribute__((noinline)) int mpi_ranks_step(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

#ifdef __clang__
#define KEEP __attribute__((noinline, used, visibility("default")))
#else
#define KEEP __attribute__((noinline, noclone, noipa, used, visibility("default")))
#endif
static volatile long sink;
#define FUNCTION(k)           \
	KEEP void f##k(void); \
	KEEP void f##k(void)  \
	{                     \
		sink += k;    \
	}
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)
FUNCTION(7)
FUNCTION(8)
FUNCTION(9)
FUNCTION(10)

static void call_all(int rank)
{
	static void (*const functions[])(void) = {f1, f2, f3, f4, f5, f6, f7, f8, f9, f10};

	for (int k = 1; k <= 10; k++)
		for (int i = 0; i < 10 * k + rank; i++)
			functions[k - 1]();
}

static void leave_pid(const char *pass)
{
	const char *dir = getenv("MPI_RANKS_PIDS");
	char name[4096];
	FILE *file;

	if (!dir)
		return;
	snprintf(name, sizeof(name), "%s/%s.%d", dir, pass ? pass : "0", (int)getpid());
	file = fopen(name, "w");
	if (file)
		fclose(file);
}

static void leave_time(void)
{
	const char *name = getenv("MPI_RANKS_EVENT");
	struct timespec now;
	int fd = name ? open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

	if (fd < 0)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	dprintf(fd, "%lld.%06ld\n", (long long)now.tv_sec, now.tv_nsec / 1000);
	close(fd);
}

static void fail(const char *what)
{
	fprintf(stderr, "mpi_ranks: %s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 99);
}

static void ring(int rank, int size)
{
	int from = (rank + size - 1) % size, to = (rank + 1) % size;
	char *out = malloc(LARGE), *in = malloc(LARGE);

	if (!out || !in)
		fail("out of memory");
	memset(out, rank, LARGE);
	for (int round = 0; round < 2; round++) {
		int n = round ? LARGE : 4;

		memset(in, 255, LARGE);
		MPI_Sendrecv(out, n, MPI_CHAR, to, 7, in, n, MPI_CHAR, from, 7, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		if (in[0] != (char)from || in[n - 1] != (char)from)
			fail("a message came from the wrong rank");
	}
	free(out);
	free(in);
}

/* Ranks on this node, which all see what each of them wrote. */
static int share(void)
{
	MPI_Comm node;
	MPI_Win window;
	MPI_Aint bytes;
	int rank, size, unit, *mine, *theirs;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_rank(node, &rank);
	MPI_Comm_size(node, &size);
	MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &window);
	MPI_Win_fence(0, window);
	*mine = 100 + rank;
	MPI_Win_fence(0, window);
	for (int i = 0; i < size; i++) {
		MPI_Win_shared_query(window, i, &bytes, &unit, &theirs);
		if (*theirs != 100 + i)
			fail("memory is not shared by the ranks of a node");
	}
	MPI_Win_fence(0, window);
	MPI_Win_free(&window);
	MPI_Comm_free(&node);
	return size;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "ok", *now = getenv("RETALLY_PASS");
	int who = argc > 2 ? atoi(argv[2]) : -1, pass = argc > 3 ? atoi(argv[3]) : 0;
	int rank, size, sum, steps = 0, level, node;
	int does;

	leave_pid(now);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	does = (who < 0 || who == rank) && (!pass || (now && atoi(now) == pass));
	for (int i = 0; i < 10 * (rank + 1); i++)
		steps = mpi_ranks_step(steps);
	call_all(rank);
	MPI_Allreduce(&steps, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	ring(rank, size);
	node = share();
	if (rank == 0) {
		printf("ranks %d sum %d node %d\n", size, sum, node);
		fflush(stdout);
	}
	if (does && strcmp(what, "ok") != 0 && strcmp(what, "exit") != 0)
		leave_time();
	if (does && !strcmp(what, "abort"))
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (does && !strcmp(what, "kill"))
		raise(SIGKILL);
	if (does && !strcmp(what, "segv")) {
		signal(SIGSEGV, SIG_DFL); /* UCX has a handler that survives raise() */
		raise(SIGSEGV);
	}
	if (does && !strcmp(what, "stay"))
		pause();
	if (does && !strcmp(what, "nofinalize"))
		_exit(0);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	if (!does || strcmp(what, "exit") != 0)
		return 0;
	leave_time();
	return 5;
}
