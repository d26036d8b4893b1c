/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slot search against kernels that are not here: general and fixed counters, a watchdog that
 * holds one, kernels that do not count disabled events when they check a group, PMUs that are
 * absent.
 */
#include "../test.h"
#include "source/perf/perf_host_slots.h"

#include <errno.h>

#define EVENTS_MAX 128

/* A PMU with `general` counters, and one fixed counter for config 1 when has_fixed. */
struct machine {
	size_t general;
	bool has_fixed;
	size_t held;    /* general counters taken by others, noticed only when running */
	int refuse_all; /* errno of every open */
	struct {
		bool open, enabled, fixed_kind, pinned;
		int leader;
	} events[EVENTS_MAX];
	size_t opened, most;
};

/* Whether the enabled events of a group fit into the counters. The kernel's own check leaves out
 * events that are disabled: that is the trap. */
static bool fits(const struct machine *m, int leader, size_t general, bool only_enabled, int extra,
		 bool extra_fixed)
{
	size_t n_fixed = extra && extra_fixed, n = extra && !extra_fixed;

	for (int i = 0; i < EVENTS_MAX; i++) {
		if (!m->events[i].open || m->events[i].leader != leader)
			continue;
		if (only_enabled && !m->events[i].enabled)
			continue;
		if (m->events[i].fixed_kind)
			n_fixed++;
		else
			n++;
	}
	if (m->has_fixed && n_fixed)
		n_fixed--;
	return n + n_fixed <= general;
}

static int fake_open(void *data, struct perf_event_attr *attr, int group_fd)
{
	struct machine *m = data;
	int i = 0;

	if (m->refuse_all)
		return -m->refuse_all;
	while (i < EVENTS_MAX && m->events[i].open)
		i++;
	assert_true(i < EVENTS_MAX);
	if (group_fd >= 0)
		assert_true(m->events[group_fd].open);
	if (!fits(m, group_fd < 0 ? i : group_fd, m->general, true, !attr->disabled,
		  attr->config == 1))
		return -EINVAL;
	m->events[i].open = true;
	m->events[i].enabled = !attr->disabled;
	m->events[i].fixed_kind = attr->config == 1;
	m->events[i].pinned = attr->pinned;
	m->events[i].leader = group_fd < 0 ? i : group_fd;
	if (++m->opened > m->most)
		m->most = m->opened;
	return i;
}

static ssize_t fake_read(void *data, int fd, void *buffer, size_t size)
{
	struct machine *m = data;
	uint64_t *v = buffer;
	int leader = m->events[fd].leader;
	bool runs = fits(m, leader, m->general - m->held, false, 0, false);

	assert_int_equal(size, 24);
	if (!runs && fd == leader && m->events[leader].pinned)
		return 0;
	v[0] = runs ? 12345 : 0;
	v[1] = 1000;
	v[2] = runs ? 1000 : 0;
	return 24;
}

static void fake_close(void *data, int fd)
{
	struct machine *m = data;

	assert_true(m->events[fd].open);
	m->events[fd].open = false;
	m->opened--;
}

static void fake_work(void *data)
{
	(void)data;
}

static uint32_t search(struct machine *m, bool with_fixed, uint32_t *accepted, int *error)
{
	struct perf_kernel k = {m, fake_open, fake_read, fake_close, fake_work};
	struct perf_event_attr event = {.size = sizeof(event), .config = 2};
	struct perf_event_attr fixed = {.size = sizeof(fixed), .config = 1};
	uint32_t n = perf_slots_find(&k, &event, with_fixed ? &fixed : NULL, accepted, error);

	assert_int_equal(m->opened, 0); /* nothing stays open */
	return n;
}

static void test_general(void **state)
{
	(void)state;
	for (size_t general = 1; general <= 16; general++) {
		struct machine m = {.general = general};
		uint32_t accepted;
		int error;

		assert_int_equal(search(&m, false, &accepted, &error), general);
		assert_int_equal(accepted, general);
		assert_int_equal(error, 0);
	}
}

