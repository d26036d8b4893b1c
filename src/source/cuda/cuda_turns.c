/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns of processes on a GPU: see cuda_turns.h. Three bytes of the file are locked: TURN, by who
 * has the turn; WAITER, shared by who waits for it, so that the one that gave it is not the next to
 * take it; PRESENT, shared by all that have the GPU open.
 */
#include "source/cuda/cuda_turns.h"

#include "wire/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LEAST_FD  700                   /* the program's own numbers are lower */
#define OWNER_NS  UINT64_C(30000000000) /* with the same owner */
#define TOTAL_NS  UINT64_C(300000000000)
#define POLITE_NS UINT64_C(30000000) /* for a waiter to take what this process gave */
#define PAUSE_NS  500000

enum place {
	TURN,
	WAITER,
	PRESENT,
};

struct cuda_turns {
	struct cuda_turns *next;
	unsigned char uuid[16];
	int fd;
	pthread_mutex_t lock; /* of what follows; not held while waiting */
	unsigned taken;       /* times, by threads of this process */
	bool was_mine;        /* this process had the turn last, as far as it knows */
	bool in_job;          /* a rank of a parallel job */
};

static struct {
	pthread_mutex_t lock;
	struct cuda_turns *list;
	_Atomic uint64_t waited_ns, waits;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct flock lock_of(short type, enum place place)
{
	return (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)place, .l_len = 1};
}

static bool set(const struct cuda_turns *t, short type, enum place place)
{
	struct flock l = lock_of(type, place);
	int rc;

	do
		rc = fcntl(t->fd, F_SETLK, &l);
	while (rc && errno == EINTR);
	return !rc;
}

/* The other process that has the place locked; 0: none. */
static pid_t other(const struct cuda_turns *t, enum place place)
{
	struct flock l = lock_of(F_WRLCK, place);

	return fcntl(t->fd, F_GETLK, &l) || l.l_type == F_UNLCK ? 0 : l.l_pid > 0 ? l.l_pid : 1;
}

static int open_file(const char *path, int *fd_out, struct error *err)
{
	struct stat s;
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600), high;

	if (fd < 0)
		return error_set_errno(err, 0, errno,
				       "GPUs are not shared by turns: cannot open '%s'", path);
	if (fstat(fd, &s) || !S_ISREG(s.st_mode) || s.st_uid != geteuid() || s.st_nlink != 1 ||
	    (s.st_mode & 077)) {
		close(fd);
		return error_set(err, RC_PERMISSION,
				 "GPUs are not shared by turns: '%s' is not a file of this user "
				 "alone",
				 path);
	}
	/* No lock is held yet: closing a descriptor would drop it. */
	high = fcntl(fd, F_DUPFD_CLOEXEC, LEAST_FD);
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	*fd_out = fd;
	return 0;
}

static void name_file(char *path, size_t size, const unsigned char uuid[16])
{
	const char *directory = getenv("XDG_RUNTIME_DIR");
	struct stat s;
	char hex[33];

	for (unsigned i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", uuid[i]);
	if (!directory || *directory != '/' || strlen(directory) > 3000 || stat(directory, &s) ||
	    !S_ISDIR(s.st_mode) || s.st_uid != geteuid())
		directory = "/tmp";
	snprintf(path, size, "%s/retally-gpu-%u-%s", directory, (unsigned)geteuid(), hex);
}

static bool is_in_job(void)
{
	struct identity identity;

	identity_read(&identity);
	return identity.size > 1 || identity_in_mpi_rank();
}

int cuda_turns_open(const unsigned char uuid[16], struct cuda_turns **turns_out, struct error *err)
{
	struct cuda_turns *t;
	char path[4096];
	int rc = 0;

	pthread_mutex_lock(&all.lock);
	for (t = all.list; t && memcmp(t->uuid, uuid, 16);)
		t = t->next;
	if (!t) {
		t = calloc(1, sizeof(*t));
		name_file(path, sizeof(path), uuid);
		rc = t ? open_file(path, &t->fd, err)
		       : error_set(err, RC_NO_MEMORY, "out of memory");
		if (!rc && !set(t, F_RDLCK, PRESENT)) {
			rc = error_set_errno(err, 0, errno,
					     "GPUs are not shared by turns: cannot lock '%s'",
					     path);
			close(t->fd);
		}
		if (!rc) {
			memcpy(t->uuid, uuid, 16);
			t->in_job = is_in_job();
			pthread_mutex_init(&t->lock, NULL);
			t->next = all.list;
			all.list = t;
		}
	}
	pthread_mutex_unlock(&all.lock);
	if (rc) {
		free(t);
		return rc;
	}
	*turns_out = t;
	return 0;
}

static bool try_take(struct cuda_turns *t)
{
	bool got;

	pthread_mutex_lock(&t->lock);
	got = t->taken || set(t, F_WRLCK, TURN);
	if (got) {
		t->taken++;
		t->was_mine = true;
	}
	pthread_mutex_unlock(&t->lock);
	return got;
}

static void pause_a_little(void)
{
	struct timespec pause = {0, PAUSE_NS};

	nanosleep(&pause, NULL);
}

/* Who waited while this process had the turn takes it first, if it can. */
static void let_others(struct cuda_turns *t)
{
	uint64_t until = now() + POLITE_NS;

	if (!t->was_mine)
		return;
	while (!other(t, TURN) && other(t, WAITER) && now() < until)
		pause_a_little();
}

int cuda_turns_take(struct cuda_turns *t, struct error *err)
{
	uint64_t begin = now(), since = begin, waited;
	pid_t owner = 0;
	bool got;

	pthread_mutex_lock(&t->lock);
	got = t->taken > 0;
	t->taken += got;
	pthread_mutex_unlock(&t->lock);
	if (got)
		return 0;
	let_others(t);
	got = try_take(t);
	if (!got)
		set(t, F_RDLCK, WAITER);
	while (!got && since + OWNER_NS > now() && begin + TOTAL_NS > now()) {
		pid_t owns = other(t, TURN);

		if (owns && owns != owner) {
			owner = owns;
			since = now();
		}
		pause_a_little();
		got = try_take(t);
	}
	set(t, F_UNLCK, WAITER);
	waited = now() - begin;
	if (waited > PAUSE_NS) {
		atomic_fetch_add(&all.waited_ns, waited);
		atomic_fetch_add(&all.waits, 1);
	}
	if (got)
		return 0;
	return error_set(err, RC_BUSY, "process %d had the GPU's counters for too long (%.0f s)",
			 (int)owner, (double)waited / 1e9);
}

void cuda_turns_give(struct cuda_turns *t)
{
	pthread_mutex_lock(&t->lock);
	if (t->taken && !--t->taken)
		set(t, F_UNLCK, TURN);
	pthread_mutex_unlock(&t->lock);
}

bool cuda_turns_shared(const struct cuda_turns *t)
{
	return t->in_job || other(t, PRESENT) != 0;
}

void cuda_turns_waited(uint64_t *ns_out, uint64_t *times_out)
{
	*ns_out = atomic_load(&all.waited_ns);
	*times_out = atomic_load(&all.waits);
}
