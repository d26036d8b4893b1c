/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The four entry points of the OpenCL layer, each by itself, as a loader finds them: with dlopen
 * and dlsym, above a table of functions that is made here. test_opencl_layer LIBRETALLY [LAYER]:
 * the first attaches nothing without settings in the environment, and stays as it is; the second
 * has a small engine of its own (tests/programs/opencl_test_engine.c). Every test opens a copy of
 * the second, so that it meets a layer that nobody initialised.
 */
#include "../test.h"
#include "runtime/opencl/opencl_abi.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <unistd.h>

static const char *plain, *attached; /* files; attached may be NULL */

struct layer {
	void *handle;
	int32_t (*info)(uint32_t what, size_t size, void *value, size_t *size_out);
	int32_t (*init)(uint32_t n, const struct opencl_dispatch *target, uint32_t *n_out,
			const struct opencl_dispatch **ours_out);
	int32_t (*init_with)(uint32_t n, const struct opencl_dispatch *target, uint32_t *n_out,
			     const struct opencl_dispatch **ours_out, const uint64_t *properties);
	int32_t (*deinit)(void);
};

static void look_up(void *handle, const char *name, void *function_out)
{
	void *found = dlsym(handle, name);

	if (!found)
		print_message("# no %s\n", name);
	assert_non_null(found);
	*(void **)function_out = found;
}

static struct layer open_copy(const char *path)
{
	char copy[] = "/tmp/retally-layer.XXXXXX";
	int in = open(path, O_RDONLY | O_CLOEXEC), out = mkstemp(copy);
	struct layer l = {0};
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	do
		n = sendfile(out, in, NULL, 1 << 20);
	while (n > 0);
	assert_int_equal(n, 0);
	close(in);
	close(out);
	l.handle = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
	if (!l.handle)
		print_message("# %s\n", dlerror());
	unlink(copy);
	assert_non_null(l.handle);
	look_up(l.handle, "clGetLayerInfo", (void *)&l.info);
	look_up(l.handle, "clInitLayer", (void *)&l.init);
	look_up(l.handle, "clInitLayerWithProperties", (void *)&l.init_with);
	look_up(l.handle, "clDeinitLayer", (void *)&l.deinit);
	return l;
}

/* One copy for all tests: its thread-local variables take the little room that programs have for
 * those of libraries that are opened later. */
static struct layer open_plain(void)
{
	static struct layer l;

	if (!l.handle)
		l = open_copy(plain);
	return l;
}

/* ---- what is below the layer ---- */

static struct {
	unsigned creates, asks, retains;
} calls;
static int a_context;

static struct vendor_context *create_context(const intptr_t *properties, uint32_t n,
					     struct vendor_device *const *devices,
					     opencl_context_notify *notify, void *data,
					     int32_t *status)
{
	(void)properties, (void)n, (void)devices, (void)notify, (void)data;
	calls.creates++;
	if (status)
		*status = OPENCL_SUCCESS;
	return (struct vendor_context *)(void *)&a_context;
}

static int32_t retain_context(struct vendor_context *c)
{
	calls.retains++;
	return c == (void *)&a_context ? OPENCL_SUCCESS : OPENCL_INVALID_VALUE;
}

static int32_t get_context_info(struct vendor_context *c, uint32_t what, size_t size, void *value,
				size_t *size_out)
{
	(void)c, (void)what, (void)size, (void)value, (void)size_out;
	calls.asks++;
	return OPENCL_INVALID_VALUE;
}

static struct opencl_dispatch target_of(void)
{
	memset(&calls, 0, sizeof(calls));
	return (struct opencl_dispatch){.clCreateContext = create_context,
					.clRetainContext = retain_context,
					.clGetContextInfo = get_context_info};
}

static bool is_empty(const struct opencl_dispatch *t)
{
	static const struct opencl_dispatch none;

	return !memcmp(t, &none, sizeof(none));
}

