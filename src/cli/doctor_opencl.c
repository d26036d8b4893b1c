/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenCL devices of this machine, for `retally doctor`: asked through the loader, which is
 * opened at run time. Numbers and types are those of the Khronos OpenCL registry.
 */
#include "cli/doctor_opencl.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#define OPENCL_PLATFORM_NAME 0x0902
#define OPENCL_DEVICE_TYPE   0x1000
#define OPENCL_DEVICE_NAME   0x102B
#define OPENCL_TYPE_CPU      (1u << 1)
#define OPENCL_TYPE_ALL      0xFFFFFFFFu
#define OPENCL_ITEMS_MAX     16

typedef int32_t get_platforms(uint32_t room, void **platforms, uint32_t *n);
typedef int32_t get_devices(void *platform, uint64_t type, uint32_t room, void **devices,
			    uint32_t *n);
typedef int32_t get_info(void *object, uint32_t what, size_t size, void *value, size_t *size_out);

struct opencl {
	get_platforms *platforms;
	get_devices *devices;
	get_info *platform_info, *device_info;
};

static bool open_loader(struct opencl *cl)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	*(void **)(void *)&cl->platforms = dlsym(library, "clGetPlatformIDs");
	*(void **)(void *)&cl->devices = dlsym(library, "clGetDeviceIDs");
	*(void **)(void *)&cl->platform_info = dlsym(library, "clGetPlatformInfo");
	*(void **)(void *)&cl->device_info = dlsym(library, "clGetDeviceInfo");
	return cl->platforms && cl->devices && cl->platform_info && cl->device_info;
}

static int list_devices(const struct opencl *cl, void *platform, doctor_say *say)
{
	void *devices[OPENCL_ITEMS_MAX];
	char name[160], platform_name[80] = "", text[400];
	uint32_t n = 0;

	cl->platform_info(platform, OPENCL_PLATFORM_NAME, sizeof(platform_name) - 1, platform_name,
			  NULL);
	if (cl->devices(platform, OPENCL_TYPE_ALL, OPENCL_ITEMS_MAX, devices, &n))
		return 0;
	if (n > OPENCL_ITEMS_MAX)
		n = OPENCL_ITEMS_MAX;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t type = 0;

		name[0] = '\0';
		cl->device_info(devices[i], OPENCL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
		name[sizeof(name) - 1] = '\0';
		cl->device_info(devices[i], OPENCL_DEVICE_TYPE, sizeof(type), &type, NULL);
		snprintf(text, sizeof(text), "%s (%s): %s", name, platform_name,
			 type & OPENCL_TYPE_CPU
				 ? "kernels are replayed and counted with source perf"
				 : "no source counts on it yet; its kernels run uncounted");
		say(type & OPENCL_TYPE_CPU, "OpenCL device", text);
	}
	return (int)n;
}

void doctor_opencl(doctor_say *say)
{
	struct opencl cl = {0};
	void *platforms[OPENCL_ITEMS_MAX];
	uint32_t n = 0;
	int found = 0;

	if (!open_loader(&cl)) {
		say(false, "OpenCL", "there is no loader (libOpenCL.so.1) on this machine");
		return;
	}
	if (!cl.platforms(OPENCL_ITEMS_MAX, platforms, &n)) {
		if (n > OPENCL_ITEMS_MAX)
			n = OPENCL_ITEMS_MAX;
		for (uint32_t i = 0; i < n; i++)
			found += list_devices(&cl, platforms[i], say);
	}
	if (!found)
		say(false, "OpenCL",
		    "the loader knows no device: install a driver, for CPUs "
		    "pocl-opencl-icd");
}
