/* SPDX-License-Identifier: Apache-2.0 */
/* What AMD's runtime asks libdrm about a GPU, answered for the model GPU; preloaded, so that no
 * render node is needed. */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define ANSWER __attribute__((visibility("default")))
#define FAMILY 141 /* of gfx942 */

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
