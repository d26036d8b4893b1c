/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of the simulated device. */
#include "tests/unit/sim/sim_test.h"

static const struct sim_tools *tools;

static int keep_tools(const struct sim_tools *t, struct sim_api *api)
{
	(void)api;
	tools = t;
	return 0;
}

const struct sim_tools *sim_test_tools(void)
{
	if (!tools) {
		works(sim_install_tool(keep_tools));
		assert_non_null(tools);
		works(sim_install_tool(NULL));
	}
	return tools;
}

int sim_test_launch(struct sim_queue *q, const char *kernel, uint32_t n, uint32_t n_arguments,
		    const uint64_t *arguments)
{
	struct sim_launch l = {.kernel = kernel,
			       .grid = {(n + 63) / 64, 1, 1},
			       .block = {64, 1, 1},
			       .n_arguments = n_arguments,
			       .arguments = arguments};

	return sim_launch(q, &l);
}

struct sim_device *sim_test_open(const struct sim_config *changed)
{
	struct sim_config config;
	struct sim_device *d = NULL;

	sim_config_default(&config);
	works(sim_open_with(0, changed ? changed : &config, &d));
	return d;
}

void sim_test_read(struct sim_queue *q, uint64_t from, void *to, uint64_t bytes)
{
	works(sim_copy_out(q, to, from, bytes));
	works(sim_queue_wait(q));
}
