/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of arrays, which have no address: kernels write them through surfaces and read them through
 * textures. Each shows a hash of what the arrays hold in the end. */
#include "cuda_traps.h"

#include <string.h>

/* No row ends where a chunk of a memory does. */
static const struct cu_array_3d flat = {.width = 300,
					.height = 211,
					.format = CU_FORMAT_U32,
					.channels = 1,
					.flags = CU_ARRAY_SURFACE};
static unsigned flat_n = 300 * 211;

/* All of an array and the host, in either direction. */
static void move(struct CUarray_st *array, void *host, bool to_array)
{
	struct cu_array_3d d;
	struct cu_copy_3d k = {.height = 1, .depth = 1};
	struct cu_copy_side *inside = to_array ? &k.to : &k.from;
	struct cu_copy_side *outside = to_array ? &k.from : &k.to;

	works(standin_array_descriptor(&d, array));
	k.width_bytes = 4 * d.width;
	k.height = d.height ? d.height : 1;
	k.depth = d.depth ? d.depth : 1;
	*inside = (struct cu_copy_side){.memory_type = CU_MEMORY_ARRAY, .array = array};
	*outside = (struct cu_copy_side){
		.memory_type = 1, .host = host, .pitch = k.width_bytes, .height = k.height};
	works(cuMemcpy3D_v2(&k));
}

static unsigned words[1 << 17];

static void fill(struct CUarray_st *array)
{
	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		words[i] = 7 * i + 3;
	move(array, words, true);
}

static uint64_t array_hash(struct CUarray_st *array)
{
	memset(words, 0, sizeof(words));
	move(array, words, false);
	return hash_bytes((unsigned char *)words, sizeof(words));
}

static uint64_t surface_of(struct CUarray_st *array)
{
	struct cu_resource r = {.of.array = array};
	uint64_t surface;

	works(cuSurfObjectCreate(&surface, &r));
	return surface;
}

/* In place, several in a window, one of which reads what the one before wrote. */
void surfaces(void)
{
	struct CUarray_st *x, *y;
	struct cu_resource r;
	uint64_t sx, sy, tx;

	works(cuArray3DCreate_v2(&x, &flat));
	works(cuArray3DCreate_v2(&y, &flat));
	fill(x);
	fill(y);
	sx = surface_of(x);
	sy = surface_of(y);
	r = (struct cu_resource){.of.array = x};
	works(cuTexObjectCreate(&tx, &r, NULL, NULL));
	for (int i = 0; i < 3; i++) {
		launch(q, "surface", &sx, &flat_n);
		launch(q, "texture", &tx, &a, &n);
		launch(q, "surface", &sy, &n);
		launch(q, "update", &a, &n);
		launch(q, "surface", &sx, &n);
		if (i == 1)
			works(cuStreamSynchronize(q));
	}
	works(cuStreamSynchronize(q));
	show("surface x", array_hash(x));
	show("surface y", array_hash(y));
	/* Without surfaces only the texture is left. */
	works(cuSurfObjectDestroy(sx));
	works(cuSurfObjectDestroy(sy));
	launch(q, "texture", &tx, &b, &n);
	works(cuStreamSynchronize(q));
	works(cuTexObjectDestroy(tx));
	works(cuArrayDestroy(x));
	works(cuArrayDestroy(y));
}

/* Slices, layers, and a level that has two handles. */
void parts(void)
{
	static const struct cu_array_3d deep = {.width = 40,
						.height = 31,
						.depth = 29,
						.format = CU_FORMAT_U32,
						.channels = 1,
						.flags = CU_ARRAY_SURFACE},
					layered = {.width = 1000,
						   .depth = 7,
						   .format = CU_FORMAT_U32,
						   .channels = 1,
						   .flags = CU_ARRAY_SURFACE | CU_ARRAY_LAYERED};
	struct CUarray_st *x, *y, *level, *again;
	struct mipmap *levels;
	uint64_t s[4];

	works(cuArray3DCreate_v2(&x, &deep));
	works(cuArray3DCreate_v2(&y, &layered));
	works(cuMipmappedArrayCreate(&levels, &flat, 3));
	works(cuMipmappedArrayGetLevel(&level, levels, 1));
	works(cuMipmappedArrayGetLevel(&again, levels, 1));
	fill(x);
	fill(y);
	fill(level);
	s[0] = surface_of(x);
	s[1] = surface_of(y);
	s[2] = surface_of(level);
	s[3] = surface_of(again);
	for (int i = 0; i < 12; i++)
		launch(q, "surface", &s[i % 4], &n);
	works(cuStreamSynchronize(q));
	show("slices", array_hash(x));
	show("layers", array_hash(y));
	show("level", array_hash(level));
	for (int i = 0; i < 4; i++)
		works(cuSurfObjectDestroy(s[i]));
	works(cuArrayDestroy(x));
	works(cuArrayDestroy(y));
	works(cuMipmappedArrayDestroy(levels));
}

