/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libretally-seed.so, loaded into the passes of application replay with --fixed-seed: what programs
 * seed their random numbers with is the same in every pass. Calls into libc only:
 *
 *  time, gettimeofday, clock_gettime(CLOCK_REALTIME)
 *              The time of pass 1's start, and a microsecond more at each call; whole seconds go on
 *              as they pass, so that a program that waits for a time gets there.
 *  getrandom, getentropy, and reads of /dev/random and /dev/urandom through open and fopen
 *              One stream of bytes from the seed, in the order of the calls.
 *
 * Not reached: raw system calls, statically linked programs, the processor's own clock and random
 * numbers (rdtsc, rdrand; std::random_device uses the latter), process ids, addresses (--no-aslr).
 * Threads that draw at the same time share the stream in the order in which they come.
 *
 * The settings are in RETALLY_FIXED_SEED: "SEED:SECONDS". Without it nothing changes.
 */
/* Both names of open and fopen are functions of their own here. */
#undef _FILE_OFFSET_BITS

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define HOOK    __attribute__((visibility("default")))
#define FDS_MAX 4096

static bool active;
static uint64_t seed;
static int64_t first_second, started; /* of the clock that is shown; real, monotonic */
static atomic_uint_fast64_t drawn, calls;
static atomic_bool is_random[FDS_MAX];

/* libc's own, which threads may be cancelled in: no system calls of ours in their place. */
static int (*next_open)(const char *, int, ...);
static int (*next_open64)(const char *, int, ...);
static int (*next_close)(int);
static ssize_t (*next_read)(int, void *, size_t);

static void find_next(void)
{
	*(void **)(void *)&next_open = dlsym(RTLD_NEXT, "open");
	*(void **)(void *)&next_open64 = dlsym(RTLD_NEXT, "open64");
	*(void **)(void *)&next_close = dlsym(RTLD_NEXT, "close");
	*(void **)(void *)&next_read = dlsym(RTLD_NEXT, "read");
}

/* ---- settings ---- */
static int64_t monotonic_seconds(void)
{
	struct timespec t = {0};

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Ranks of a job draw other numbers, the same in every pass. */
static uint64_t rank_of_job(void)
{
	static const char *const names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
					    "SLURM_PROCID"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *text = getenv(names[i]);

		if (text && *text >= '0' && *text <= '9')
			return strtoull(text, NULL, 10) + 1;
	}
	return 0;
}

__attribute__((constructor)) static void seed_start(void)
{
	const char *text = getenv("RETALLY_FIXED_SEED");
	char *end = NULL;

	find_next();
	if (!text)
		return;
	seed = strtoull(text, &end, 10);
	if (end == text || *end != ':')
		return;
	first_second = strtoll(end + 1, NULL, 10);
	seed += rank_of_job() * 0x9e3779b97f4a7c15u;
	started = monotonic_seconds();
	active = true;
}

/* ---- time ---- */
static void fixed_time(struct timespec *out)
{
	uint64_t n = atomic_fetch_add(&calls, 1);

	out->tv_sec =
		(time_t)(first_second + (monotonic_seconds() - started) + (int64_t)(n / 1000000));
	out->tv_nsec = (long)(n % 1000000) * 1000;
}

HOOK int clock_gettime(clockid_t clock, struct timespec *out)
{
	if (active && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
		fixed_time(out);
		return 0;
	}
	return (int)syscall(SYS_clock_gettime, clock, out);
}

HOOK int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec t;

	if (!active)
		return (int)syscall(SYS_gettimeofday, out, zone);
	fixed_time(&t);
	*out = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
	return 0;
}

HOOK time_t time(time_t *out)
{
	struct timespec t = {0};

	if (active)
		fixed_time(&t);
	else
		syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	if (out)
		*out = t.tv_sec;
	return t.tv_sec;
}

/* ---- random bytes ---- */
static void fill(void *to, size_t n)
{
	/* splitmix64, a word for each eight bytes begun; a call takes whole words. */
	uint64_t at = atomic_fetch_add(&drawn, (n + 7) / 8);

	for (size_t i = 0; i < n; i += 8) {
		uint64_t z = seed + ++at * 0x9e3779b97f4a7c15u;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
		z ^= z >> 31;
		memcpy((char *)to + i, &z, n - i < 8 ? n - i : 8);
	}
}

HOOK ssize_t getrandom(void *to, size_t n, unsigned flags)
{
	if (!active)
		return syscall(SYS_getrandom, to, n, flags);
	fill(to, n);
	return (ssize_t)n;
}

HOOK int getentropy(void *to, size_t n)
{
	if (n > 256) {
		errno = EIO;
		return -1;
	}
	if (!active)
		return syscall(SYS_getrandom, to, n, 0) == (ssize_t)n ? 0 : -1;
	fill(to, n);
	return 0;
}

static bool is_device(const char *path)
{
	return active && path && (!strcmp(path, "/dev/urandom") || !strcmp(path, "/dev/random"));
}

/* The descriptor is the device's own, so that it can be polled and closed; its reads are ours. */
static int opened(int fd, const char *path)
{
	if (fd >= 0 && fd < FDS_MAX && is_device(path))
		atomic_store(&is_random[fd], true);
	return fd;
}

static bool needs_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPEN_HOOK(name)                                                               \
	HOOK int name(const char *path, int flags, ...)                               \
	{                                                                             \
		mode_t mode = 0;                                                      \
		va_list ap;                                                           \
                                                                                      \
		va_start(ap, flags);                                                  \
		if (needs_mode(flags))                                                \
			mode = va_arg(ap, mode_t);                                    \
		va_end(ap);                                                           \
		if (!next_##name)                                                     \
			find_next();                                                  \
		if (!next_##name)                                                     \
			return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode); \
		return opened(next_##name(path, flags, mode), path);                  \
	}
OPEN_HOOK(open)
OPEN_HOOK(open64)

HOOK int close(int fd)
{
	if (fd >= 0 && fd < FDS_MAX)
		atomic_store(&is_random[fd], false);
	if (!next_close)
		find_next();
	return next_close ? next_close(fd) : (int)syscall(SYS_close, fd);
}

HOOK ssize_t read(int fd, void *to, size_t n)
{
	if (active && fd >= 0 && fd < FDS_MAX && atomic_load(&is_random[fd])) {
		fill(to, n);
		return (ssize_t)n;
	}
	if (!next_read)
		find_next();
	return next_read ? next_read(fd, to, n) : syscall(SYS_read, fd, to, n);
}

static ssize_t cookie_read(void *cookie, char *to, size_t n)
{
	(void)cookie;
	fill(to, n);
	return (ssize_t)n;
}

static FILE *open_stream(const char *path, const char *mode, const char *name)
{
	FILE *(*next)(const char *, const char *) = NULL;

	if (is_device(path) && mode && *mode == 'r' && !strchr(mode, '+'))
		return fopencookie(NULL, "r", (cookie_io_functions_t){.read = cookie_read});
	*(void **)(void *)&next = dlsym(RTLD_NEXT, name);
	if (next)
		return next(path, mode);
	errno = ENOSYS;
	return NULL;
}

HOOK FILE *fopen(const char *path, const char *mode)
{
	return open_stream(path, mode, "fopen");
}

HOOK FILE *fopen64(const char *path, const char *mode)
{
	return open_stream(path, mode, "fopen64");
}
