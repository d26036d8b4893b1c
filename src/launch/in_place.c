/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a program whose passes are replayed in place. */
#include "launch/in_place.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int add(struct in_place *p, struct str *text, struct error *err)
{
	char *variable = str_take(text);

	if (!variable)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	if (p->n == IN_PLACE_VARIABLES) {
		free(variable);
		return error_set(err, RC_ERROR, "too many variables for the program");
	}
	p->variables[p->n++] = variable;
	return 0;
}

/* LIBRARY in front of what the user has there. */
static int add_list(struct in_place *p, const char *name, const char *library, struct error *err)
{
	const char *have = getenv(name);
	struct str text = STR_INIT;

	str_addf(&text, "%s=%s", name, library);
	if (have && *have)
		str_addf(&text, ":%s", have);
	return add(p, &text, err);
}

static int add_text(struct in_place *p, const char *name, const char *value, const char *tail,
		    struct error *err)
{
	struct str text = STR_INIT;

	str_addf(&text, "%s=%s%s", name, value, tail);
	return add(p, &text, err);
}

static int add_common(struct in_place *p, const struct replay_settings *settings,
		      const char *library, const char *directory, struct error *err)
{
	char absolute[PATH_MAX];
	struct str text = STR_INIT;
	int rc;

	*p = (struct in_place){0};
	if (!realpath(directory, absolute))
		return error_set_errno(err, 0, errno, "cannot find '%s'", directory);
	/* ld.so and the loaders of OpenCL split their lists there. */
	if (strpbrk(library, ": "))
		return error_set(err, RC_UNSUPPORTED,
				 "the path of '%s' has a blank or a colon, with which it cannot be "
				 "loaded into a program",
				 library);
	str_add(&text, REPLAY_SETTINGS_VARIABLE "=");
	replay_settings_format(settings, &text);
	rc = add(p, &text, err);
	rc = rc ? rc : add_text(p, "RETALLY_PLAN", absolute, "/plan.json", err);
	rc = rc ? rc : add_text(p, "RETALLY_OUT", absolute, "", err);
	return rc ? rc : add_list(p, "LD_PRELOAD", library, err);
}

int in_place_init(struct in_place *p, const struct replay_settings *settings, const char *library,
		  const char *directory, struct error *err)
{
	int rc = add_common(p, settings, library, directory, err);

	rc = rc ? rc : add_text(p, "RETALLY_SIM_TOOL", library, "", err);
	rc = rc ? rc : add_text(p, "CUDA_INJECTION64_PATH", library, "", err);
	if (settings->mode == REPLAY_SETTINGS_RANGE || settings->n_ranges)
		rc = rc ? rc : add_text(p, "NVTX_INJECTION64_PATH", library, "", err);
	rc = rc ? rc : add_list(p, "ROCP_TOOL_LIBRARIES", library, err);
	rc = rc ? rc : add_list(p, "OPENCL_LAYERS", library, err);
	if (rc)
		in_place_release(p);
	return rc;
}

int in_place_init_regions(struct in_place *p, const struct replay_settings *settings,
			  const char *library, const char *directory, struct error *err)
{
	int rc = add_common(p, settings, library, directory, err);

	rc = rc ? rc : add_text(p, REPLAY_SETTINGS_REGIONS_ONLY, "1", "", err);
	if (rc)
		in_place_release(p);
	return rc;
}

void in_place_release(struct in_place *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->variables[i]);
	p->n = 0;
}

static void add_quoted(struct str *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./:=,+@%^";

	if (*word && !word[strspn(word, plain)]) {
		str_add(out, word);
		return;
	}
	str_add_char(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			str_add(out, "'\\''");
		else
			str_add_char(out, *word);
	}
	str_add_char(out, '\'');
}

void in_place_describe(const struct run_in_place *r, struct str *out)
{
	static const char *const verify[] = {"first", "always", "never"};
	const struct replay_settings *s = &r->settings;

	if (s->mode == REPLAY_SETTINGS_NONE)
		str_addf(out, " --distribute dispatch:%s", s->random ? "random" : "cyclic");
	else
		str_addf(out, " --replay %s", replay_settings_mode_name(s->mode));
	if (s->engine == REPLAY_SETTINGS_SDK)
		str_add(out, " --engine sdk");
	if (r->has_seed)
		str_addf(out, " --seed %llu", (unsigned long long)s->seed);
	if (s->until)
		str_addf(out, " --until %.6g%%", s->until / 10000.0);
	if (s->window)
		str_addf(out, " --window %u", s->window);
	if (s->max_snapshot)
		str_addf(out, " --max-snapshot %llu", (unsigned long long)s->max_snapshot);
	if (s->repeat > 1)
		str_addf(out, " --repeat %u", s->repeat);
	if (s->verify != REPLAY_SETTINGS_FIRST)
		str_addf(out, " --verify %s", verify[s->verify]);
	if (s->cache == REPLAY_SETTINGS_FLUSH)
		str_add(out, " --cache flush");
	for (size_t i = 0; i < s->n_patterns; i++) {
		str_add(out, " -k ");
		add_quoted(out, s->patterns[i]);
	}
	for (size_t i = 0; i < s->n_ranges; i++) {
		str_add(out, " --range ");
		add_quoted(out, s->ranges[i]);
	}
	if (s->skip)
		str_addf(out, " -s %llu", (unsigned long long)s->skip);
	if (s->count)
		str_addf(out, " -c %llu", (unsigned long long)s->count);
}
