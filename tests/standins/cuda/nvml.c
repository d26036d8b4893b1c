/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in for NVML: each device has a clock that falls with each reading, from 1980 MHz by 15 down
 * to 1500. Only what is used; anything else would fail to be found. */
#include "standin.h"

#include <stdio.h>
#include <string.h>

const char standin_name[] = "libnvidia-ml";

struct nvml_device {
	unsigned readings;
};
static struct nvml_device devices[STANDIN_DEVICES];
static bool initialised;

STANDIN_API int nvmlInit_v2(void);
STANDIN_API int nvmlInit_v2(void)
{
	initialised = true;
	return standin_fault("nvml", NULL) ? 9 : 0; /* driver not loaded */
}

STANDIN_API int nvmlDeviceGetHandleByUUID(const char *uuid, struct nvml_device **device);
STANDIN_API int nvmlDeviceGetHandleByUUID(const char *uuid, struct nvml_device **device)
{
	if (!initialised)
		standin_violation("%s before nvmlInit_v2", __func__);
	for (int i = 0; i < standin_devices(); i++) {
		char name[48];

		snprintf(name, sizeof(name), "GPU-5d105d10-5d10-5d10-5d10-5d105d105d%02x",
			 0x10u + (unsigned)i);
		*device = &devices[i];
		if (!strcmp(uuid, name))
			return 0;
	}
	standin_violation("%s: no GPU '%s'", __func__, uuid);
	return 6; /* not found */
}

STANDIN_API int nvmlDeviceGetClockInfo(struct nvml_device *device, int type, unsigned *mhz);
STANDIN_API int nvmlDeviceGetClockInfo(struct nvml_device *device, int type, unsigned *mhz)
{
	if (device < devices || device >= devices + STANDIN_DEVICES || type < 0 || type > 3) {
		standin_violation("%s: the device or the clock", __func__);
		return 2; /* invalid argument */
	}
	standin_count("clocks read", 1);
	*mhz = device->readings < 32 ? 1980 - 15 * device->readings++ : 1500;
	return 0;
}
