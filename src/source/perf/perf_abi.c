/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of a counter's configuration, both ways, and from there to the kernel's attributes.
 */
#include "source/perf/perf_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- writing ---- */

struct writer {
	char *text;
	size_t used;
	bool failed;
};

static void put(struct writer *w, const char *bytes, size_t n)
{
	if (w->failed || n >= PERF_TEXT_SIZE - w->used) {
		w->failed = true;
		return;
	}
	memcpy(w->text + w->used, bytes, n);
	w->used += n;
	w->text[w->used] = '\0';
}

static void put_key(struct writer *w, const char *key)
{
	if (w->used)
		put(w, " ", 1);
	put(w, key, strlen(key));
	put(w, "=", 1);
}

static void put_number(struct writer *w, const char *key, uint64_t value, bool hex)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), hex ? "0x%llx" : "%llu",
			 (unsigned long long)value);

	put_key(w, key);
	put(w, digits, (size_t)n);
}

static bool is_plain(unsigned char c)
{
	return c > 0x20 && c < 0x7f && c != '%';
}

static void put_text(struct writer *w, const char *key, const char *value)
{
	put_key(w, key);
	for (; *value; value++) {
		char escaped[4];

		if (is_plain((unsigned char)*value)) {
			put(w, value, 1);
			continue;
		}
		snprintf(escaped, sizeof(escaped), "%%%02X", (unsigned)(unsigned char)*value);
		put(w, escaped, 3);
	}
}

static const char *bp_type_name(uint32_t type)
{
	switch (type) {
	case HW_BREAKPOINT_X:
		return "x";
	case HW_BREAKPOINT_R:
		return "r";
	case HW_BREAKPOINT_W:
		return "w";
	case HW_BREAKPOINT_RW:
		return "rw";
	default:
		return NULL;
	}
}

static bool is_hex(const char *text)
{
	return strspn(text, "0123456789abcdef") == strlen(text);
}

/* What holds for every config, whether it is written or was read. */
static int check(const struct perf_config *c, struct error *err)
{
	bool places = c->kind == PERF_KIND_BREAKPOINT || c->kind == PERF_KIND_UPROBE;
	const char *colon = strchr(c->name, ':');

	if (c->kind == PERF_KIND_BREAKPOINT && (!bp_type_name(c->bp_type) || !c->bp_len ||
						c->bp_len > 8 || c->type != PERF_TYPE_BREAKPOINT))
		return error_set(err, RC_INVALID,
				 "a breakpoint needs bp_type x, r, w or rw and bp_len 1 to 8");
	if (c->kind == PERF_KIND_TYPE && c->type == PERF_TYPE_BREAKPOINT)
		return error_set(err, RC_INVALID, "type 5 is a breakpoint and needs bp_type");
	if (c->kind != PERF_KIND_BREAKPOINT && (c->bp_type || c->bp_len))
		return error_set(err, RC_INVALID, "bp_type and bp_len belong to type=5");
	if (places && c->object[0] != '/')
		return error_set(err, RC_INVALID, "the object must be an absolute path");
	if (!places && (c->object[0] || c->offset || c->build_id[0]))
		return error_set(err, RC_INVALID,
				 "object, offset and build_id belong to breakpoints and uprobes");
	if (places && (c->config || c->config1 || c->config2))
		return error_set(err, RC_INVALID, "config has no meaning for a place in an object");
	if (!is_hex(c->build_id) || strlen(c->build_id) % 2)
		return error_set(err, RC_INVALID,
				 "the build id is not an even number of hex digits");
	if (c->kind == PERF_KIND_PMU && (!c->name[0] || strchr(c->name, '/') || c->name[0] == '.'))
		return error_set(err, RC_INVALID, "'%s' is not the name of a PMU", c->name);
	if (c->kind == PERF_KIND_TRACEPOINT &&
	    (!colon || colon == c->name || !colon[1] || strchr(c->name, '/') || c->name[0] == '.' ||
	     colon[1] == '.'))
		return error_set(err, RC_INVALID, "'%s' is not SUBSYSTEM:NAME", c->name);
	if (c->exclude_kernel && c->exclude_user)
		return error_set(err, RC_INVALID, "user and kernel are both excluded");
	return 0;
}

int perf_config_encode(const struct perf_config *c, char text_out[PERF_TEXT_SIZE],
		       struct error *err)
{
	struct writer w = {text_out, 0, false};
	int rc = check(c, err);

