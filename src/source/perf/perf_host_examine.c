/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine and the user's rights allow, in sentences, for `retally doctor`. */
#include "source/perf/perf_breakpoint.h"
#include "source/perf/perf_host.h"
#include "source/perf/perf_host_names.h"
#include "source/perf/perf_host_slots.h"
#include "source/perf/perf_tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FINDINGS_MAX 12

struct findings {
	struct arena *arena;
	struct perf_finding *items;
	size_t n;
	bool failed;
};

__attribute__((format(printf, 4, 5))) static void add(struct findings *f, const char *what,
						      bool works, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (f->n == FINDINGS_MAX)
		return;
	f->items[f->n].what = what;
	f->items[f->n].works = works;
	f->items[f->n].explain = arena_strdup(f->arena, text);
	f->failed |= !f->items[f->n++].explain;
}

/* A small number in a file of /proc, or otherwise. */
static int read_number(const char *path, int otherwise)
{
	char text[16];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return otherwise;
	text[n] = '\0';
	return atoi(text);
}

static bool has_seccomp(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Seccomp:", 8))
			found = atoi(line + 8) != 0;
	if (f)
		fclose(f);
	return found;
}

static int try_generic(const char *name, const struct perf_rights *rights,
		       struct perf_event_attr *attr)
{
	struct perf_name n;
	int fd;

