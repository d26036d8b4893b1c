/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host half of the rocm source: what the command needs to plan for AMD GPUs. Blocks, slots,
 * counters and metrics are data (data/chips/gfx*.yaml, data/metrics/amd); this half tells which GPU
 * is in this machine, from the kernel's own description, so that planning works without ROCm.
 */
#ifndef RETALLY_SOURCE_ROCM_HOST_H
#define RETALLY_SOURCE_ROCM_HOST_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* "gfx90a" of 90010, as the kernel numbers it. */
void rocm_host_chip_name(uint32_t gfx_target_version, char *out, size_t size);
/* The chip of the first GPU in nodes/N/properties below the directory (NULL: the kernel's, or what
 * RETALLY_KFD names). The text is static. RC_NOT_FOUND: there is none; RC_INVALID: a description
 * that makes no sense, with its file. */
int rocm_host_detect(const char *topology, const char **chip_out, struct error *err);
/* For `retally list sources`: what is here, in one sentence that is put into out. Returns whether a
 * program could be counted. */
int rocm_host_explain(char *out, size_t size);

#endif
