/* SPDX-License-Identifier: Apache-2.0 */
/* From the name of a perf event to its configuration, and what this user may count. */
#include "source/perf/perf_host_names.h"

#include "source/perf/perf_host_symbols.h"
#include "source/perf/perf_tracefs.h"

#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAP_SYS_ADMIN_BIT 21
#define CAP_PERFMON_BIT   38

void perf_rights_read(struct perf_rights *r_out)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	unsigned long long caps = 0;
	char line[256];

	memset(r_out, 0, sizeof(*r_out));
	r_out->paranoid = -2;
	if (f) {
		if (fgets(line, sizeof(line), f))
			r_out->paranoid = atoi(line);
		fclose(f);
	}
	f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "CapEff:", 7))
			caps = strtoull(line + 7, NULL, 16);
	if (f)
		fclose(f);
	r_out->privileged = caps >> CAP_SYS_ADMIN_BIT & 1 || caps >> CAP_PERFMON_BIT & 1;
	r_out->user_only = !r_out->privileged && r_out->paranoid >= 2;
	r_out->nothing = !r_out->privileged && r_out->paranoid >= 3;
}

/* Takes ":u", ":k", ":uk" off a name. False when the last part is something else. */
static bool take_modifiers(char *name, struct perf_config *c, bool *given_out)
{
	char *colon = strrchr(name, ':');
	bool user, kernel;

	*given_out = false;
	if (!colon || !colon[1] || strspn(colon + 1, "uk") != strlen(colon + 1))
		return false;
	user = strchr(colon + 1, 'u');
	kernel = strchr(colon + 1, 'k');
	c->exclude_kernel = !kernel;
	c->exclude_user = !user;
	*given_out = true;
	*colon = '\0';
	return true;
}

/* What the user's rights leave of an event without modifiers. */
static int apply_rights(const char *name, const struct perf_rights *r, bool given,
			struct perf_name *out, struct error *err)
{
	struct perf_config *c = &out->config;
	bool kernel_side = out->generic && out->generic->kernel_side;

	if (r->nothing)
		return error_set(
			err, RC_PERMISSION,
			"'%s': perf_event_paranoid is %d, which forbids counting to all but "
			"root; 'sysctl kernel.perf_event_paranoid=2' allows it",
			name, r->paranoid);
	if (kernel_side && (c->exclude_kernel || (r->user_only && !given)))
		return error_set(
			err, c->exclude_kernel ? RC_UNSUPPORTED : RC_PERMISSION,
			"'%s' happens inside the kernel and would read 0 without the kernel's "
			"part%s",
			name,
			c->exclude_kernel ? ""
					  : ", which perf_event_paranoid 2 excludes: run as root "
					    "or set it to 1");
	if (!r->user_only || c->exclude_kernel)
		return 0;
	if (given)
		return error_set(
			err, RC_PERMISSION,
			"'%s' counts the kernel, which perf_event_paranoid %d forbids: run as "
			"root or set it to 1",
			name, r->paranoid);
	c->exclude_kernel = true;
	snprintf(out->help + strlen(out->help), sizeof(out->help) - strlen(out->help),
		 "%suser code only (perf_event_paranoid is %d)", out->help[0] ? "; " : "",
		 r->paranoid);
	return 0;
}

static const struct perf_generic *find_generic(const char *name)
{
	for (size_t i = 0; i < perf_generics_n; i++)
		if (!strcasecmp(perf_generics[i].name, name))
			return &perf_generics[i];
	return NULL;
}

/* ---- places: bp:, mem:, uprobe: ---- */

static int parse_place(const char *name, char *spec, enum perf_symbol_kind kind,
		       const char *program, uint64_t *length, struct perf_place *place,
		       struct error *err)
{
	char *at = strchr(spec, '@'), *plus, *slash, *end;
	const char *object = NULL;
	unsigned long long offset = 0;
	int rc;

	if (at) {
		*at = '\0';
		object = at + 1;
		if (!*object)
			return error_set(err, RC_INVALID, "'%s' names no object after '@'", name);
	}
	slash = length ? strchr(spec, '/') : NULL;
	if (slash) {
		*slash = '\0';
		*length = strtoull(slash + 1, &end, 0);
		if (*end || (*length != 1 && *length != 2 && *length != 4 && *length != 8))
			return error_set(err, RC_INVALID, "'%s': the length is 1, 2, 4 or 8 bytes",
					 name);
	}
	plus = strchr(spec, '+');
	if (plus) {
		*plus = '\0';
		errno = 0;
		offset = strtoull(plus + 1, &end, 0);
		if (!isdigit((unsigned char)plus[1]) || *end || errno)
			return error_set(err, RC_INVALID, "'%s': '%s' is not an offset", name,
					 plus + 1);
	}
	if (!*spec)
		return error_set(err, RC_INVALID, "'%s' names no symbol", name);
	rc = perf_symbol_find(program, spec, object, kind, place, err);
	if (rc) {
		error_prefix(err, "'%s'", name);
		return rc;
	}
	if (place->size && offset >= place->size)
		return error_set(err, RC_INVALID, "'%s': '%s' has only %llu bytes", name, spec,
				 (unsigned long long)place->size);
	place->load_offset += offset;
	if (place->file_offset != UINT64_MAX)
		place->file_offset += offset;
	if (place->size)
		place->size -= offset;
	return 0;
}