/* One context is made through the layer's function. */
static void make_context(const struct opencl_dispatch *ours)
{
	int32_t status = -1;

	assert_non_null(ours->clCreateContext);
	assert_ptr_equal(ours->clCreateContext(NULL, 0, NULL, NULL, NULL, &status), &a_context);
	assert_int_equal(status, OPENCL_SUCCESS);
}

/* ---- clGetLayerInfo ---- */

static void check_info(struct layer l)
{
	uint32_t version = 0;
	size_t size = 0;
	char name[64] = "", small[3] = "ab";

	assert_int_equal(l.info(OPENCL_LAYER_API_VERSION, 0, NULL, &size), OPENCL_SUCCESS);
	assert_int_equal(size, sizeof(version));
	assert_int_equal(l.info(OPENCL_LAYER_API_VERSION, sizeof(version), &version, NULL),
			 OPENCL_SUCCESS);
	assert_int_equal(version, OPENCL_LAYER_API_VERSION_100);
	assert_int_equal(l.info(OPENCL_LAYER_NAME, sizeof(name), name, &size), OPENCL_SUCCESS);
	assert_string_equal(name, "retally");
	assert_int_equal(size, sizeof("retally"));
	/* Too small, and nothing it knows: nothing is written. */
	size = 99;
	assert_int_equal(l.info(OPENCL_LAYER_NAME, sizeof(small), small, &size),
			 OPENCL_INVALID_VALUE);
	assert_string_equal(small, "ab");
	assert_int_equal(l.info(OPENCL_LAYER_API_VERSION - 1, sizeof(name), name, &size),
			 OPENCL_INVALID_VALUE);
	assert_string_equal(name, "retally");
	assert_int_equal(size, 99);
}

static void test_info(void **state)
{
	(void)state;
	check_info(open_plain());
	if (attached)
		check_info(open_copy(attached));
}

/* ---- clInitLayer, clInitLayerWithProperties ---- */

static void test_init_without_engine(void **state)
{
	struct layer l = open_plain();
	struct opencl_dispatch target = target_of();
	const struct opencl_dispatch *ours = NULL;
	uint32_t n = 0;

	(void)state;
	assert_int_equal(l.init(OPENCL_N_ENTRIES, NULL, &n, &ours), OPENCL_INVALID_VALUE);
	assert_int_equal(l.init(OPENCL_N_ENTRIES, &target, NULL, &ours), OPENCL_INVALID_VALUE);
	assert_int_equal(l.init(OPENCL_N_ENTRIES, &target, &n, NULL), OPENCL_INVALID_VALUE);
	assert_null(ours);
	assert_int_equal(l.init(OPENCL_N_ENTRIES, &target, &n, &ours), OPENCL_SUCCESS);
	assert_int_equal(n, OPENCL_N_ENTRIES);
	assert_non_null(ours);
	assert_true(is_empty(ours));
	assert_int_equal(calls.creates + calls.asks + calls.retains, 0);
}

static void test_init_with_without_engine(void **state)
{
	struct layer l = open_plain();
	struct opencl_dispatch target = target_of();
	const struct opencl_dispatch *ours = NULL;
	const uint64_t nothing[] = {0};
	uint32_t n = 0;

	(void)state;
	assert_int_equal(l.init_with(OPENCL_N_ENTRIES, NULL, &n, &ours, nothing),
			 OPENCL_INVALID_VALUE);
	assert_int_equal(l.init_with(OPENCL_N_ENTRIES, &target, &n, &ours, nothing),
			 OPENCL_SUCCESS);
	assert_int_equal(n, OPENCL_N_ENTRIES);
	assert_true(is_empty(ours));
}

/* The first that initialises has the calls, the second none; what the table below does not have
 * has no hook, nor has what lies behind its end. */
