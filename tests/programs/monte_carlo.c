/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Monte-Carlo program for --fixed-seed: prints what it seeds itself with from the source that its
 * argument names, and does an amount of work, in memory too, that depends on it.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sum;

void step(uint64_t i);

__attribute__((noinline)) void step(uint64_t i)
{
	sum += i * i;
}

static uint64_t seed_from(const char *source)
{
	uint64_t seed = 0;
	struct timespec t;
	struct timeval v;
	FILE *f;
	int fd;

	if (!strcmp(source, "time"))
		return (uint64_t)time(NULL);
	if (!strcmp(source, "clock") && !clock_gettime(CLOCK_REALTIME, &t))
		return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	if (!strcmp(source, "timeofday") && !gettimeofday(&v, NULL))
		return (uint64_t)v.tv_sec * 1000000u + (uint64_t)v.tv_usec;
	if (!strcmp(source, "getrandom") && getrandom(&seed, sizeof(seed), 0) == sizeof(seed))
		return seed;
	if (!strcmp(source, "getentropy") && !getentropy(&seed, sizeof(seed)))
		return seed;
	if (!strcmp(source, "raw") && syscall(SYS_getrandom, &seed, sizeof(seed), 0) > 0)
		return seed;
	if (!strcmp(source, "open")) {
		fd = open("/dev/urandom", O_RDONLY);
		if (fd >= 0 && read(fd, &seed, sizeof(seed)) == sizeof(seed) && !close(fd))
			return seed;
	}
	if (!strcmp(source, "fopen")) {
		f = fopen("/dev/urandom", "rb");
		if (f && fread(&seed, sizeof(seed), 1, f) == 1 && !fclose(f))
			return seed;
	}
	if (!strcmp(source, "wait")) { /* a program that waits for the time gets there */
		for (time_t begin = time(NULL); time(NULL) < begin + 2;)
			usleep(1000);
		return 1;
	}
	return 0;
}

/* Page faults that tell one seed from most others: 64, 128, ... 2048. */
static void touch(uint64_t seed)
{
	size_t size = (size_t)4096 << (6 + seed * 0x9e3779b97f4a7c15u % 61 % 6);
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || madvise(pages, size, MADV_NOHUGEPAGE))
		return;
	for (size_t i = 0; i < size; i += 4096)
		((volatile char *)pages)[i] = 1;
}

int main(int argc, char **argv)
{
	uint64_t seed = seed_from(argc > 1 ? argv[1] : "time");
	uint64_t steps = 20 + seed * 0x9e3779b97f4a7c15u % 1000;

	fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
	touch(seed);
	for (uint64_t i = 0; i < steps; i++)
		step(i);
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
