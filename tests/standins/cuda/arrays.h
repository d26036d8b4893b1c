/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of the stand-in driver: memory without an address, whose elements lie on the device in
 * another order than they are copied; surfaces and textures on them; and their copies.
 */
#ifndef RETALLY_STANDIN_ARRAYS_H
#define RETALLY_STANDIN_ARRAYS_H

#include "functions.h"
#include "gpu.h"

/* What a kernel finds under the number of a surface or texture: element i of the array, counted
 * along rows, then slices, each of `size` bytes. NULL: there is none, or the elements have another
 * size. */
void *gpu_surface_element(uint64_t surface, size_t i, size_t size);
const void *gpu_texture_element(uint64_t texture, size_t i, size_t size);
void *gpu_reference_element(const struct CUmod_st *module, size_t i, size_t size);

/* Carries out a copy that was checked when it was called. False: an array or memory is gone. */
bool gpu_box_copy(const struct cu_copy_3d *box);

#endif
