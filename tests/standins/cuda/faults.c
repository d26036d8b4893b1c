/* SPDX-License-Identifier: Apache-2.0 */
/* Faults on demand: see standin.h. */
#include "standin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAULTS 32

static struct {
	pthread_mutex_t lock;
	bool read;
	unsigned n;
	struct fault {
		char name[64];
		unsigned first, times, value, asked;
	} faults[FAULTS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A name ends where one of the marks begins; an x in it is a mark only before a number. */
static size_t name_length(const char *item)
{
	size_t n = strcspn(item, "@=");

	for (size_t i = 1; i < n; i++)
		if (item[i] == 'x' && item[i + 1] >= '0' && item[i + 1] <= '9')
			return i;
	return n;
}

static void fault_parse(const char *text)
{
	char copy[1024], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *item = strtok_r(copy, ",", &save); item && table.n < FAULTS;
	     item = strtok_r(NULL, ",", &save)) {
		struct fault *f = &table.faults[table.n++];
		size_t length = name_length(item);
		char *at = item + length;

		*f = (struct fault){.first = 1, .times = ~0u};
		snprintf(f->name, sizeof(f->name), "%.*s", (int)length, item);
		while (*at) {
			char what = *at;
			unsigned number = (unsigned)strtoul(at + 1, &at, 10);

			if (what == '@')
				f->first = number;
			else if (what == 'x')
				f->times = number;
			else if (what == '=')
				f->value = number;
			else
				break;
		}
	}
}

bool standin_fault(const char *name, unsigned *value_out)
{
	bool due = false;

	pthread_mutex_lock(&table.lock);
	if (!table.read && getenv("RETALLY_STANDIN_FAIL"))
		fault_parse(getenv("RETALLY_STANDIN_FAIL"));
	table.read = true;
	for (unsigned i = 0; i < table.n && !due; i++) {
		struct fault *f = &table.faults[i];

		if (strcmp(f->name, name))
			continue;
		f->asked++;
		due = f->asked >= f->first && f->asked - f->first < f->times;
		if (due && value_out)
			*value_out = f->value;
	}
	pthread_mutex_unlock(&table.lock);
	return due;
}

int standin_devices(void)
{
	const char *text = getenv("RETALLY_STANDIN_DEVICES");
	int n = text ? atoi(text) : 1;

	return n < 1 ? 1 : n > STANDIN_DEVICES ? STANDIN_DEVICES : n;
}

bool standin_is_injected(const void *address)
{
	static char *path;
	const char *name = getenv("CUDA_INJECTION64_PATH");
	Dl_info info;

	if (!path && name)
		path = realpath(name, NULL);
	if (!path || !dladdr(address, &info) || !info.dli_fname)
		return false;
	name = strrchr(path, '/');
	return strlen(info.dli_fname) >= strlen(name) &&
	       !strcmp(info.dli_fname + strlen(info.dli_fname) - strlen(name), name);
}
