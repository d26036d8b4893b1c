/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of interrupted ranks of a node, all at the same moment: hydra kills with SIGKILL what is
 * left once it sees the first process of a job dead of a signal, and joins that to the job's
 * status.
 */
#define LOG_DOMAIN "manager"
#include "base/log.h"
#include "launch/manager_internal.h"

#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

/* For all ranks to have ended their programs; who is late ends alone. */
#define LEAVE_WAIT_NS (1000ull * 1000 * 1000)
#define LEAVE_TICK_MS 10

struct leave { /* little-endian, in the round */
	uint32_t pid, signal;
	uint64_t space; /* where the process id holds */
};

static uint64_t leave_space(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : (uint64_t)st.st_ino;
}

/* By the first rank of the node: what lies between the first and the last is a few microseconds. */
static void leave_end_all(const struct manager *m, const struct star_news *news, uint64_t space)
{
	const char *here = star_host(m->star, m->choice.rank);
	const unsigned char *part;
	struct leave l;
	size_t at = 0, n;

	for (int i = 0; star_part(news, &at, &part, &n); i++) {
		if (n != sizeof(l) || strcmp(star_host(m->star, i), here))
			continue;
		memcpy(&l, part, sizeof(l));
		if (le64toh(l.space) == space && le32toh(l.pid) > 1 && le32toh(l.signal) < 32)
			kill((pid_t)le32toh(l.pid), (int)le32toh(l.signal));
	}
}

bool manager_leave(struct manager *m, pid_t process, int signal)
{
	uint64_t until = manager_now() + LEAVE_WAIT_NS, space = leave_space();
	const struct leave mine = {htole32((uint32_t)process), htole32((uint32_t)signal),
				   htole64(space)};
	struct star_news news;

	if (!m->star || !space ||
	    star_send(m->star, MANAGER_ROUND_LEAVE, &mine, sizeof(mine), NULL))
		return false;
	while (manager_now() < until) {
		struct pollfd p = {.fd = star_fd(m->star), .events = POLLIN};

		manager_pump(m);
		if (manager_rounds_take(&m->rounds, MANAGER_ROUND_LEAVE, &news)) {
			if (m->leader)
				leave_end_all(m, &news, space);
			return true;
		}
		poll(&p, 1, LEAVE_TICK_MS);
	}
	log_debug("not all ranks ended within a second");
	return false;
}
