/* SPDX-License-Identifier: Apache-2.0 */
/* Settings, faults, random numbers and the report of the stand-ins: t0.h. */
#include "t0.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct t0_config config;
static struct {
	uint64_t at, calls;
	bool ever_after;
} faults[T0_N_FAULTS];
static const char *const fault_names[T0_N_FAULTS] = {
	"exceeds", "record_lost", "record_late", "copy", "alloc", "signal", "hang", "unreplayed"};
static uint64_t random_state;
static unsigned misuses;

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);
	return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

static void read_agents(const char *list)
{
	while (*list && config.n_gpus < T0_MAX_AGENTS) {
		size_t n = strcspn(list, ",");
		if (n == 6 && !strncmp(list, "gfx90a", 6))
			config.gpu[config.n_gpus++] = T0_GFX90A;
		else if (n == 6 && !strncmp(list, "gfx942", 6))
			config.gpu[config.n_gpus++] = T0_GFX942;
		else if (n)
			t0_abort("RETALLY_T0_AGENTS: unknown agent in '%s'", list);
		list += n + (list[n] == ',');
	}
}

static void read_faults(const char *list)
{
	while (*list) {
		size_t n = strcspn(list, ":,");
		int which = -1;
		for (int i = 0; i < T0_N_FAULTS; i++)
			if (strlen(fault_names[i]) == n && !strncmp(list, fault_names[i], n))
				which = i;
		if (which < 0 || list[n] != ':')
			t0_abort("RETALLY_T0_FAULTS: '%s'", list);
		char *end;
		faults[which].at = strtoull(list + n + 1, &end, 10);
		faults[which].ever_after = *end == '+';
		list = end + strcspn(end, ",");
		list += *list == ',';
	}
}

static void read_mutations(const char *list)
{
	static const char *const names[] = {"sizes", "minor", "dimension", "ids",
					    "major", "old",   "replay"};
	while (*list) {
		size_t n = strcspn(list, ",");
		bool known = false;
		for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
			if (strlen(names[i]) == n && !strncmp(list, names[i], n)) {
				config.mutate |= 1u << i;
				known = true;
			}
		if (!known && n)
			t0_abort("RETALLY_T0_MUTATE: '%s'", list);
		list += n + (list[n] == ',');
	}
}

static void read_config(void)
{
	const char *s;
	read_agents((s = getenv("RETALLY_T0_AGENTS")) ? s : "gfx90a");
	read_faults((s = getenv("RETALLY_T0_FAULTS")) ? s : "");
	read_mutations((s = getenv("RETALLY_T0_MUTATE")) ? s : "");
	config.seed = number("RETALLY_T0_SEED", 1);
	config.kernel_us = (unsigned)number("RETALLY_T0_KERNEL_US", 0);
	config.record_us = (unsigned)number("RETALLY_T0_RECORD_US", 200);
	config.late_ms = (unsigned)number("RETALLY_T0_LATE_MS", 3000);
	config.vram = number("RETALLY_T0_VRAM", 256u << 20);
	config.strict = number("RETALLY_T0_STRICT", 0) != 0;
	config.records_on_event_thread = (s = getenv("RETALLY_T0_RECORDS")) && !strcmp(s, "event");
	random_state = config.seed * 0x9e3779b97f4a7c15u + 1;
}

const struct t0_config *t0_config(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, read_config);
	return &config;
}

bool t0_fails(enum t0_fault fault)
{
	t0_config();
	if (!faults[fault].at)
		return false;
	uint64_t n = __atomic_add_fetch(&faults[fault].calls, 1, __ATOMIC_RELAXED);
	bool fails = faults[fault].ever_after ? n >= faults[fault].at : n == faults[fault].at;
	if (fails && n == faults[fault].at)
		t0_say("fault %s at call %llu", fault_names[fault], (unsigned long long)n);
	return fails;
}

uint64_t t0_random(uint64_t n)
{
	t0_config();
	uint64_t x = __atomic_add_fetch(&random_state, 0x9e3779b97f4a7c15u, __ATOMIC_RELAXED);
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return n ? x % n : 0;
}

void t0_sleep_us(uint64_t us)
{
	struct timespec t = {.tv_sec = (time_t)(us / 1000000),
			     .tv_nsec = (long)(us % 1000000) * 1000};
	if (us)
		nanosleep(&t, NULL);
}

uint64_t t0_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((format(printf, 2, 0))) static void report(const char *prefix, const char *format,
							 va_list args)
{
	char line[1024];
	int n = snprintf(line, sizeof line, "t0: %s", prefix);
	n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
	if (n > (int)sizeof line - 2)
		n = sizeof line - 2;
	line[n++] = '\n';
	const char *path = getenv("RETALLY_T0_REPORT");
	int saved = errno, fd = 2;
	if (path && *path) {
		fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
		if (fd < 0)
			fd = 2;
	}
	if (write(fd, line, (size_t)n) < 0)
		n = 0;
	if (fd != 2)
		close(fd);
	errno = saved;
}

void t0_say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	report("", format, args);
	va_end(args);
}

void t0_misuse(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	report("MISUSE: ", format, args);
	va_end(args);
	__atomic_add_fetch(&misuses, 1, __ATOMIC_RELAXED);
}

_Noreturn void t0_abort(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	report("ABORT: ", format, args);
	va_end(args);
	abort();
}

unsigned t0_misuses(void)
{
	return __atomic_load_n(&misuses, __ATOMIC_RELAXED);
}
