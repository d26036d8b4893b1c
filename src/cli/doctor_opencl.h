/* SPDX-License-Identifier: Apache-2.0 */
/* What `retally doctor` says about OpenCL. */
#ifndef RETALLY_CLI_DOCTOR_OPENCL_H
#define RETALLY_CLI_DOCTOR_OPENCL_H

#include <stdbool.h>

typedef void doctor_say(bool works, const char *what, const char *explain);

/* A line for each device, or one that says why there is none. Loads the drivers into this process.
 */
void doctor_opencl(doctor_say *say);

#endif
