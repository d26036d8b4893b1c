/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded below AMD's runtime on the model GPU: what it asks libdrm about a GPU, answered, so
 * that no render node is needed; and a bound for its sleep, because libhsakmt's model mode wakes
 * without its lock: an event that comes just before the sleep would be slept through for ever.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ANSWER __attribute__((visibility("default")))
#define FAMILY 141 /* of gfx942 */

#define LONG_S     3600       /* nobody but the runtime waits for so long */
#define REALTIME_S 1000000000 /* no machine has been up so long */
#define NAP_NS     20000000

ANSWER int drmOpenRender(int minor);
ANSWER int drmClose(int fd);
ANSWER int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, void **device);
ANSWER int amdgpu_device_deinitialize(void *device);
ANSWER const char *amdgpu_get_marketing_name(void *device);
ANSWER int amdgpu_query_gpu_info(void *device, void *info);

int drmOpenRender(int minor)
{
	(void)minor;
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int drmClose(int fd)
{
	return close(fd);
}

int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, void **device)
{
	static int one;
	(void)fd;
	*major = 3;
	*minor = 57;
	*device = &one;
	return 0;
}

int amdgpu_device_deinitialize(void *device)
{
	(void)device;
	return 0;
}

const char *amdgpu_get_marketing_name(void *device)
{
	(void)device;
	return "Model GPU";
}

int amdgpu_query_gpu_info(void *device, void *info)
{
	uint32_t *words = info;
	(void)device;
	memset(info, 0, 16 * sizeof *words);
	words[4] = FAMILY;
	return 0;
}

/* Waits for long return early as if woken, which any caller has to expect. */
ANSWER int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
				  const struct timespec *restrict until)
{
	struct timespec nap;
	int rc;
	if (until->tv_sec > REALTIME_S)
		return pthread_cond_clockwait(cond, mutex, CLOCK_REALTIME, until);
	clock_gettime(CLOCK_MONOTONIC, &nap);
	if (until->tv_sec - nap.tv_sec < LONG_S)
		return pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, until);
	nap.tv_nsec += NAP_NS;
	if (nap.tv_nsec >= 1000000000) {
		nap.tv_sec++;
		nap.tv_nsec -= 1000000000;
	}
	rc = pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &nap);
	return rc == ETIMEDOUT ? 0 : rc;
}
