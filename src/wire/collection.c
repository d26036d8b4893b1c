/* SPDX-License-Identifier: Apache-2.0 */
/* Collection and launch ids. */
#include "wire/collection.h"

#include "base/error.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

int collection_id(const char *plan_hash, const char *const *argv, const char *filters,
		  char id_out[HASH_TEXT_SIZE])
{
	struct str s = STR_INIT;
	int rc = 0;

	str_add_bytes(&s, plan_hash, strlen(plan_hash) + 1);
	str_add_bytes(&s, filters, strlen(filters) + 1);
	for (; *argv; argv++)
		str_add_bytes(&s, *argv, strlen(*argv) + 1);
	if (str_is_failed(&s))
		rc = RC_NO_MEMORY;
	else
		hash_text(s.text, s.size, id_out);
	str_release(&s);
	return rc;
}

void launch_id(char id_out[HASH_TEXT_SIZE])
{
	struct timespec now;
	uint32_t random_bits = 0;

	clock_gettime(CLOCK_REALTIME, &now);
	if (getrandom(&random_bits, sizeof(random_bits), GRND_NONBLOCK) != sizeof(random_bits))
		random_bits = (uint32_t)now.tv_nsec;
	snprintf(id_out, HASH_TEXT_SIZE, "%08llx%08lx%08x", (unsigned long long)now.tv_sec,
		 (unsigned long)now.tv_nsec, random_bits ^ (uint32_t)getpid() << 12);
}
