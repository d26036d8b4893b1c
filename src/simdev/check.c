/* SPDX-License-Identifier: Apache-2.0 */
/* What tools took and did not give back: counted over all devices, said when the process ends. */
#include "simdev/device.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic uint64_t allocations, bytes;

void sim_check_taken(uint64_t n)
{
	atomic_fetch_add(&allocations, 1);
	atomic_fetch_add(&bytes, n);
}

void sim_check_given(uint64_t n)
{
	atomic_fetch_sub(&allocations, 1);
	atomic_fetch_sub(&bytes, n);
}

void sim_check_left(struct sim_left *left_out)
{
	*left_out = (struct sim_left){
		.devices = atomic_load(&sim_open_devices),
		.allocations = atomic_load(&allocations),
		.bytes = atomic_load(&bytes),
		.counters = atomic_load(&sim_held_counters),
	};
}

__attribute__((destructor)) static void check_at_exit(void)
{
	const char *file = getenv("RETALLY_SIM_CHECK");
	struct sim_left left;
	char text[200];
	int fd, n;

	if (!file || !*file)
		return;
	sim_check_left(&left);
	if (left.allocations || left.counters)
		n = snprintf(text, sizeof(text),
			     "tools left %llu allocations with %llu bytes, and the counters of "
			     "%llu devices\n",
			     (unsigned long long)left.allocations, (unsigned long long)left.bytes,
			     (unsigned long long)left.counters);
	else
		n = snprintf(text, sizeof(text), "tools left nothing\n");
	fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	if (write(fd, text, (size_t)n) != n)
		fprintf(stderr, "retallysim: %s could not be written\n", file);
	close(fd);
}
