/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PMUs as sysfs describes them: events/ gives names for terms, format/ says which bits of config a
 * term fills (Documentation/ABI/testing/sysfs-bus-event_source-devices-format of the kernel).
 */
#include "source/perf/perf_host_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES    "/sys/bus/event_source/devices"
#define DEPTH_MAX  4 /* an event's terms name no further events in practice */
#define TERMS_SIZE 512

static int read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return -1;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

/* Puts value into the bits of one field, as in "config:0-7,32-35" or "config1:3". */
static int put_bits(const char *format, uint64_t value, struct perf_config *c, const char *term,
		    struct error *err)
{
	const char *colon = strchr(format, ':');
	uint64_t *target, left = value;
	size_t n = colon ? (size_t)(colon - format) : strlen(format);

	if (n == 6 && !strncmp(format, "config", n))
		target = &c->config;
	else if (n == 7 && !strncmp(format, "config1", n))
		target = &c->config1;
	else if (n == 7 && !strncmp(format, "config2", n))
		target = &c->config2;
	else
		return error_set(err, RC_UNSUPPORTED,
				 "term '%s' goes to '%.*s', which is not known here", term, (int)n,
				 format);
	if (!colon) {
		*target |= value;
		return 0;
	}
	for (const char *at = colon + 1; *at;) {
		char *end;
		unsigned long low = strtoul(at, &end, 10), high = low, width;

		if (end == at)
			break;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (low > 63 || high > 63 || high < low)
			return error_set(err, RC_UNSUPPORTED, "term '%s' has the odd format '%s'",
					 term, format);
		width = high - low + 1;
		*target |= (width == 64 ? left : left & (((uint64_t)1 << width) - 1)) << low;
		left = width == 64 ? 0 : left >> width;
		at = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			break;
	}
	if (left)
		return error_set(err, RC_INVALID, "0x%llx is too large for term '%s' (%s)",
				 (unsigned long long)value, term, format);
	return 0;
}

static void list_folder(const char *folder, char *text, size_t size)
{
	struct dirent **names;
	int n = scandir(folder, &names, NULL, alphasort);
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < n; i++) {
		size_t length = strlen(names[i]->d_name);

		if (names[i]->d_name[0] != '.' && !strchr(names[i]->d_name, '.') &&
		    used + length + 8 < size)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
						 names[i]->d_name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

static int parse_terms(const char *devices, const char *pmu, const char *terms, int depth,
		       struct perf_config *c, struct error *err)
{
	char copy[TERMS_SIZE], path[PATH_MAX], text[TERMS_SIZE], *term, *rest;

	if (strlen(terms) >= sizeof(copy))
		return error_set(err, RC_INVALID, "the terms of '%s/.../' are too long", pmu);
	memcpy(copy, terms, strlen(terms) + 1);
	for (term = strtok_r(copy, ",", &rest); term; term = strtok_r(NULL, ",", &rest)) {
		char *equals = strchr(term, '='), *end = NULL;
		uint64_t value = 1;
		int rc;

		if (equals) {
			*equals = '\0';
			errno = 0;
			value = strtoull(equals + 1, &end, 0);
			if (!equals[1] || *end || errno || equals[1] == '-')
				return error_set(err, RC_INVALID,
						 "'%s=%s' of PMU '%s' is not a number", term,
						 equals + 1, pmu);
		}
		if (!*term || strchr(term, '/') || term[0] == '.')
			return error_set(err, RC_INVALID, "PMU '%s': bad term '%s'", pmu, term);
		snprintf(path, sizeof(path), "%s/%s/format/%s", devices, pmu, term);
		if (!read_file(path, text, sizeof(text))) {
			rc = put_bits(text, value, c, term, err);
			if (rc)
				return rc;
			continue;
		}
		if (!strcmp(term, "config") && equals) {
			c->config |= value;
			continue;
		}
		if ((!strcmp(term, "config1") || !strcmp(term, "config2")) && equals) {
			*(term[6] == '1' ? &c->config1 : &c->config2) |= value;
			continue;
		}
		snprintf(path, sizeof(path), "%s/%s/events/%s", devices, pmu, term);
		if (!equals && depth < DEPTH_MAX && !read_file(path, text, sizeof(text))) {
			rc = parse_terms(devices, pmu, text, depth + 1, c, err);
			if (rc)
				return rc;
			continue;
		}
		snprintf(path, sizeof(path), "%s/%s/%s", devices, pmu,
			 equals ? "format" : "events");
		list_folder(path, text, 300);
		return error_set(err, RC_NOT_FOUND, "PMU '%s' has no %s '%s'; it has: %s", pmu,
				 equals ? "term" : "event", term, text[0] ? text : "none");
	}
	return 0;
}

int perf_sysfs_parse_at(const char *devices, const char *pmu, const char *terms,
			struct perf_config *c, struct error *err)
{
	char path[PATH_MAX], text[300];

	if (!*pmu || strlen(pmu) >= sizeof(c->name) || strchr(pmu, '/') || pmu[0] == '.')
		return error_set(err, RC_INVALID, "'%s' is not the name of a PMU", pmu);
	snprintf(path, sizeof(path), "%s/%s/type", devices, pmu);
	if (access(path, R_OK)) {
		list_folder(devices, text, sizeof(text));
		return error_set(err, RC_NOT_FOUND, "this machine has no PMU '%s'; it has: %s", pmu,
				 text[0] ? text : "none");
	}
	c->kind = PERF_KIND_PMU;
	memcpy(c->name, pmu, strlen(pmu) + 1);
	return parse_terms(devices, pmu, terms, 0, c, err);
}

int perf_sysfs_parse(const char *pmu, const char *terms, struct perf_config *c, struct error *err)
{
	return perf_sysfs_parse_at(DEVICES, pmu, terms, c, err);
}

bool perf_sysfs_is_wide(const char *pmu)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DEVICES "/%s/cpumask", pmu);
	return !access(path, F_OK);
}

void perf_sysfs_events(void (*found)(const char *pmu, const char *event, void *data), void *data)
{
	struct dirent **pmus;
	int n = scandir(DEVICES, &pmus, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];
		struct dirent **events;
		int n_events;

		snprintf(path, sizeof(path), DEVICES "/%s/events", pmus[i]->d_name);
		n_events = pmus[i]->d_name[0] == '.' ? -1 : scandir(path, &events, NULL, alphasort);
		for (int k = 0; k < n_events; k++) {
			/* "x.unit" and "x.scale" describe event x. */
			if (!strchr(events[k]->d_name, '.'))
				found(pmus[i]->d_name, events[k]->d_name, data);
			free(events[k]);
		}
		if (n_events >= 0)
			free(events);
		free(pmus[i]);
	}
	if (n >= 0)
		free(pmus);
}
