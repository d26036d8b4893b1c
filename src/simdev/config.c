/* SPDX-License-Identifier: Apache-2.0 */
/* The device's configuration from the environment, and the sentences of errors. */
#include "simdev/device.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its length is part of what a thread costs; a sentence is cut rather than that. */
static _Thread_local char error_text[256] __attribute__((tls_model("initial-exec")));

const char *sim_error_text(void)
{
	return error_text;
}

int sim_fail(int result, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(error_text, sizeof(error_text), fmt, ap);
	va_end(ap);
	return result;
}

const char *sim_result_name(int result)
{
	static const char *const names[] = {"ok",    "invalid", "no memory", "device lost",
					    "fault", "io",      "not ready", "timeout",
					    "busy",  "no slot", "conflict",  "not permitted"};

	return result <= 0 && -result < (int)(sizeof(names) / sizeof(*names)) ? names[-result]
									      : "unknown";
}

void sim_config_default(struct sim_config *c)
{
	*c = (struct sim_config){
		.size = sizeof(*c),
		.devices = 2,
		.memory = UINT64_C(8) << 30,
		.tool_memory = UINT64_C(8) << 30,
		.seed = 1,
		.fail_copy_times = 1,
		.fail_program_times = 1,
	};
}

struct setting {
	const char *name;
	size_t offset;
	bool narrow; /* uint32_t */
};
#define WIDE(name, member)                                                      \
	{                                                                       \
		"RETALLY_SIM_" name, offsetof(struct sim_config, member), false \
	}
#define NARROW(name, member)                                                   \
	{                                                                      \
		"RETALLY_SIM_" name, offsetof(struct sim_config, member), true \
	}
static const struct setting settings[] = {
	NARROW("DEVICES", devices),
	WIDE("MEMORY", memory),
	WIDE("TOOL_MEMORY", tool_memory),
	WIDE("KERNEL_NS", kernel_ns),
	WIDE("PROGRAM_NS", program_ns),
	WIDE("SEED", seed),
	NARROW("NOISE", noise),
	NARROW("COUNTER_BITS", counter_bits),
	WIDE("COUNTER_START", counter_start),
	WIDE("FAIL_COPY", fail_copy),
	WIDE("FAIL_COPY_TIMES", fail_copy_times),
	WIDE("FAIL_PROGRAM", fail_program),
	WIDE("FAIL_PROGRAM_TIMES", fail_program_times),
	WIDE("FAIL_READ", fail_read),
	WIDE("FAIL_LAUNCH", fail_launch),
	WIDE("HANG_AT", hang_at),
	WIDE("HANG_NS", hang_ns),
	WIDE("LOST_AFTER", lost_after),
	NARROW("BUSY_COUNTERS", busy_counters),
};

/* Decimal or 0x, with an optional K, M or G. */
static bool parse(const char *text, uint64_t *out)
{
	unsigned shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10);
	if (errno)
		return false;
	shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
	if (shift)
		end++;
	if (*end || (shift && *out >> (64 - shift)))
		return false;
	*out <<= shift;
	return true;
}

int sim_config_read(struct sim_config *c)
{
	sim_config_default(c);
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		const struct setting *s = &settings[i];
		const char *text = getenv(s->name);
		void *member = (char *)c + s->offset;
		uint64_t value;

		if (!text || !*text)
			continue;
		if (!parse(text, &value) || (s->narrow && value > UINT32_MAX))
			return sim_fail(SIM_INVALID, "%s: '%.80s' is not a number that fits",
					s->name, text);
		if (s->narrow)
			*(uint32_t *)member = (uint32_t)value;
		else
			*(uint64_t *)member = value;
	}
	return SIM_OK;
}
