/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks by NVML: see cuda_clock.h. Facts: NVML's interface, unchanged since its version 5. */
#include "source/cuda/cuda_clock.h"

#include <dlfcn.h>
#include <stdio.h>

#define NVML_CLOCK_SM 1

bool cuda_clock_open(struct cuda_clock *c, const unsigned char uuid[16])
{
	int (*init)(void), (*find)(const char *, struct nvml_device **);
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	char text[48] = "GPU";
	int n = 3;

	if (!library)
		return false;
	*(void **)&init = dlsym(library, "nvmlInit_v2");
	*(void **)&find = dlsym(library, "nvmlDeviceGetHandleByUUID");
	*(void **)&c->read = dlsym(library, "nvmlDeviceGetClockInfo");
	for (int i = 0; i < 16; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%02x",
			      i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	if (!init || !find || !c->read || init() || find(text, &c->device))
		c->device = NULL;
	return c->device != NULL;
}

void cuda_clock_read(struct cuda_clock *c, uint32_t pass)
{
	unsigned mhz = 0;

	if (!c->device || !pass || pass > CUDA_CLOCK_PASSES ||
	    c->read(c->device, NVML_CLOCK_SM, &mhz) || !mhz)
		return;
	if (!c->of[pass - 1].n || mhz < c->of[pass - 1].least)
		c->of[pass - 1].least = mhz;
	if (mhz > c->of[pass - 1].most)
		c->of[pass - 1].most = mhz;
	c->of[pass - 1].n++;
	if (pass > c->passes)
		c->passes = pass;
}

static bool is_like(const struct cuda_clock *c, uint32_t a, uint32_t b)
{
	return c->of[b].n && c->of[a].least == c->of[b].least && c->of[a].most == c->of[b].most;
}

bool cuda_clock_describe(const struct cuda_clock *c, char *text, unsigned size)
{
	uint32_t first, last;
	int n = snprintf(text, size, "SM clock at the end of passes, MHz by NVML:");
	int begin = n;

	for (first = 0; first < c->passes && n + 48 < (int)size; first = last + 1) {
		last = first;
		if (!c->of[first].n)
			continue;
		while (last + 1 < c->passes && is_like(c, first, last + 1))
			last++;
		n += snprintf(text + n, size - (unsigned)n, "%s pass %u", n > begin ? "," : "",
			      first + 1);
		if (last > first)
			n += snprintf(text + n, size - (unsigned)n, "-%u", last + 1);
		n += snprintf(text + n, size - (unsigned)n, " %u", c->of[first].least);
		if (c->of[first].most != c->of[first].least)
			n += snprintf(text + n, size - (unsigned)n, " to %u", c->of[first].most);
	}
	if (first < c->passes)
		snprintf(text + n, size - (unsigned)n, ", and more");
	return n > begin;
}
