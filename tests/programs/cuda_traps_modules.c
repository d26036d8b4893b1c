/* SPDX-License-Identifier: Apache-2.0 */
/* Traps with modules of their own: see cuda_traps.h. */
#include "cuda_traps.h"

static struct CUmod_st *load(const char *image)
{
	struct CUmod_st *m;

	works(cuModuleLoadData(&m, image));
	return m;
}

static void launch_of(struct CUmod_st *m, const char *name, void **arguments)
{
	struct CUfunc_st *f;

	works(cuModuleGetFunction(&f, m, name));
	works(cuLaunchKernel(f, 20, 1, 1, 256, 1, 1, 0, q, arguments, NULL));
}

/* Kernels without parameters, launched with a list and with none. */
void alone(void)
{
	struct CUmod_st *m = load("standin-module\nkernel tally\nglobal total 4\n");
	void *nothing[1] = {NULL};
	cu_ptr total;

	for (int i = 0; i < 4; i++)
		launch_of(m, "tally", i % 2 ? nothing : NULL);
	works(cuStreamSynchronize(q));
	works(cuModuleGetGlobal_v2(&total, NULL, m, "total"));
	show("alone total", hash(total, 4));
}

/* Between two kernels of one module one of another, which writes what they use. */
void between(void)
{
	struct CUmod_st *m = load("standin-module\nkernel update\nglobal elsewhere 64\n");

	works(cuMemsetD8Async(b, 0, BYTES, q));
	works(cuCtxSynchronize());
	for (int i = 0; i < 2; i++) {
		launch(q, "histogram", &a, &b, &n);
		launch_of(m, "update", (void *[]){&b, &n});
		launch(q, "histogram", &a, &b, &n);
		works(cuStreamSynchronize(q));
	}
}

/* Variables that are seen only once another module with such names is loaded. */
void late(void)
{
	struct CUmod_st *m = load("standin-module\nkernel globals\n"
				  "hidden late_total 4\nhidden late_table 1024\n");
	cu_ptr table;

	for (int i = 0; i < 5; i++) {
		launch_of(m, "globals", (void *[]){&a, &n});
		if (i == 1)
			load("standin-module\nkernel update\nglobal late_total 4\n"
			     "global late_table 1024\n");
		if (i > 2)
			works(cuStreamSynchronize(q));
	}
	works(cuModuleGetGlobal_v2(&table, NULL, m, "late_table"));
	show("late table", hash(table, 1024));
}
