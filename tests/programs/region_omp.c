/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region_omp [threadprivate|inside]: OpenMP kernels that work in place between marks, in the manner
 * of linear algebra benchmarks; the printed sums are right only when each ran once. `work` is
 * called once per row, 64 times in "relax", by all threads together.
 */
#include "retally.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 64

static double a[N][N], b[N][N], c[N][N];

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone))
#endif
ALONE void work(double *x);
ALONE void work(double *x)
{
	*x += 1;
	__asm__ volatile("" ::: "memory");
}

static void start(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = (i * 7 + j) % 13;
			b[i][j] = (i + j * 5) % 11;
			c[i][j] = 1;
		}
}

static void relax(void)
{
	RETALLY_BEGIN("relax");
#pragma omp parallel for schedule(static)
	for (int i = 0; i < N; i++) {
		work(&a[i][0]);
		for (int j = 1; j < N; j++)
			a[i][j] = (a[i][j - 1] + a[i][j]) / 2;
	}
	RETALLY_END("relax");
}

static void multiply(void)
{
	RETALLY_BEGIN("multiply");
#pragma omp parallel for collapse(2)
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				c[i][j] += a[i][k] * b[k][j];
	RETALLY_END("multiply");
}

static double sum(void)
{
	double s = 0;

	RETALLY_BEGIN("sum");
#pragma omp parallel for reduction(+ : s)
	for (int i = 0; i < N; i++) {
		double row = 0;

		for (int j = 0; j < N; j++)
			row += c[i][j];
#pragma omp critical
		s += row > 0 ? 1 : 0;
	}
#pragma omp parallel
	{
#pragma omp single
		for (int i = 0; i < 8; i++)
#pragma omp task
			work(&b[i][0]);
	}
	RETALLY_END("sum");
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			s += c[i][j] + b[i][j];
	return s;
}

#ifdef WITH_THREADPRIVATE
static int of_thread;
#pragma omp threadprivate(of_thread)

/* State that each OpenMP thread keeps between parallel regions. */
static void keep(void)
{
	int total = 0;

	for (int round = 0; round < 3; round++) {
		RETALLY_BEGIN("keep");
#pragma omp parallel
		of_thread += omp_get_thread_num() + 1;
		RETALLY_END("keep");
	}
#pragma omp parallel reduction(+ : total)
	total += of_thread;
	printf("kept %d\n", total);
}
#endif

static void inside(void)
{
	int total = 0;

#pragma omp parallel reduction(+ : total)
	{
		double x = 0;

		RETALLY_BEGIN("inside");
		work(&x);
		RETALLY_END("inside");
		total += (int)x;
	}
	printf("inside %d of %d\n", total, omp_get_max_threads());
}

int main(int argc, char **argv)
{
	start();
	for (int i = 0; i < 3; i++) {
		relax();
		multiply();
	}
	printf("sum %.6f\n", sum());
#ifdef WITH_THREADPRIVATE
	keep();
#endif
	if (argc == 2 && !strcmp(argv[1], "inside"))
		inside();
	return 0;
}
