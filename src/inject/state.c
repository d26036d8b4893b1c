/* SPDX-License-Identifier: Apache-2.0 */
/* The mark in the environment: written by hand and read strictly, because it comes from outside. */
#include "inject/state.h"

#include "wire/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 1 PHASE MODE PID START LAUNCH EXIT FD PAD, each of a fixed width, one colon between. */
#define STATE_FORMAT     "1:%c:%c:%010d:%016llx:%-32s:%03d:%06d:"
#define STATE_PASS_WIDTH 10 /* digits of the pass plus the padding */
#define STATE_AT_PHASE   2
#define STATE_AT_PAD     (2 + 2 + 2 + 11 + 17 + 33 + 4 + 7)

const char *state_variable(char *const *envp, const char *name)
{
	size_t n = strlen(name);

	for (; envp && *envp; envp++)
		if (!strncmp(*envp, name, n) && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

bool state_parse_number(const char *text, uint32_t max, uint32_t *value_out)
{
	uint64_t value = 0;

	if (!text || !*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
		if (value > max)
			return false;
	}
	*value_out = (uint32_t)value;
	return value > 0;
}

void state_format(const struct state *s, char text_out[STATE_TEXT_SIZE], char pass_out[32])
{
	int digits = snprintf(pass_out, 32, "RETALLY_PASS=%u", s->pass) - 13;
	int n = snprintf(text_out, STATE_TEXT_SIZE, STATE_VARIABLE "=" STATE_FORMAT, s->phase,
			 s->replay  ? 'p'
			 : s->range ? 'r'
				    : '1',
			 s->pid, (unsigned long long)s->start, s->launch, s->exit_code & 0xff,
			 s->stderr_fd < 0 ? 0 : s->stderr_fd);

	for (int i = digits; i < STATE_PASS_WIDTH && n < STATE_TEXT_SIZE - 1; i++)
		text_out[n++] = '.';
	text_out[n] = '\0';
}

/* Decimal or hexadecimal digits text[0..n) and a colon behind them. */
static bool state_digits(const char **text, size_t n, int base, uint64_t *value_out)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++) {
		char c = (*text)[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : 99;

		if (digit >= base)
			return false;
		value = value * (uint64_t)base + (uint64_t)digit;
	}
	*text += n;
	if (**text != ':')
		return false;
	(*text)++;
	*value_out = value;
	return true;
}

static bool state_parse_value(struct state *s, const char *value)
{
	const char *p = value;
	uint64_t pid, start, code, fd;
	size_t n;

	if (strnlen(value, STATE_TEXT_SIZE) < STATE_AT_PAD || strncmp(p, "1:", 2) || p[3] != ':' ||
	    p[5] != ':' || (p[2] != STATE_BEGIN && p[2] != STATE_RUN) ||
	    (p[4] != 'p' && p[4] != '1' && p[4] != 'r'))
		return false;
	s->phase = p[2];
	s->replay = p[4] == 'p';
	s->range = p[4] == 'r';
	p += 6;
	if (!state_digits(&p, 10, 10, &pid) || !state_digits(&p, 16, 16, &start))
		return false;
	n = strcspn(p, " :");
	if (!n || n >= SPOOL_ID_SIZE || strnlen(p, 33) < 33 || p[32] != ':')
		return false;
	for (size_t i = 0; i < n; i++) /* it becomes part of a path */
		if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
			return false;
	memcpy(s->launch, p, n);
	s->launch[n] = '\0';
	p += 33;
	if (!state_digits(&p, 3, 10, &code) || !state_digits(&p, 6, 10, &fd) || code > 255)
		return false;
	s->pid = (int)pid;
	s->start = start;
	s->exit_code = (int)code;
	s->stderr_fd = fd ? (int)fd : -1;
	return true;
}

int state_parse(struct state *s, const char *value, const char *pass, const char *passes,
		struct error *err)
{
	*s = (struct state){.stderr_fd = -1};
	if (!state_parse_value(s, value))
		return error_set(err, RC_INVALID,
				 "RETALLY_STATE is not a value that retally wrote (it is not meant "
				 "to be set by hand)");
	if (!state_parse_number(passes, PLAN_PASSES_MAX, &s->passes) ||
	    !state_parse_number(pass, s->passes, &s->pass))
		return error_set(err, RC_INVALID,
				 "RETALLY_PASS and RETALLY_PASSES do not fit together");
	return 0;
}

void state_set_phase(char *value, char phase)
{
	value[STATE_AT_PHASE] = phase;
}

int state_start_time(uint64_t *start_out, struct error *err)
{
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	char text[1024];
	ssize_t n;
	char *p;

	if (fd < 0)
		return error_set_errno(err, 0, errno, "cannot read /proc/self/stat");
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')'); /* the name of the program may hold anything */
	for (int field = 2; p && field < 22; field++) {
		p = strchr(p, ' ');
		if (p)
			p++;
	}
	if (!p || !*p)
		return error_set(err, RC_UNSUPPORTED, "/proc/self/stat has no start time");
	*start_out = strtoull(p, NULL, 10);
	return 0;
}