	if (perf_name_parse(name, NULL, rights, &n, NULL) ||
	    perf_config_attr(&n.config, attr, NULL))
		return -EACCES;
	fd = perf_open(attr, 0, -1, -1);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void examine_kernel(struct findings *f, const struct perf_rights *r)
{
	struct perf_event_attr attr;
	int rc = try_generic("task-clock", r, &attr);

	if (rc == -ENOSYS) {
		add(f, "perf events", false, "this kernel or sandbox has no perf_event_open");
	} else if (rc) {
		if (r->paranoid >= 3 && !r->privileged)
			add(f, "perf events", false,
			    "perf_event_paranoid is %d, which forbids counting to all but root: "
			    "'sysctl kernel.perf_event_paranoid=2' allows it",
			    r->paranoid);
		else if (has_seccomp())
			add(f, "perf events", false,
			    "perf_event_open is refused; a seccomp filter is on: in a container "
			    "allow the "
			    "call ('--security-opt seccomp=...', or '--cap-add PERFMON')");
		else
			add(f, "perf events", false, "perf_event_open is refused: %s",
			    strerror(-rc));
	} else if (r->user_only) {
		add(f, "perf events", true,
		    "user code only, as perf_event_paranoid is %d: context-switches and "
		    "cpu-migrations need "
		    "root or 'sysctl kernel.perf_event_paranoid=1'",
		    r->paranoid);
	} else {
		add(f, "perf events", true, "user and kernel code (perf_event_paranoid is %d%s)",
		    r->paranoid, r->privileged ? ", privileged" : "");
	}
}

static void examine_hardware(struct findings *f, const struct perf_rights *r)
{
	struct perf_event_attr attr;
	uint32_t accepted = 0, slots;
	int rc = try_generic("branch-misses", r, &attr), error;
	bool watchdog = read_number("/proc/sys/kernel/nmi_watchdog", 0) == 1;

	if (rc)
		rc = try_generic("instructions", r, &attr);
	if (rc) {
		add(f, "hardware counters", false,
		    rc == -EACCES || rc == -EPERM ? "not permitted to this user"
						  : "the machine gives none (a virtual machine "
						    "without a PMU?); software events "
						    "are counted");
		return;
	}
	slots = perf_slots_find(&perf_kernel_real, &attr, NULL, &accepted, &error);
	if (slots < accepted)
		add(f, "hardware counters", slots > 0, "%u of %u general counters are free%s",
		    slots, accepted,
		    watchdog ? ": the NMI watchdog holds one, 'sysctl kernel.nmi_watchdog=0' frees "
			       "it"
			     : ": another program holds the rest");
	else
		add(f, "hardware counters", true, "%u general counters at once", slots);
}

/* What counts `bp:`: the registers, or for root uprobes where those never fire. */
static void examine_functions(struct findings *f, int rc, uint32_t n, const struct perf_rights *r)
{
	static const char what[] = "bp: counts by";
	int dir;

	if (!rc || (rc == RC_NO_SLOT && n)) {
		add(f, what, true, "hardware breakpoints, %u at once", n);
		return;
	}
	if (rc != RC_UNSUPPORTED) {
		add(f, what, false, "nothing: no hardware breakpoint is to be had");
		return;
	}
	if (!r->privileged) {
		add(f, what, false,
		    "nothing: hardware breakpoints never fire here; root could, by "
		    "uprobes");
		return;
	}
	if (perf_tracefs_open(&dir, NULL)) {
		add(f, what, false,
		    "nothing: hardware breakpoints never fire here, and uprobes cannot be placed");
		return;
	}
	close(dir);
	add(f, what, true,
	    "uprobes, for hardware breakpoints never fire here and you are root; four functions a "
	    "pass, at about 1 to 50 us a call");
}

static void examine_breakpoints(struct findings *f, const struct perf_rights *r)
{
	struct error why = {0};
	uint32_t n = 0;
	int rc = perf_breakpoint_try(PERF_BREAKPOINTS_TRIED_MAX, 0, &n, &why);

	if (rc == RC_NO_SLOT && n)
		add(f, "breakpoints", true, "bp: and mem: count exactly, %u at once", n);
	else if (rc)
		add(f, "breakpoints", false, "%s", why.message);
	else
		add(f, "breakpoints", true, "bp: and mem: count exactly, at least %u at once", n);
	examine_functions(f, rc, n, r);
}

static void examine_tracefs(struct findings *f, const struct perf_rights *r)
{
	struct error why = {0};
	int dir, rc = perf_tracefs_open(&dir, &why);

	if (rc) {
		add(f, "tracepoints", false, "%s", why.message);
		add(f, "uprobes", false, "%s", why.message);
		return;
	}
	add(f, "tracepoints", true, "SUBSYSTEM:NAME counts events of the kernel");
	if (faccessat(dir, "uprobe_events", W_OK, AT_EACCESS))
		add(f, "uprobes", false, "%s",
		    errno == ENOENT ? "this kernel is built without uprobes"
				    : "uprobes are for root only");
	else
		add(f, "uprobes", r->privileged,
		    "uprobe:FUNCTION counts executions without a limit, at about 1 to 50 us each");
	close(dir);
}

static void examine_ptrace(struct findings *f)
{
	int scope = read_number("/proc/sys/kernel/yama/ptrace_scope", 0);

	if (scope >= 3)
		add(f, "holding the program", false,
		    "ptrace is switched off for everybody (yama/ptrace_scope is 3, until the next "
		    "boot): bp: "
		    "and mem: cannot be set in time");
	else if (scope == 2 && geteuid())
		add(f, "holding the program", false,
		    "ptrace is for root only (yama/ptrace_scope is 2): bp: and mem: need 1 or 0");
	else
		add(f, "holding the program", true, "ptrace of own children is allowed");
}

int perf_host_examine(struct arena *arena, struct perf_finding **findings_out, size_t *n_out,
		      struct error *err)
{
	struct findings f = {.arena = arena};
	struct perf_rights rights;

	f.items = arena_array(arena, FINDINGS_MAX, sizeof(*f.items));
	if (!f.items)
		return error_set(err, RC_NO_MEMORY, "no memory for the findings");
	perf_rights_read(&rights);
	examine_kernel(&f, &rights);
	examine_hardware(&f, &rights);
	examine_breakpoints(&f, &rights);
	examine_tracefs(&f, &rights);
	examine_ptrace(&f);
	if (f.failed)
		return error_set(err, RC_NO_MEMORY, "no memory for the findings");
	*findings_out = f.items;
	*n_out = f.n;
	return 0;
}
