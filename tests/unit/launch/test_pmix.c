/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a job, which variables go, and messages that come in pieces or are nonsense. */
#include "../test.h"
#include "launch/pmix_environment.h"
#include "launch/pmix_job.h"
#include "launch/pmix_service.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void test_places(void **state)
{
	const char *hosts[] = {"b", "a", "b", "c", "a", "b"};
	struct pmix_job job;
	struct error err = {0};

	(void)state;
	assert_int_equal(pmix_job_init(&job, hosts, 6, 4, &err), 0);
	assert_string_equal(job.node_list, "b,a,c");
	assert_string_equal(job.rank_list, "0,2,5;1,4;3");
	assert_string_equal(job.peers, "1,4");
	assert_int_equal(job.n_local, 2);
	assert_int_equal(job.local_rank[5], 2);
	assert_int_equal(job.local_rank[4], 1);
	pmix_job_release(&job);
	assert_int_equal(pmix_job_init(&job, hosts, 6, 6, &err), RC_INVALID);
	assert_string_equal(err.message, "there is no rank 6 of 6");
}

static void test_variables(void **state)
{
	const char list[] = "A=1\0B=2\0\0A=3\0\0C=4\0";
	size_t at = 0;

	(void)state;
	assert_string_equal(pmix_service_variable(list, sizeof(list), 0, &at), "A=1");
	assert_string_equal(pmix_service_variable(list, sizeof(list), 0, &at), "B=2");
	assert_null(pmix_service_variable(list, sizeof(list), 0, &at));
	at = 0;
	assert_string_equal(pmix_service_variable(list, sizeof(list), 2, &at), "C=4");
	assert_null(pmix_service_variable(list, sizeof(list), 2, &at));
	at = 0;
	assert_null(pmix_service_variable(list, sizeof(list), 3, &at));
	assert_true(pmix_environment_is_launchers("PMIX_RANK=3"));
	assert_true(pmix_environment_is_launchers("OMPI_MCA_ess_base_vpid=0"));
	assert_false(pmix_environment_is_launchers("OMPI_MCA_btl=vader"));
	assert_false(pmix_environment_is_launchers("PATH=/bin"));
}

static void test_pieces(void **state)
{
	struct pmix_message m = {.type = PMIX_MESSAGE_BEGUN, .size = 5, .a = 3}, got;
	char bytes[sizeof(m) + 5];
	struct pmix_link l = {0};
	const char *payload;
	int ends[2];

	(void)state;
	memcpy(bytes, &m, sizeof(m));
	memcpy(bytes + sizeof(m), "word", 5);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	l.fd = ends[0];
	for (size_t i = 0; i < sizeof(bytes); i++) {
		assert_int_equal(pmix_link_receive(&l, &got, &payload), 0);
		assert_int_equal(write(ends[1], bytes + i, 1), 1);
	}
	assert_int_equal(pmix_link_receive(&l, &got, &payload), 1);
	assert_int_equal(got.a, 3);
	assert_string_equal(payload, "word");
	m.size = UINT32_MAX;
	assert_int_equal(write(ends[1], &m, sizeof(m)), sizeof(m));
	assert_int_equal(pmix_link_receive(&l, &got, &payload), -1);
	close(ends[1]);
	pmix_link_close(&l);
	assert_int_equal(pmix_link_receive(&l, &got, &payload), -1);
}

static void test_run_path(void **state)
{
	char text[256] = "x";

	(void)state;
	pmix_api_run_path("/etc/passwd", text, sizeof(text));
	assert_string_equal(text, "");
	pmix_api_run_path("/no/such/file", text, sizeof(text));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_run_path),
	};

	return cmocka_run_group_tests_name("pmix", tests, NULL, NULL);
}
