/* SPDX-License-Identifier: Apache-2.0 */
/* Pausing and warming the program's OpenMP threads. */
#include "runtime/region/region_openmp.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OPENMP_PAUSE_HARD 2 /* omp_pause_hard of omp.h, OpenMP 5.0 */
#define OPENMP_WAIT_MS    500

int region_count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

/* Libraries whose thread-local variables a new thread sets up by itself. */
static bool is_known(const char *path)
{
	static const char *const known[] = {
		"ld-linux",      "libc.so",     "libgomp.so", "libomp.so",     "libiomp5.so",
		"libstdc++.so",  "libgcc_s.so", "libm.so",    "libretally",    "libgfortran.so",
		"libpthread.so", "libc++",      "libasan.so", "libquadmath.so"};
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strncmp(name, known[i], strlen(known[i])))
			return true;
	return false;
}

struct look {
	bool found;
	char name[128];
};

static int look_for_tls(struct dl_phdr_info *info, size_t size, void *data)
{
	struct look *look = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_TLS || !info->dlpi_phdr[i].p_memsz ||
		    is_known(info->dlpi_name))
			continue;
		look->found = true;
		snprintf(look->name, sizeof(look->name), "%.120s",
			 *info->dlpi_name ? info->dlpi_name : "the program");
		return 1;
	}
	return 0;
}

static void say_threads(int n, char *reason_out, size_t size)
{
	snprintf(reason_out, size, "%d other thread%s run%s, which a copy of the process lacks", n,
		 n == 1 ? "" : "s", n == 1 ? "s" : "");
}

bool region_openmp_pause(int *workers_out, char *reason_out, size_t size)
{
	struct timespec tick = {0, 1000000};
	struct look look = {0};
	int (*in_parallel)(void), (*pause)(int), before = region_count_threads(), now = before;

	*workers_out = 0;
	if (before == 1)
		return true;
	*(void **)(void *)&in_parallel = dlsym(RTLD_DEFAULT, "omp_in_parallel");
	*(void **)(void *)&pause = dlsym(RTLD_DEFAULT, "omp_pause_resource_all");
	if (!pause) {
		if (in_parallel)
			snprintf(reason_out, size,
				 "the OpenMP runtime cannot end its threads (it has no "
				 "omp_pause_resource_all)");
		else
			say_threads(before - 1, reason_out, size);
		return false;
	}
	if (in_parallel && in_parallel()) {
		snprintf(reason_out, size, "it begins inside a parallel region of OpenMP");
		return false;
	}
	/* Ended threads take their thread-local variables with them: threadprivate data, the state
	 * of a random number generator. The program would see new ones. */
	dl_iterate_phdr(look_for_tls, &look);
	if (look.found) {
		snprintf(reason_out, size,
			 "the OpenMP threads cannot be ended, because '%s' has thread-local "
			 "variables that would be lost",
			 look.name);
		return false;
	}
	if (pause(OPENMP_PAUSE_HARD)) {
		snprintf(reason_out, size, "the OpenMP runtime refuses to end its threads");
		return false;
	}
	/* They end by themselves, a little later. */
	for (int i = 0; (now = region_count_threads()) > 1 && i < OPENMP_WAIT_MS; i++)
		nanosleep(&tick, NULL);
	*workers_out = before - now;
	if (now == 1)
		return true;
	say_threads(now - 1, reason_out, size);
	return false;
}

static void warm_up(void *nothing)
{
	(void)nothing;
	__asm__ volatile("" ::: "memory");
}

void region_openmp_warm(int workers)
{
	void (*parallel)(void (*)(void *), void *, unsigned, unsigned);

	if (workers <= 0)
		return;
	*(void **)(void *)&parallel = dlsym(RTLD_DEFAULT, "GOMP_parallel");
	if (parallel)
		parallel(warm_up, NULL, (unsigned)workers + 1, 0);
}
