/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that reach all of the host's memory (HMM, ATS): there malloc's memory can be an argument,
 * of which no call of the driver tells. Nobody knows how far it goes, and the host may use it at
 * any time: what points into it runs once.
 *
 * What such an address is has to be guessed from the number. It is one if the kernel knows a page
 * there that the program can write, and no memory of the driver's is there. Numbers that are no
 * addresses are hardly ever in such a page; the program loses values for a launch then, nothing
 * else.
 */
#ifndef RETALLY_RUNTIME_CUDA_PAGEABLE_H
#define RETALLY_RUNTIME_CUDA_PAGEABLE_H

#include "runtime/cuda/functions.h"

/* The device reaches it. The driver is asked once; without an answer it does. Any thread, the
 * context is current. */
bool cuda_pageable_is_reached(struct cuda_context *c);
/* An aligned word of the n bytes points into it. f: whose parameters they are: words that are no
 * single parameter are none; NULL: any. Without a word on devices that do not reach it. Any thread.
 */
bool cuda_pageable_scan(struct cuda_context *c, const void *bytes, size_t n,
			const struct cuda_function *f);
extern const char cuda_pageable_why[];

#endif