static void test_watchdog(void **state)
{
	struct machine m = {.general = 4, .held = 1};
	uint32_t accepted;
	int error;

	(void)state;
	assert_int_equal(search(&m, false, &accepted, &error), 3);
	assert_int_equal(accepted, 4);
}

static void test_all_held(void **state)
{
	struct machine m = {.general = 2, .held = 2};
	uint32_t accepted;
	int error;

	(void)state;
	assert_int_equal(search(&m, false, &accepted, &error), 0);
	assert_int_equal(accepted, 2);
}

static void test_fixed(void **state)
{
	struct machine m = {.general = 4, .has_fixed = true};
	struct machine none = {.general = 4};
	uint32_t accepted;
	int error;

	(void)state;
	/* Four general ones still fit beside an event that has a counter of its own ... */
	assert_int_equal(search(&m, true, &accepted, &error), 4);
	/* ... and three beside one that has not. */
	assert_int_equal(search(&none, true, &accepted, &error), 3);
}

static void test_absent(void **state)
{
	struct machine m = {.refuse_all = ENOENT};
	uint32_t accepted;
	int error;

	(void)state;
	assert_int_equal(search(&m, false, &accepted, &error), 0);
	assert_int_equal(accepted, 0);
	assert_int_equal(error, ENOENT);
}

/* The trap itself: with a disabled leader this kernel accepts one more than it has. The search
 * never opens one, so what it reports is what runs. */
static void test_disabled_leader(void **state)
{
	struct machine m = {.general = 2};
	struct perf_event_attr leader = {.config = 2, .disabled = 1}, member = {.config = 2};
	struct perf_event_attr three[3] = {leader, member, member};
	struct perf_kernel k = {&m, fake_open, fake_read, fake_close, fake_work};
	size_t at;
	int first, error, fds[2];

	(void)state;
	first = fake_open(&m, &leader, -1);
	for (int i = 0; i < 2; i++) {
		fds[i] = fake_open(&m, &member, first);
		assert_true(fds[i] >= 0); /* three accepted, two exist */
	}
	fake_close(&m, fds[0]);
	fake_close(&m, fds[1]);
	fake_close(&m, first);
	assert_int_equal(perf_group_fit(&k, three, 3, &at, &error), PERF_FIT_REFUSED);
	assert_int_equal(at, 2);
	assert_int_equal(error, EINVAL);
	assert_int_equal(perf_group_fit(&k, three, 2, &at, &error), PERF_FIT_RUNS);
	m.held = 1;
	assert_int_equal(perf_group_fit(&k, three, 2, &at, &error), PERF_FIT_STARVED);
	assert_int_equal(at, 0);
}

/* The real functions, on events that every kernel has and does not limit. */
static void test_real(void **state)
{
	struct perf_config c = {.kind = PERF_KIND_TYPE,
				.type = PERF_TYPE_SOFTWARE,
				.config = PERF_COUNT_SW_TASK_CLOCK,
				.exclude_kernel = true};
	struct perf_event_attr attr;
	uint32_t accepted;
	int error;
	uint32_t n;

	(void)state;
	assert_int_equal(perf_config_attr(&c, &attr, NULL), 0);
	n = perf_slots_find(&perf_kernel_real, &attr, NULL, &accepted, &error);
	if (!n && (error == EACCES || error == EPERM || error == ENOSYS)) {
		print_message("# perf_event_open is not permitted here\n");
		skip();
	}
	assert_int_equal(n, PERF_SLOTS_MAX);
	assert_int_equal(accepted, PERF_SLOTS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_general),  cmocka_unit_test(test_watchdog),
		cmocka_unit_test(test_all_held), cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_absent),   cmocka_unit_test(test_disabled_leader),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests_name("perf_slots", tests, NULL, NULL);
}
