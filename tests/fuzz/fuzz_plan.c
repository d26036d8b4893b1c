/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_decode over any bytes: as they are, and with the right hash put behind them, so that what
 * lies behind the hash is reached. What is accepted must encode, and to a fixed point.
 */
#include "base/str.h"
#include "fuzz.h"
#include "wire/plan.h"

#include <string.h>

static void decode_and_encode(const char *text, size_t size)
{
	struct str first = STR_INIT, second = STR_INIT;
	struct error err = {0};
	struct plan plan, again;

	if (plan_decode(&plan, "input", text, size, &err)) {
		fuzz_assert(err.code < 0 && *err.message);
		return;
	}
	for (uint32_t i = 0; i < plan.n_metrics; i++)
		fuzz_assert(plan.metrics[i].pass <= plan.n_passes);
	fuzz_assert(!plan_encode(&plan, &first, &err));
	fuzz_assert(!plan_decode(&again, "encoded", first.text, first.size, &err));
	fuzz_assert(!plan_encode(&again, &second, &err));
	fuzz_assert(first.size == second.size && !memcmp(first.text, second.text, first.size));
	fuzz_assert(!strcmp(plan.hash, again.hash));
	plan_release(&again);
	plan_release(&plan);
	str_release(&first);
	str_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str sealed = STR_INIT;
	char hash[HASH_TEXT_SIZE];

	decode_and_encode((const char *)data, size);
	str_add_bytes(&sealed, data, size);
	hash_text(data, size, hash);
	str_addf(&sealed, "\"hash\": \"%s\"\n}\n", hash);
	decode_and_encode(sealed.text, sealed.size);
	str_release(&sealed);
	return 0;
}
