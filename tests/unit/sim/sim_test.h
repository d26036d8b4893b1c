/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the simulated device share. */
#ifndef RETALLY_TESTS_UNIT_SIM_SIM_TEST_H
#define RETALLY_TESTS_UNIT_SIM_SIM_TEST_H

#include "simdev/retally_sim.h"
#include "simdev/retally_sim_tool.h"
#include "tests/unit/test.h"

/* Everything has to be SIM_OK; says which call and why not. */
#define works(call)                                                                    \
	do {                                                                           \
		int result_ = (call);                                                  \
		if (result_)                                                           \
			print_message("%s: %s: %s\n", #call, sim_result_name(result_), \
				      sim_error_text());                               \
		assert_int_equal(result_, SIM_OK);                                     \
	} while (0)

/* The functions for tools, through the door that every tool uses. */
const struct sim_tools *sim_test_tools(void);
/* A launch with n items in groups of 64 and up to 8 arguments. */
int sim_test_launch(struct sim_queue *q, const char *kernel, uint32_t n, uint32_t n_arguments,
		    const uint64_t *arguments);
#define enqueue(q, kernel, n, ...)                                                        \
	sim_test_launch(q, kernel, n,                                                     \
			(uint32_t)(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), \
			(const uint64_t[]){__VA_ARGS__})
/* A device that is as built but for what the test changes. */
struct sim_device *sim_test_open(const struct sim_config *changed);
/* Bytes from the device, after everything in the queue. */
void sim_test_read(struct sim_queue *q, uint64_t from, void *to, uint64_t bytes);

#endif