	text_out[0] = '\0';
	if (rc)
		return rc;
	switch (c->kind) {
	case PERF_KIND_TYPE:
	case PERF_KIND_BREAKPOINT:
		put_number(&w, "type", c->type, false);
		break;
	case PERF_KIND_PMU:
		put_text(&w, "pmu", c->name);
		break;
	case PERF_KIND_TRACEPOINT:
		put_text(&w, "tracepoint", c->name);
		break;
	case PERF_KIND_UPROBE:
		put_text(&w, "uprobe", c->uretprobe ? "return" : "entry");
		break;
	}
	if (c->config)
		put_number(&w, "config", c->config, c->config > 9);
	if (c->config1)
		put_number(&w, "config1", c->config1, true);
	if (c->config2)
		put_number(&w, "config2", c->config2, true);
	if (c->kind == PERF_KIND_BREAKPOINT) {
		put_text(&w, "bp_type", bp_type_name(c->bp_type));
		put_number(&w, "bp_len", c->bp_len, false);
	}
	if (c->object[0])
		put_text(&w, "object", c->object);
	if (c->offset)
		put_number(&w, "offset", c->offset, true);
	if (c->build_id[0])
		put_text(&w, "build_id", c->build_id);
	if (c->exclude_kernel)
		put_number(&w, "exclude_kernel", 1, false);
	if (c->exclude_user)
		put_number(&w, "exclude_user", 1, false);
	if (w.failed)
		return error_set(err, RC_INVALID,
				 "the configuration of a counter is longer than %d bytes",
				 PERF_TEXT_SIZE - 1);
	return 0;
}

/* ---- reading ---- */

/* The keys in the order in which they must come. */
enum key {
	KEY_TYPE,
	KEY_PMU,
	KEY_TRACEPOINT,
	KEY_UPROBE,
	KEY_CONFIG,
	KEY_CONFIG1,
	KEY_CONFIG2,
	KEY_BP_TYPE,
	KEY_BP_LEN,
	KEY_OBJECT,
	KEY_OFFSET,
	KEY_BUILD_ID,
	KEY_EXCLUDE_KERNEL,
	KEY_EXCLUDE_USER,
	N_KEYS,
};
static const char *const key_names[N_KEYS] = {
	"type",    "pmu",    "tracepoint", "uprobe", "config",   "config1",        "config2",
	"bp_type", "bp_len", "object",     "offset", "build_id", "exclude_kernel", "exclude_user",
};

static bool read_number(const char *text, size_t n, uint64_t max, uint64_t *value_out)
{
	uint64_t base = 10, value = 0;

	if (n > 2 && text[0] == '0' && text[1] == 'x') {
		base = 16;
		text += 2;
		n -= 2;
	}
	if (!n || (n > 1 && text[0] == '0'))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint64_t digit;

		if (text[i] >= '0' && text[i] <= '9')
			digit = (uint64_t)(text[i] - '0');
		else if (base == 16 && text[i] >= 'a' && text[i] <= 'f')
			digit = (uint64_t)(text[i] - 'a') + 10;
		else
			return false;
		if (value > (max - digit) / base)
			return false;
		value = value * base + digit;
	}
	*value_out = value;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Undoes %XX. Only what the writer would have escaped may be escaped, so that text is canonical. */
static bool read_text(const char *text, size_t n, char *out, size_t size)
{
	size_t used = 0;

	if (!n)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '%') {
			int high, low;

			if (i + 2 >= n)
				return false;
			high = hex_digit(text[i + 1]);
			low = hex_digit(text[i + 2]);
			if (high < 0 || low < 0)
				return false;
			c = (unsigned char)(high * 16 + low);
			if (!c || is_plain(c))
				return false;
			i += 2;
		} else if (!is_plain(c)) {
			return false;
		}
		if (used + 1 >= size)
			return false;
		out[used++] = (char)c;
	}
	out[used] = '\0';
	return true;
}

static bool read_bp_type(const char *text, size_t n, uint32_t *type_out)
{
	static const uint32_t types[] = {HW_BREAKPOINT_X, HW_BREAKPOINT_R, HW_BREAKPOINT_W,
					 HW_BREAKPOINT_RW};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		const char *name = bp_type_name(types[i]);

		if (strlen(name) == n && !memcmp(name, text, n)) {
			*type_out = types[i];
			return true;
		}
	}
	return false;
}

