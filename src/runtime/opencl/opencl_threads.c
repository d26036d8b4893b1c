/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads of the process do a CPU device's work. OpenCL does not tell; but the library starts
 * them inside one of a few calls, so the ones that are new after such a call are its own. Threads
 * that the program starts from elsewhere at that very moment are taken for them; the calls are made
 * early, and once.
 */
#include "runtime/opencl/opencl_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct entry { /* of getdents64(2) */
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* Without opendir, which allocates. */
static uint32_t list_tasks(int32_t *tids, uint32_t room)
{
	_Alignas(struct entry) char buffer[8192];
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t n = 0;
	long got;

	if (fd < 0)
		return 0;
	while ((got = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			struct entry *e = (struct entry *)(void *)(buffer + at);

			if (e->name[0] != '.' && n < room)
				tids[n++] = (int32_t)strtol(e->name, NULL, 10);
			at += e->length;
		}
	close(fd);
	return n;
}

struct thread_watch *threads_watch(void)
{
	struct thread_watch *w = pool_get(sizeof(*w));

	if (w)
		w->n = list_tasks(w->tids, OPENCL_THREADS);
	return w;
}

static bool is_in(const int32_t *tids, uint32_t n, int32_t tid)
{
	for (uint32_t i = 0; i < n; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

void threads_watched(struct thread_watch *w)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	struct thread_watch *now = w ? threads_watch() : NULL;

	if (now && now->n != w->n) {
		pthread_mutex_lock(&one);
		for (uint32_t i = 0; i < now->n; i++) {
			uint32_t n = atomic_load(&layer.n_threads);

			if (n == OPENCL_THREADS || is_in(w->tids, w->n, now->tids[i]) ||
			    is_in(layer.threads, n, now->tids[i]))
				continue;
			layer.threads[n] = now->tids[i];
			atomic_store(&layer.n_threads, n + 1);
		}
		pthread_mutex_unlock(&one);
		if (layer.options.threads)
			layer.options.threads();
	}
	pool_put(now);
	pool_put(w);
}

uint32_t threads_list(void *data, int32_t *tids_out, uint32_t room)
{
	uint32_t n = atomic_load(&layer.n_threads), found = 0;

	(void)data;
	for (uint32_t i = 0; i < n; i++) {
		/* The library may have ended some since. */
		if (syscall(SYS_tgkill, getpid(), layer.threads[i], 0))
			continue;
		if (found < room)
			tids_out[found] = layer.threads[i];
		found++;
	}
	return found;
}
