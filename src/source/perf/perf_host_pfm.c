/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event names of the CPU's vendor through libpfm4. It knows the events of CPUs that this machine is
 * not; they are encoded as well, so that the message can say which machine has them.
 */
#include "config.h"

#include "source/perf/perf_host_names.h"

#if HAVE_PFM
#include <dirent.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int start(struct error *err)
{
	static int state; /* 0: not yet, 1: works, 2: failed */
	static char why[64];

	if (!state) {
		const char *before = getenv("LIBPFM_ENCODE_INACTIVE");
		int rc;

		setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
		rc = pfm_initialize();
		/* Ours alone: the profiled program must not see it. */
		if (!before)
			unsetenv("LIBPFM_ENCODE_INACTIVE");
		state = rc == PFM_SUCCESS ? 1 : 2;
		snprintf(why, sizeof(why), "%.60s", pfm_strerror(rc));
	}
	return state == 1 ? 0 : error_set(err, RC_UNSUPPORTED, "libpfm4 does not start: %s", why);
}

/* The sysfs name of a PMU whose number is not one of the kernel's fixed ones. */
static bool name_of_type(uint32_t type, char name_out[PERF_NAME_SIZE])
{
	DIR *d = opendir("/sys/bus/event_source/devices");
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d))) {
		if (e->d_name[0] == '.' || strlen(e->d_name) >= PERF_NAME_SIZE ||
		    perf_pmu_type(e->d_name) != (int)type)
			continue;
		memcpy(name_out, e->d_name, strlen(e->d_name) + 1);
		found = true;
	}
	if (d)
		closedir(d);
	return found;
}

int perf_pfm_parse(const char *name, struct perf_name *out, struct error *err)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	pfm_event_info_t event;
	pfm_pmu_info_t pmu;
	int rc = start(err);

	if (rc)
		return rc;
	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	arg.size = sizeof(arg);
	arg.attr = &attr;
	rc = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
	if (rc == PFM_ERR_NOTFOUND)
		return error_set(err, RC_NOT_FOUND, "no counter is named '%s'", name);
	if (rc != PFM_SUCCESS)
		return error_set(err, RC_INVALID, "'%s': %s", name, pfm_strerror(rc));
	memset(&event, 0, sizeof(event));
	memset(&pmu, 0, sizeof(pmu));
	event.size = sizeof(event);
	pmu.size = sizeof(pmu);
	if (pfm_get_event_info(arg.idx, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS ||
	    pfm_get_pmu_info(event.pmu, &pmu) != PFM_SUCCESS)
		return error_set(err, RC_ERROR, "libpfm4 says nothing about '%s'", name);
	if (!pmu.is_present)
		return error_set(err, RC_UNSUPPORTED,
				 "'%s' is an event of %s (%s), which is not this machine", name,
				 pmu.desc ? pmu.desc : pmu.name, pmu.name);
	out->config.kind = PERF_KIND_TYPE;
	out->config.type = attr.type;
	out->config.config = attr.config;
	out->config.config1 = attr.config1;
	out->config.config2 = attr.config2;
	out->config.exclude_kernel = attr.exclude_kernel;
	out->config.exclude_user = attr.exclude_user;
	if (attr.type == PERF_TYPE_BREAKPOINT || attr.type == PERF_TYPE_TRACEPOINT)
		return error_set(err, RC_INVALID, "'%s': write bp:SYMBOL or SUBSYSTEM:NAME instead",
				 name);
	if (attr.type > PERF_TYPE_BREAKPOINT) {
		out->config.kind = PERF_KIND_PMU;
		out->config.type = 0;
		if (!name_of_type(attr.type, out->config.name))
			return error_set(err, RC_UNSUPPORTED,
					 "'%s': the kernel has no PMU number %u", name, attr.type);
	}
	out->unit = "count";
	snprintf(out->help, sizeof(out->help), "%.150s", event.desc ? event.desc : "");
	return 0;
}
#else
int perf_pfm_parse(const char *name, struct perf_name *out, struct error *err)
{
	(void)out;
	return error_set(
		err, RC_NOT_FOUND,
		"no counter is named '%s' (names of the CPU's vendor need libpfm4, which this "
		"build lacks)",
		name);
}
#endif
