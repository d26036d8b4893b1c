/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the model device's kernels, for programs. All addresses are of the device; n counts
 * 32-bit words. What each does: hsa_kernels.c. */
#ifndef RETALLY_TESTS_STANDINS_T0_KERNELS_H
#define RETALLY_TESTS_STANDINS_T0_KERNELS_H

#include <stdint.h>

struct t0_accumulate { /* buffer[i] = buffer[i] * 5 + add + i */
	void *buffer;
	uint32_t n, add;
};
struct t0_atomics { /* every work-item: bins[(*total)++ % n_bins]++ */
	void *total, *bins;
	uint32_t n_bins, unused;
};
struct t0_through_pointer { /* like accumulate, on the buffer whose address is in *box */
	void *box;
	uint32_t n, unused;
};
struct t0_module_variable { /* on the variable `total` of the code object */
	void *out;
};
struct t0_produce { /* to[i] = to[i] * 3 + 1 */
	void *to;
	uint32_t n, unused;
};
struct t0_consume { /* to[i] = to[i] * 7 + from[i] */
	void *from, *to;
	uint32_t n, unused;
};
struct t0_wait_for_flag { /* until *flag >= value; then *out = *out * 2 + 1 */
	void *flag, *out;
	uint32_t value, unused;
};
struct t0_set_flag {
	void *flag;
	uint32_t value, unused;
};
struct t0_fill {
	void *to;
	uint32_t value, n;
};
struct t0_copy {
	void *from, *to;
	uint32_t n, unused;
};
struct t0_append { /* each work-item appends to list, *used so far */
	void *used, *list;
	uint32_t room, unused;
};
struct t0_only_once { /* if (!done[i]) work[i] += i + 1, done[i] = 1 */
	void *done, *work;
	uint32_t n, unused;
};
#define T0_ASTRAY_KEY 0x5555aaaa5555aaaau
struct t0_astray { /* writes to the address (*hidden ^ T0_ASTRAY_KEY) */
	void *hidden;
	uint32_t n, unused;
};

#endif