static void set_place(struct perf_name *out, const struct perf_place *place, uint64_t offset)
{
	memcpy(out->config.object, place->object, sizeof(place->object));
	memcpy(out->config.build_id, place->build_id, sizeof(place->build_id));
	out->config.offset = offset;
	out->file_offset = place->file_offset;
	/* The program's own instructions: the same whether the user is privileged or not. */
	out->config.exclude_kernel = true;
	out->unit = "count";
}

static int parse_bp(const char *name, char *spec, const char *program, struct perf_name *out,
		    struct error *err)
{
	struct perf_place place;
	int rc = parse_place(name, spec, PERF_SYMBOL_FUNCTION, program, NULL, &place, err);

	if (rc)
		return rc;
	set_place(out, &place, place.load_offset);
	out->config.kind = PERF_KIND_BREAKPOINT;
	out->config.type = PERF_TYPE_BREAKPOINT;
	out->config.bp_type = HW_BREAKPOINT_X;
	out->config.bp_len = sizeof(long);
	snprintf(out->help, sizeof(out->help), "executions of %.100s", spec);
	return 0;
}

static int parse_mem(const char *name, char *spec, const char *program, struct perf_name *out,
		     struct error *err)
{
	char *colon = strrchr(spec, ':');
	const char *access = "rw";
	struct perf_place place;
	uint64_t length = 0;
	int rc;

	if (colon) {
		*colon = '\0';
		access = colon + 1;
	}
	if (!strcmp(access, "w"))
		out->config.bp_type = HW_BREAKPOINT_W;
	else if (!strcmp(access, "rw") || !strcmp(access, "wr"))
		out->config.bp_type = HW_BREAKPOINT_RW;
	else if (!strcmp(access, "r"))
		out->config.bp_type = HW_BREAKPOINT_R;
	else
		return error_set(err, RC_INVALID, "'%s': '%s' is not r, w or rw", name, access);
#if defined(__x86_64__) || defined(__i386__)
	if (out->config.bp_type == HW_BREAKPOINT_R)
		return error_set(
			err, RC_UNSUPPORTED,
			"'%s': x86 cannot watch reads alone; take :rw and :w, the difference is "
			"the reads",
			name);
#endif
	rc = parse_place(name, spec, PERF_SYMBOL_VARIABLE, program, &length, &place, err);
	if (rc)
		return rc;
	if (!length) {
		length = place.size;
		if (length != 1 && length != 2 && length != 4 && length != 8)
			return error_set(
				err, RC_INVALID,
				"'%s': '%s' has %llu bytes, and a breakpoint watches 1, 2, 4 or "
				"8: write mem:%s+OFFSET/LENGTH",
				name, spec, (unsigned long long)length, spec);
	}
	if (place.load_offset % length)
		return error_set(err, RC_UNSUPPORTED,
				 "'%s' is not aligned to its %llu bytes, as a breakpoint must be",
				 name, (unsigned long long)length);
	set_place(out, &place, place.load_offset);
	out->config.kind = PERF_KIND_BREAKPOINT;
	out->config.type = PERF_TYPE_BREAKPOINT;
	out->config.bp_len = (uint32_t)length;
	snprintf(out->help, sizeof(out->help), "%s %.100s",
		 out->config.bp_type == HW_BREAKPOINT_W ? "writes to" : "accesses to", spec);
	return 0;
}

static int parse_uprobe(const char *name, char *spec, bool at_return, const char *program,
			const struct perf_rights *rights, struct perf_name *out, struct error *err)
{
	struct perf_place place;
	int rc = parse_place(name, spec, PERF_SYMBOL_FUNCTION, program, NULL, &place, err);

	if (rc)
		return rc;
	if (!rights->privileged)
		return error_set(
			err, RC_PERMISSION,
			"'%s': uprobes are for root only; bp: counts the same for everybody, "
			"in 4 slots",
			name);
	set_place(out, &place, place.file_offset);
	out->config.exclude_kernel = false;
	out->config.kind = PERF_KIND_UPROBE;
	out->config.uretprobe = at_return;
	snprintf(out->help, sizeof(out->help), "%s %.100s, by uprobe",
		 at_return ? "returns from" : "executions of", spec);
	return 0;
}

/* ---- everything else ---- */

static int parse_sysfs(const char *name, char *text, struct perf_name *out, bool *given,
		       struct error *err)
{
	char *slash = strchr(text, '/'), *end = strrchr(text, '/');
	int rc;

