/* SPDX-License-Identifier: Apache-2.0 */
/* The program's rocTX ranges (push and pop, start and stop) as begins and ends with a name. */
#ifndef RETALLY_SOURCE_ROCM_MARKERS_H
#define RETALLY_SOURCE_ROCM_MARKERS_H

#include "source/rocm/rocm_abi.h"

#include <stdbool.h>

void rocm_markers_record(const struct rocp_tracing_record *record,
			 void (*range)(void *data, const char *name, bool begins), void *data);

#endif
