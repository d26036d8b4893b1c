/* SPDX-License-Identifier: Apache-2.0 */
/* Dealing passes over ranks and processes. */
#include "launch/distribute.h"

#include "base/hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

int distribute_parse(const char *text, struct distribute *d, struct error *err)
{
	size_t unit = strcspn(text, ":");
	const char *order = text[unit] ? text + unit + 1 : "cyclic";

	d->random = false;
	if (unit == 4 && !strncmp(text, "rank", unit))
		d->unit = DISTRIBUTE_RANK;
	else if (unit == 7 && !strncmp(text, "process", unit))
		d->unit = DISTRIBUTE_PROCESS;
	else if (unit == 8 && !strncmp(text, "dispatch", unit))
		d->unit = DISTRIBUTE_DISPATCH;
	else
		return error_set(err, RC_INVALID,
				 "--distribute: '%.40s' is not rank, process or dispatch", text);
	if (!strcmp(order, "random"))
		d->random = true;
	else if (strcmp(order, "cyclic"))
		return error_set(err, RC_INVALID, "--distribute: '%.40s' is not cyclic or random",
				 order);
	return 0;
}

/* Evenly spread over all values whatever the inputs are; fixed for ever, since the same seed is to
 * give the same passes in every version. */
static uint64_t distribute_hash(uint64_t seed, uint64_t number)
{
	unsigned char bytes[16];

	for (int i = 0; i < 8; i++) {
		bytes[i] = (unsigned char)(seed >> (8 * i));
		bytes[8 + i] = (unsigned char)(number >> (8 * i));
	}
	return hash64(bytes, sizeof(bytes));
}

static uint64_t distribute_draw(void)
{
	uint64_t value = 0;
	struct timespec now;

	if (getrandom(&value, sizeof(value), GRND_NONBLOCK) == (ssize_t)sizeof(value))
		return value;
	/* Early at boot, or an old kernel: not a secret, so this is enough. */
	clock_gettime(CLOCK_REALTIME, &now);
	return distribute_hash((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
			       (uint64_t)getpid());
}

/* A number below n from an evenly spread one, without the bias of a remainder. */
static uint32_t distribute_below(uint64_t spread, uint32_t n)
{
	return (uint32_t)(((spread >> 32) * n) >> 32);
}

int distribute_pass(const struct distribute *d, int32_t rank, const char *job, uint32_t n_passes,
		    uint32_t *pass_out, struct error *err)
{
	uint64_t number = rank < 0 ? 0 : (uint64_t)rank, seed;

	if (!n_passes)
		return error_set(err, RC_INVALID, "--distribute: the plan has no passes");
	if (d->unit == DISTRIBUTE_RANK && rank < 0)
		return error_set(err, RC_INVALID,
				 "--distribute rank: no variable of a launcher tells the rank of "
				 "this process; use --distribute process, or set RETALLY_RANK");
	if (d->random) {
		seed = d->has_seed ? d->seed : distribute_draw();
		*pass_out = 1 + distribute_below(distribute_hash(seed, number), n_passes);
		return 0;
	}
	if (d->has_seed)
		seed = d->seed;
	else if (rank < 0)
		seed = distribute_draw();
	else
		seed = hash64(job, strlen(job));
	number += distribute_below(distribute_hash(seed, UINT64_MAX), n_passes);
	*pass_out = 1 + (uint32_t)(number % n_passes);
	return 0;
}

void distribute_dispatches(const struct distribute *d, int32_t rank, const char *job,
			   uint32_t n_passes, uint64_t *seed_out, uint64_t *offset_out)
{
	struct distribute process = *d;
	uint32_t pass = 1;

	*offset_out = *seed_out = 0;
	if (d->random) {
		*seed_out = distribute_hash(d->has_seed ? d->seed : distribute_draw(),
					    rank < 0 ? 0 : (uint64_t)rank);
		return;
	}
	process.unit = DISTRIBUTE_PROCESS;
	distribute_pass(&process, rank, job, n_passes, &pass, NULL);
	*offset_out = pass - 1;
}
