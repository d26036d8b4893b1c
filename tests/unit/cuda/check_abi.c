/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares our declarations of CUPTI with the vendor's headers. Built only where those are
 * installed, with an empty file named `string` in front of the include path, because
 * cupti_profiler_host.h of CUDA 13 includes a C++ header that it does not use.
 */
#include "source/cuda/cuda_abi.h"

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <stddef.h>
#include <stdint.h>

#define SAME(ours, theirs, our_last)                                    \
	_Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs); \
	_Static_assert(CUPTI_STRUCT_SIZE(struct ours, our_last) == theirs##_STRUCT_SIZE, #theirs)
#define FIELD(ours, our_field, theirs, their_field)                                         \
	_Static_assert(offsetof(struct ours, our_field) == offsetof(theirs, their_field) && \
			       sizeof(((struct ours *)0)->our_field) ==                     \
				       sizeof(((theirs *)0)->their_field),                  \
		       #theirs "." #their_field)

SAME(cupti_host_initialize, CUpti_Profiler_Host_Initialize_Params, host);
FIELD(cupti_host_initialize, profiler_type, CUpti_Profiler_Host_Initialize_Params, profilerType);
FIELD(cupti_host_initialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
FIELD(cupti_host_initialize, availability, CUpti_Profiler_Host_Initialize_Params,
      pCounterAvailabilityImage);
FIELD(cupti_host_initialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME(cupti_host_deinitialize, CUpti_Profiler_Host_Deinitialize_Params, host);
SAME(cupti_host_chips, CUpti_Profiler_Host_GetSupportedChips_Params, names);
FIELD(cupti_host_chips, n, CUpti_Profiler_Host_GetSupportedChips_Params, numChips);
SAME(cupti_host_metrics, CUpti_Profiler_Host_GetBaseMetrics_Params, n);
FIELD(cupti_host_metrics, type, CUpti_Profiler_Host_GetBaseMetrics_Params, metricType);
FIELD(cupti_host_metrics, names, CUpti_Profiler_Host_GetBaseMetrics_Params, ppMetricNames);
SAME(cupti_host_properties, CUpti_Profiler_Host_GetMetricProperties_Params, type);
FIELD(cupti_host_properties, description, CUpti_Profiler_Host_GetMetricProperties_Params,
      pDescription);
FIELD(cupti_host_properties, dim_unit, CUpti_Profiler_Host_GetMetricProperties_Params, pDimUnit);
SAME(cupti_host_add_metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, n);
FIELD(cupti_host_add_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME(cupti_host_image_size, CUpti_Profiler_Host_GetConfigImageSize_Params, image_size);
SAME(cupti_host_image, CUpti_Profiler_Host_GetConfigImage_Params, image);
SAME(cupti_host_passes, CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
FIELD(cupti_host_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
_Static_assert((int)CUPTI_RANGE_PROFILER == (int)CUPTI_PROFILER_TYPE_RANGE_PROFILER, "enum");
_Static_assert((int)CUPTI_INVALID_PARAMETER == (int)CUPTI_ERROR_INVALID_PARAMETER, "enum");

int main(void)
{
	return 0;
}