	if (end == slash)
		return error_set(err, RC_INVALID, "'%s' is not PMU/EVENT/", name);
	*slash = *end = '\0';
	if (end[1]) {
		char modifiers[8];

		snprintf(modifiers, sizeof(modifiers), ":%s", end[1] == ':' ? end + 2 : end + 1);
		if (strlen(end + 1) > 3 || !take_modifiers(modifiers, &out->config, given))
			return error_set(err, RC_INVALID, "'%s': '%s' is not u, k or uk", name,
					 end + 1);
	}
	rc = perf_sysfs_parse(text, slash + 1, &out->config, err);
	if (rc) {
		error_prefix(err, "'%s'", name);
		return rc;
	}
	if (perf_sysfs_is_wide(text))
		return error_set(
			err, RC_UNSUPPORTED,
			"'%s': PMU '%s' counts whole CPUs and cannot tell one program apart", name,
			text);
	out->unit = "count";
	snprintf(out->help, sizeof(out->help), "event of PMU %.40s", text);
	return 0;
}

static bool is_tracepoint_name(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && colon != name && colon[1] &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == (size_t)(colon - name) &&
	       strspn(colon + 1,
		      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
		       strlen(colon + 1);
}

static int parse_tracepoint(const char *name, struct perf_name *out, struct error *err)
{
	uint64_t id;
	int dir, rc;

	if (strlen(name) >= sizeof(out->config.name))
		return error_set(err, RC_INVALID, "the name '%.64s...' is too long", name);
	rc = perf_tracefs_open(&dir, err);
	if (rc) {
		error_prefix(err, "'%s'", name);
		return rc;
	}
	rc = perf_tracefs_id(dir, name, &id, err);
	close(dir);
	if (rc)
		return rc;
	out->config.kind = PERF_KIND_TRACEPOINT;
	memcpy(out->config.name, name, strlen(name) + 1);
	out->unit = "count";
	snprintf(out->help, sizeof(out->help), "tracepoint of the kernel");
	return 0;
}

/* "r1a8": a raw event of the CPU's own PMU. */
static bool parse_raw(const char *text, struct perf_config *c)
{
	size_t n = strlen(text);
	char *end;

	if (text[0] != 'r' || n < 2 || n > 17 ||
	    strspn(text + 1, "0123456789abcdefABCDEF") != n - 1)
		return false;
	c->kind = PERF_KIND_TYPE;
	c->type = PERF_TYPE_RAW;
	c->config = strtoull(text + 1, &end, 16);
	return true;
}

int perf_name_parse(const char *name, const char *program, const struct perf_rights *rights,
		    struct perf_name *out, struct error *err)
{
	char text[PERF_OBJECT_SIZE + 512];
	struct error first = {0};
	bool given = false;
	int rc;

	memset(out, 0, sizeof(*out));
	out->unit = "count";
	out->file_offset = UINT64_MAX;
	if (!*name || strlen(name) >= sizeof(text))
		return error_set(err, RC_INVALID, "'%.64s' is not the name of a counter", name);
	memcpy(text, name, strlen(name) + 1);
	if (!strncmp(text, "bp:", 3) || !strncmp(text, "mem:", 4)) {
		rc = text[0] == 'b' ? parse_bp(name, text + 3, program, out, err)
				    : parse_mem(name, text + 4, program, out, err);
		return rc ? rc : apply_rights(name, rights, false, out, err);
	}
	if (!strncmp(text, "uprobe:", 7))
		return parse_uprobe(name, text + 7, false, program, rights, out, err);
	if (!strncmp(text, "uretprobe:", 10))
		return parse_uprobe(name, text + 10, true, program, rights, out, err);
	if (strchr(text, '/')) {
		rc = parse_sysfs(name, text, out, &given, err);
		return rc ? rc : apply_rights(name, rights, given, out, err);
	}
	(void)take_modifiers(text, &out->config, &given);
	out->generic = find_generic(text);
	if (out->generic) {
		out->config.kind = PERF_KIND_TYPE;
		out->config.type = out->generic->type;
		out->config.config = out->generic->config;
		out->unit = out->generic->unit;
		snprintf(out->help, sizeof(out->help), "%s", out->generic->help);
		return apply_rights(name, rights, given, out, err);
	}
	if (parse_raw(text, &out->config)) {
		snprintf(out->help, sizeof(out->help), "raw event of the CPU");
		return apply_rights(name, rights, given, out, err);
	}
	if (is_tracepoint_name(text)) {
		rc = parse_tracepoint(text, out, &first);
		if (!rc)
			return apply_rights(name, rights, given, out, err);
	}
	rc = perf_pfm_parse(name, out, err);
	if (!rc)
		return apply_rights(name, rights,
				    out->config.exclude_kernel || out->config.exclude_user, out,
				    err);
	if (rc == RC_NOT_FOUND && first.code)
		return error_set(err, first.code, "%s", first.message);
	return rc;
}
