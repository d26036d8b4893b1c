/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in for NVML: one device, whose clock falls with each reading, from 1980 MHz by 15 down to
 * 1500. Only what is used; anything else would fail to be found. */
#include "standin.h"

#include <string.h>

const char standin_name[] = "libnvidia-ml";

struct nvml_device {
	unsigned readings;
};
static struct nvml_device the_device;
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
	if (strcmp(uuid, "GPU-5d105d10-5d10-5d10-5d10-5d105d105d10") != 0) {
		standin_violation("%s: no GPU '%s'", __func__, uuid);
		return 6; /* not found */
	}
	*device = &the_device;
	return 0;
}

STANDIN_API int nvmlDeviceGetClockInfo(struct nvml_device *device, int type, unsigned *mhz);
STANDIN_API int nvmlDeviceGetClockInfo(struct nvml_device *device, int type, unsigned *mhz)
{
	if (device != &the_device || type < 0 || type > 3) {
		standin_violation("%s: the device or the clock", __func__);
		return 2; /* invalid argument */
	}
	standin_count("clocks read", 1);
	*mhz = device->readings < 32 ? 1980 - 15 * device->readings++ : 1500;
	return 0;
}