static bool read_value(struct perf_config *c, int key, const char *text, size_t n)
{
	uint64_t value = 0;
	char word[8];

	switch ((enum key)key) {
	case KEY_TYPE:
		if (!read_number(text, n, UINT32_MAX, &value))
			return false;
		c->type = (uint32_t)value;
		c->kind = value == PERF_TYPE_BREAKPOINT ? PERF_KIND_BREAKPOINT : PERF_KIND_TYPE;
		return true;
	case KEY_PMU:
		c->kind = PERF_KIND_PMU;
		return read_text(text, n, c->name, sizeof(c->name));
	case KEY_TRACEPOINT:
		c->kind = PERF_KIND_TRACEPOINT;
		return read_text(text, n, c->name, sizeof(c->name));
	case KEY_UPROBE:
		c->kind = PERF_KIND_UPROBE;
		if (!read_text(text, n, word, sizeof(word)))
			return false;
		c->uretprobe = !strcmp(word, "return");
		return c->uretprobe || !strcmp(word, "entry");
	case KEY_CONFIG:
		return read_number(text, n, UINT64_MAX, &c->config) && c->config;
	case KEY_CONFIG1:
		return read_number(text, n, UINT64_MAX, &c->config1) && c->config1;
	case KEY_CONFIG2:
		return read_number(text, n, UINT64_MAX, &c->config2) && c->config2;
	case KEY_BP_TYPE:
		return read_bp_type(text, n, &c->bp_type);
	case KEY_BP_LEN:
		if (!read_number(text, n, 8, &value))
			return false;
		c->bp_len = (uint32_t)value;
		return true;
	case KEY_OBJECT:
		return read_text(text, n, c->object, sizeof(c->object));
	case KEY_OFFSET:
		return read_number(text, n, UINT64_MAX, &c->offset) && c->offset;
	case KEY_BUILD_ID:
		return read_text(text, n, c->build_id, sizeof(c->build_id));
	case KEY_EXCLUDE_KERNEL:
		c->exclude_kernel = true;
		return n == 1 && text[0] == '1';
	case KEY_EXCLUDE_USER:
		c->exclude_user = true;
		return n == 1 && text[0] == '1';
	case N_KEYS:
		break;
	}
	return false;
}

int perf_config_decode(struct perf_config *c_out, const char *text, struct error *err)
{
	const char *at = text;
	int last = -1;
	bool first = true;

	memset(c_out, 0, sizeof(*c_out));
	while (*at) {
		size_t n = strcspn(at, " ");
		const char *equals = memchr(at, '=', n);
		int key = 0;

		if (!equals)
			return error_set(err, RC_INVALID,
					 "counter configuration '%s': '%.*s' has no '='", text,
					 (int)n, at);
		while (key < N_KEYS && (strlen(key_names[key]) != (size_t)(equals - at) ||
					memcmp(key_names[key], at, (size_t)(equals - at))))
			key++;
		if (key == N_KEYS)
			return error_set(err, RC_INVALID,
					 "counter configuration '%s': unknown key '%.*s'", text,
					 (int)(equals - at), at);
		if (key <= last || first != (key <= KEY_UPROBE))
			return error_set(
				err, RC_INVALID,
				"counter configuration '%s': key '%s' is in the wrong place", text,
				key_names[key]);
		if (!read_value(c_out, key, equals + 1, (size_t)(at + n - equals - 1)))
			return error_set(err, RC_INVALID,
					 "counter configuration '%s': bad value in '%.*s'", text,
					 (int)n, at);
		last = key;
		first = false;
		at += n;
		if (*at && !*++at)
			return error_set(err, RC_INVALID,
					 "counter configuration '%s' ends with a space", text);
	}
	if (first)
		return error_set(err, RC_INVALID, "the counter configuration is empty");
	if (check(c_out, err))
		return error_prefix(err, "counter configuration '%s'", text);
	return 0;
}

/* ---- to the kernel ---- */

int perf_pmu_type(const char *name)
{
	char path[PERF_NAME_SIZE + 64], text[16];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	return atoi(text);
}

int perf_config_attr(const struct perf_config *c, struct perf_event_attr *attr_out,
		     struct error *err)
{
	struct perf_event_attr a;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.type = c->type;
	a.config = c->config;
	a.config1 = c->config1;
	a.config2 = c->config2;
	a.exclude_kernel = c->exclude_kernel;
	a.exclude_user = c->exclude_user;
	/* The hypervisor's own work is never part of the program. */
	a.exclude_hv = c->kind == PERF_KIND_TYPE && c->type != PERF_TYPE_SOFTWARE;
	a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	switch (c->kind) {
	case PERF_KIND_PMU: {
		int type = perf_pmu_type(c->name);

		if (type < 0)
			return error_set(err, RC_UNSUPPORTED, "this machine has no PMU '%s'",
					 c->name);
		a.type = (uint32_t)type;
		break;
	}
	case PERF_KIND_TRACEPOINT:
	case PERF_KIND_UPROBE:
		a.type = PERF_TYPE_TRACEPOINT;
		break;
	case PERF_KIND_BREAKPOINT:
		a.bp_type = c->bp_type;
		a.bp_len = c->bp_len;
		break;
	case PERF_KIND_TYPE:
		break;
	}
	*attr_out = a;
	return 0;
}

uint64_t perf_attr_group(const struct perf_event_attr *attr)
{
	switch (attr->type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return 0;
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		/* Hybrid machines put the number of the PMU into the upper half. */
		return attr->config >> 32 ? attr->config >> 32 : (uint64_t)PERF_TYPE_RAW;
	default:
		return attr->type;
	}
}

int perf_open(struct perf_event_attr *attr, int pid, int cpu, int group_fd)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
}