/* The surface is named by a word in memory, which no argument tells of. */
void handles(void)
{
	struct CUarray_st *x;
	uint64_t surface;

	works(cuArray3DCreate_v2(&x, &flat));
	fill(x);
	surface = surface_of(x);
	works(cuMemcpyHtoD_v2(b, &surface, sizeof(surface)));
	for (int i = 0; i < 6; i++) {
		launch(q, "surface_at", &b, &flat_n);
		launch(q, "update", &a, &n);
		if (i == 2)
			works(cuStreamSynchronize(q));
	}
	works(cuStreamSynchronize(q));
	show("by a word", array_hash(x));
	works(cuSurfObjectDestroy(surface));
	works(cuArrayDestroy(x));
	works(cuMemsetD8Async(b, 0, sizeof(surface), q)); /* the number is another one each time */
}

/* A reference of the module's code instead of an object. */
void reference(void)
{
	static const char image[] = "standin-module\nkernel surface_reference\n";
	struct CUmod_st *m, *named;
	struct CUfunc_st *f;
	struct CUarray_st *x;

	works(cuModuleLoadData(&m, image));
	works(cuModuleGetFunction(&f, m, "surface_reference"));
	works(cuArray3DCreate_v2(&x, &flat));
	fill(x);
	works(cuModuleGetSurfRef(&named, m, "out"));
	works(cuSurfRefSetArray(named, x, 0));
	for (int i = 0; i < 4; i++) {
		works(cuLaunchKernel(f, 20, 1, 1, 256, 1, 1, 0, q, (void *[]){&flat_n}, NULL));
		launch(q, "update", &a, &n);
	}
	works(cuStreamSynchronize(q));
	show("by reference", array_hash(x));
	works(cuArrayDestroy(x));
	works(cuModuleUnload(m));
}

/* What a texture reads is copied to its array between launches that are not waited for. */
void textures(void)
{
	struct cu_array_2d one = {
		.width = 2500, .height = 2, .format = CU_FORMAT_U32, .channels = 1};
	struct standin_copy_2d k = {.width_bytes = 10000, .height = 2};
	struct cu_resource r;
	struct CUarray_st *x;
	uint64_t texture;

	works(cuArrayCreate_v2(&x, &one));
	works(cuMemcpyHtoA_v2(x, 4, words, 4000));
	r = (struct cu_resource){.of.array = x};
	works(cuTexObjectCreate(&texture, &r, NULL, NULL));
	k.from = (struct standin_copy_2d_side){.memory_type = 2, .device = a, .pitch = 10000};
	k.to = (struct standin_copy_2d_side){.memory_type = CU_MEMORY_ARRAY, .array = x};
	for (int i = 0; i < 4; i++) {
		launch(q, "update", &a, &n);
		works(cuMemcpy2DAsync_v2(&k, q));
		launch(q, "texture", &texture, &b, &n);
		launch(q, "texture", &texture, &a, &n);
	}
	works(cuStreamSynchronize(q));
	works(cuMemcpyAtoH_v2(words, x, 0, 10000));
	show("copied", hash_bytes((unsigned char *)words, 10000));
	works(cuTexObjectDestroy(texture));
	works(cuArrayDestroy(x));
}

static void launch_beside(struct CUarray_st *array)
{
	uint64_t surface = surface_of(array);

	launch(q, "update", &b, &n);
	launch(q, "add", &a, &b, &c, &n);
	works(cuSurfObjectDestroy(surface));
	launch(q, "update", &c, &n); /* and this is replayed */
}

/* Arrays of which nobody can see what was there. Only by name. */
void unsavable(void)
{
	struct standin_shared_array shared = {.array = flat, .levels = 1};
	struct cu_array_3d sparse = flat, video = flat;
	struct CUarray_st *x;
	struct mipmap *theirs;

	sparse.flags |= CU_ARRAY_SPARSE;
	works(cuArray3DCreate_v2(&x, &sparse));
	launch_beside(x);
	works(cuArrayDestroy(x));
	video.format = 0xb0;
	works(cuArray3DCreate_v2(&x, &video));
	launch_beside(x);
	works(cuArrayDestroy(x));
	works(cuExternalMemoryGetMappedMipmappedArray(&theirs, NULL, &shared));
	works(cuMipmappedArrayGetLevel(&x, theirs, 0));
	launch_beside(x);
	works(cuMipmappedArrayDestroy(theirs));
}
