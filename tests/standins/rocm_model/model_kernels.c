/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels on the model GPU. A program says which of the C functions a kernel object is; what nobody
 * named is one of ROCr's own kernels, which copy and fill memory, known by their arguments. Memory
 * of the device is mapped in the host, so nothing is checked here: that is what the stand-ins are
 * for.
 */
#include "model.h"

#include <string.h>

#define KERNELS 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint64_t object;
	const struct kernel_type *type;
} kernels[KERNELS];
static unsigned n_kernels;
static uint64_t variable_total;

void t1_model_kernel(uint64_t object, const char *name)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < t0_n_kernels && n_kernels < KERNELS; i++)
		if (!strcmp(t0_kernels[i].name, name)) {
			kernels[n_kernels].object = object;
			kernels[n_kernels++].type = &t0_kernels[i];
		}
	pthread_mutex_unlock(&lock);
}

void t1_model_variable(const char *name, uint64_t address)
{
	if (!strcmp(name, "total"))
		variable_total = address;
}

/* ---- for hsa_kernels.c ---- */

void *memory_at(const void *address, size_t bytes, const char *who)
{
	(void)bytes, (void)who;
	return model_at((uint64_t)(uintptr_t)address);
}

uint64_t code_variable(struct executable *e, const char *name)
{
	(void)e, (void)name;
	return variable_total;
}

/* ---- ROCr's kernels ---- */

static void blit(const uint64_t *a)
{
	if (a[8] >= a[0] && a[8] - a[0] == a[9] - a[1] && a[2] >= a[0] && a[4] >= a[2] &&
	    a[6] >= a[4] && a[8] >= a[6]) { /* aligned copy: begins and ends of its phases */
		memmove(model_at(a[1]), model_at(a[0]), a[8] - a[0]);
	} else if (a[4] >= a[0] && a[4] - a[0] == a[5] - a[1]) { /* copy */
		memmove(model_at(a[1]), model_at(a[0]), a[4] - a[0]);
	} else if (a[2] >= a[0] && a[1] >= a[0]) { /* fill */
		uint32_t *to = model_at(a[0]);
		for (uint64_t n = (a[2] - a[0]) / 4; n; n--)
			*to++ = (uint32_t)a[3];
	} else {
		model_fail("a kernel that nobody named");
	}
}

void model_dispatch(const struct hsa_kernel_packet *packet, volatile bool *stop)
{
	struct kernel_call call = {.packet = packet, .stop = stop};
	const struct kernel_type *type = NULL;
	pthread_mutex_lock(&lock);
	for (unsigned i = n_kernels; i-- && !type;)
		if (kernels[i].object == packet->kernel_object)
			type = kernels[i].type;
	pthread_mutex_unlock(&lock);
	if (type) {
		type->run(&call);
		atomic_fetch_add(
			&model.waves,
			((uint64_t)packet->grid[0] * packet->grid[1] * packet->grid[2] + 63) / 64);
	} else if (packet->kernarg) {
		blit(model_at((uint64_t)(uintptr_t)packet->kernarg));
	}
}
