/* SPDX-License-Identifier: Apache-2.0 */
/* `retally plan` for NVIDIA's chips, whose passes CUPTI schedules. */
#ifndef RETALLY_CLI_PLAN_CUDA_H
#define RETALLY_CLI_PLAN_CUDA_H

#include "cli/options.h"
#include "cli/setup.h"

/* Selects, asks CUPTI, prints to stdout as the options say. */
int plan_cuda(struct setup *s, const struct options *o, struct error *err);
/* The same as a plan that the device half carries out, in s->plan. */
int plan_cuda_make(struct setup *s, const struct options *o, struct error *err);

#endif
