/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel replay by rocprofiler-sdk itself (--engine sdk) instead of ours: no table is patched, no
 * packet is touched. The library saves and puts back memory and launches; we say for each dispatch
 * how often, choose the counters of each execution, and read them.
 */
#ifndef RETALLY_RUNTIME_HSA_SDK_ENGINE_H
#define RETALLY_RUNTIME_HSA_SDK_ENGINE_H

#include "runtime/hsa/hsa_runtime.h"
#include "source/rocm/rocm_abi.h"

/* Once the library is set up: its GPUs become devices of the engine. say is called for what cannot
 * be counted. */
void runtime_sdk_open(struct replay *replay, const struct runtime_hsa_options *options);
/* Each record of its kernel replay. */
void runtime_sdk_record(const struct rocp_tracing_record *record, union rocp_user_data *user_data);

#endif