static void check_init(bool with_properties, uint32_t n_target)
{
	struct layer l = open_copy(attached);
	struct opencl_dispatch target = target_of();
	const struct opencl_dispatch *ours = NULL, *again = NULL;
	const uint64_t nothing[] = {0};
	uint32_t n = 0;
	int32_t rc = with_properties ? l.init_with(n_target, &target, &n, &ours, nothing)
				     : l.init(n_target, &target, &n, &ours);

	assert_int_equal(rc, OPENCL_SUCCESS);
	assert_int_equal(n, OPENCL_N_ENTRIES);
	assert_true(ours->clCreateContext && ours->clCreateContext != create_context);
	assert_null(ours->clFinish);
	assert_null(ours->clEnqueueNDRangeKernel);
	if (n_target == OPENCL_N_ENTRIES) {
		assert_non_null(ours->clRetainContext);
		make_context(ours);
		assert_int_equal(calls.creates, 1);
		assert_true(calls.asks > 0); /* the layer looks at the context */
	} else {
		assert_null(ours->clRetainContext);
	}
	rc = with_properties ? l.init(OPENCL_N_ENTRIES, &target, &n, &again)
			     : l.init_with(OPENCL_N_ENTRIES, &target, &n, &again, NULL);
	assert_int_equal(rc, OPENCL_SUCCESS);
	assert_true(is_empty(again));
	assert_int_equal(l.deinit(), OPENCL_SUCCESS);
}

static void test_init(void **state)
{
	(void)state;
	if (!attached)
		skip_because("no layer with an engine was built: there is no OpenCL here");
	check_init(false, OPENCL_N_ENTRIES);
	check_init(false, offsetof(struct opencl_dispatch, clRetainContext) / sizeof(void *));
}

static void test_init_with(void **state)
{
	(void)state;
	if (!attached)
		skip_because("no layer with an engine was built: there is no OpenCL here");
	check_init(true, OPENCL_N_ENTRIES);
	check_init(true, offsetof(struct opencl_dispatch, clRetainContext) / sizeof(void *));
}

/* ---- clDeinitLayer ---- */

static void test_deinit_alone(void **state)
{
	struct layer l = open_plain();

	(void)state;
	assert_int_equal(l.deinit(), OPENCL_SUCCESS);
	assert_int_equal(l.deinit(), OPENCL_SUCCESS);
}

/* The loader may still call the layer's functions: they go straight through. */
static void test_deinit(void **state)
{
	struct opencl_dispatch target = target_of();
	const struct opencl_dispatch *ours = NULL;
	struct layer l;
	uint32_t n = 0;

	(void)state;
	if (!attached)
		skip_because("no layer with an engine was built: there is no OpenCL here");
	l = open_copy(attached);
	assert_int_equal(l.init(OPENCL_N_ENTRIES, &target, &n, &ours), OPENCL_SUCCESS);
	assert_int_equal(l.deinit(), OPENCL_SUCCESS);
	make_context(ours);
	assert_int_equal(calls.creates, 1);
	assert_int_equal(calls.asks, 0);
	assert_int_equal(ours->clRetainContext((struct vendor_context *)(void *)&a_context),
			 OPENCL_SUCCESS);
	assert_int_equal(ours->clRetainContext(NULL), OPENCL_INVALID_VALUE);
	assert_int_equal(calls.retains, 2);
	assert_int_equal(l.deinit(), OPENCL_SUCCESS);
	/* Whoever initialises it again gets nothing, and the program goes on without it. */
	assert_int_equal(l.init(OPENCL_N_ENTRIES, &target, &n, &ours), OPENCL_SUCCESS);
	assert_true(is_empty(ours));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_init_without_engine),
		cmocka_unit_test(test_init_with_without_engine),
		cmocka_unit_test(test_init),
		cmocka_unit_test(test_init_with),
		cmocka_unit_test(test_deinit_alone),
		cmocka_unit_test(test_deinit),
	};

	if (argc < 2)
		return 2;
	plain = argv[1];
	attached = argc > 2 ? argv[2] : NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
