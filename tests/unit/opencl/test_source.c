/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the layer reads out of a program's source: printf, and variables that keep their value from
 * one launch to the next.
 */
#include "../test.h"
#include "runtime/opencl/opencl_internal.h"

static const char *const keeps[] = {
	"global int c = 5; kernel void k(global int *a) { a[0] = c++; }",
	"int c;",
	"__global int *p;",
	"constant int *global p;",
	"const float *p;",
	"int table[4];",
	"int t[(4)];",
	"int a = (1 + 2);",
	"int a = {1};",
	"struct s { int x; } s;",
	"struct s { int x; };\nstruct s s;",
	"int (*f)(int);",
	"int x __attribute__((aligned(8)));",
	"kernel void k(global int *a) { static global int c; a[0] = c++; }",
	"kernel void k(global int *a) { }\nint after;",
	"#define STATE int c = 5\nSTATE;",
	"#define STATE int c = 5;\nSTATE kernel void k(global int *a) { a[0] = c++; }",
	"#define COUNTER(x) \\\n int x;\nCOUNTER(c)\nkernel void k(global int *a) { a[0] = c; }",
	"#define A int c;\n#define B A\nB kernel void k(global int *a) { a[0] = c++; }",
	"DECLARE(c);",
	"extern \"C\" { int c; }",
	"#include \"other.h\"\nkernel void k(global int *a) { a[0] = 1; }",
	"# include <other.h>",
	"kernel void k(global int *a) { if (a[0]) { a[0] = 1; }",
	"extern int c;",
	"/* int */ int // c\n c;",
};
static const char *const keeps_nothing[] = {
	"",
	"kernel void k(global int *a) { int x = 3; local int l[4]; a[0] = x; }",
	"constant int c = 5;\n__constant float f[] = {1, 2};\nconst int n = 3;",
	"const sampler_t s = CLK_FILTER_NEAREST;\nsampler_t t = 3;",
	"typedef struct { int x; } s; typedef int (*f)(int); typedef int v[4];",
	"struct s { int x, y[3]; };\nstruct t;\nunion u { int x; };\nenum e { A, B = 2 };\nstruct "
	"s f(int);",
	"static inline int f(int x) { return x; }\nint g(int, float);\nvoid h(void);",
	"int f(global int *a) { for (int i = 0; i < 3; i++) { a[i] = i; } return a[0]; }",
	"// int c;\n/* int d; */\nkernel void k(global int *a) { a[0] = '\"'; }",
	"kernel __attribute__((reqd_work_group_size(8, 8, 1))) void k(global int *a) { a[0] = 1; }",
	"#define KERNEL(T) kernel void f_##T(global T *a) { a[0] = 1; }\nKERNEL(int) "
	"KERNEL(float)\n",
	"#define STEP(x) x += 1; x *= 2;\nkernel void k(global int *a) { STEP(a[0]) }",
	"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nkernel void k(global int *a) { a[0] = 1; }",
	"#if X\n#define Y 3\n#else\n#define Y 4\n#endif\nkernel void k(global int *a) { a[0] = Y; "
	"}",
	";;",
};

static void variables(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(keeps) / sizeof(*keeps); i++)
		if (!source_may_keep(keeps[i]))
			fail_msg("a variable is not seen in: %s", keeps[i]);
	for (size_t i = 0; i < sizeof(keeps_nothing) / sizeof(*keeps_nothing); i++)
		if (source_may_keep(keeps_nothing[i]))
			fail_msg("there is no variable in: %s", keeps_nothing[i]);
}

static void versions(void **state)
{
	(void)state;
	assert_false(options_may_keep(NULL));
	assert_false(options_may_keep("-w -DX=2"));
	assert_false(options_may_keep("-w -cl-std=CL1.2 -DX=2"));
	assert_true(options_may_keep("-cl-std=CL2.0"));
	assert_true(options_may_keep("-w -cl-std=CL3.0 -DX=2"));
	assert_true(options_may_keep("-cl-std=CLC++"));
}

static void prints(void **state)
{
	(void)state;
	assert_true(source_may_print("kernel void k(void) { printf(\"x\"); }"));
	assert_true(source_may_print("#define P printf\n"));
	assert_true(source_may_print("#include \"x.h\"\n"));
	assert_true(source_may_print("#\tinclude \"x.h\"\n"));
	assert_false(source_may_print("// printf\n/* printf */ kernel void my_printf(void) { }"));
	assert_false(source_may_print("kernel void k(global int *include) { include[0] = 1; }"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(variables), cmocka_unit_test(versions),
					   cmocka_unit_test(prints)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
