/* SPDX-License-Identifier: Apache-2.0 */
/* From options to application mode or to settings for replaying in place. */
#include "cli/replay_choice.h"

#include "base/pattern.h"
#include "cli/setup.h"
#include "launch/distribute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options by themselves ---- */

static int read_mode(struct replay_choice *c, const struct options *o, struct error *err)
{
	struct replay_settings *s = &c->run.settings;
	struct distribute d = {0};
	int rc = o->distribute ? distribute_parse(o->distribute, &d, err) : 0;
	bool dispatches = d.unit == DISTRIBUTE_DISPATCH;

	if (rc)
		return rc;
	c->application = o->replay && !strcmp(o->replay, "application");
	if (o->replay && !c->application && !replay_settings_find_mode(o->replay, &s->mode))
		return error_set(err, RC_INVALID,
				 "--replay: '%s' is not auto, application, kernel, window, range "
				 "or none",
				 o->replay);
	c->in_place = s->mode != REPLAY_SETTINGS_AUTO;
	if (dispatches && o->replay && s->mode != REPLAY_SETTINGS_NONE &&
	    strcmp(o->replay, "auto") != 0)
		return error_set(
			err, RC_INVALID,
			"--distribute dispatch replays nothing: it goes with --replay none "
			"or without --replay, not with --replay %s",
			o->replay);
	if (o->distribute && !dispatches && c->in_place)
		return error_set(err, RC_INVALID,
				 "--distribute %s runs one pass in each process: it does not go "
				 "with --replay %s",
				 o->distribute, o->replay);
	if (dispatches) {
		c->in_place = true;
		s->mode = REPLAY_SETTINGS_NONE;
		s->random = d.random;
	}
	if (s->mode == REPLAY_SETTINGS_NONE && o->pass)
		return error_set(err, RC_INVALID,
				 "--pass chooses a pass and so does --distribute dispatch: give "
				 "one of them");
	if (o->engine && !replay_settings_find_engine(o->engine, &s->engine))
		return error_set(err, RC_INVALID, "--engine: '%s' is not own or sdk", o->engine);
	if (s->engine == REPLAY_SETTINGS_SDK && s->mode != REPLAY_SETTINGS_KERNEL)
		return error_set(
			err, RC_INVALID,
			"--engine sdk replays single kernels: it goes with --replay kernel");
	if (s->engine == REPLAY_SETTINGS_SDK && (o->verify || o->max_snapshot || o->cache))
		return error_set(err, RC_INVALID,
				 "%s is about our own replay: it does not go with --engine sdk",
				 o->verify         ? "--verify"
				 : o->max_snapshot ? "--max-snapshot"
						   : "--cache");
	s->seed = o->seed;
	c->run.has_seed = o->has_seed;
	if (o->has_seed && !o->distribute && !o->fixed_seed && s->mode != REPLAY_SETTINGS_NONE)
		return error_set(err, RC_INVALID, "--seed goes with --distribute or --fixed-seed");
	s->until = o->until;
	if (o->until && s->mode != REPLAY_SETTINGS_NONE)
		return error_set(
			err, RC_INVALID,
			"--until is for dispatches that are counted live in one pass each: it "
			"goes with --distribute dispatch or --replay none, %s",
			o->distribute ? "not with passes that are dealt over processes"
			: o->pass     ? "not with --pass"
				      : "not where all passes are replayed");
	return 0;
}

/* What has no meaning where nothing is run again from saved memory; NULL: none is given. */
static const char *option_of_replays(const struct options *o)
{
	return o->repeat         ? "--repeat"
	       : o->max_snapshot ? "--max-snapshot"
	       : o->verify       ? "--verify"
				 : NULL;
}

static int read_numbers(struct replay_choice *c, const struct options *o, struct error *err)
{
	struct replay_settings *s = &c->run.settings;

	if (o->window > UINT32_MAX || o->repeat > UINT32_MAX)
		return error_set(
			err, RC_INVALID, "--%s: %llu is too large",
			o->window > UINT32_MAX ? "window" : "repeat",
			(unsigned long long)(o->window > UINT32_MAX ? o->window : o->repeat));
	if (o->verify && !replay_settings_find_verify(o->verify, &s->verify))
		return error_set(err, RC_INVALID, "--verify: '%s' is not first, always or never",
				 o->verify);
	if (o->cache && !replay_settings_find_cache(o->cache, &s->cache))
		return error_set(err, RC_INVALID, "--cache: '%s' is not keep or flush", o->cache);
	s->window = (uint32_t)o->window;
	s->repeat = o->repeat ? (uint32_t)o->repeat : 1;
	s->max_snapshot = o->max_snapshot;
	s->skip = o->launch_skip;
	s->count = o->launch_count;
	if (o->window && s->mode != REPLAY_SETTINGS_WINDOW && s->mode != REPLAY_SETTINGS_AUTO)
		return error_set(err, RC_INVALID,
				 "--window: windows have no size with --replay %s, only with "
				 "window and auto",
				 replay_settings_mode_name(s->mode));
	if (s->mode == REPLAY_SETTINGS_NONE && option_of_replays(o))
		return error_set(err, RC_INVALID,
				 "%s is about replays: with --replay none and --distribute "
				 "dispatch every dispatch runs and is counted once",
				 option_of_replays(o));
	c->only_in_place = o->kernels.n      ? "-k"
			   : o->ranges.n     ? "--range"
			   : o->cache        ? "--cache"
			   : o->launch_skip  ? "--launch-skip"
			   : o->launch_count ? "--launch-count"
			   : o->window       ? "--window"
			   : o->repeat       ? "--repeat"
			   : o->verify       ? "--verify"
			   : o->max_snapshot ? "--max-snapshot"
					     : NULL;
	return 0;
}

static int check_patterns(const char *option, const struct option_list *list, struct error *err)
{
	if (list->n > REPLAY_SETTINGS_PATTERNS_MAX)
		return error_set(err, RC_INVALID, "%s: %zu patterns are too many", option, list->n);
	for (size_t i = 0; i < list->n; i++) {
		struct pattern p;
		int rc = pattern_init(&p, list->items[i], err);

		if (rc)
			return error_prefix(err, "%s", option);
		pattern_release(&p);
	}
	return 0;
}

static int refuse_in_application(const struct replay_choice *c, struct error *err)
{
	return error_set(err, RC_INVALID,
			 "%s is for kernels that are replayed in place: it goes with --replay "
			 "kernel, window, range or none, not with application mode",
			 c->only_in_place);
}

static int refuse_in_place(const struct options *o, struct error *err)
{
	const char *option = o->chdir_per_pass     ? "--chdir-per-pass"
			     : o->keep_going       ? "--keep-going"
			     : o->pass_timeout > 0 ? "--pass-timeout"
						   : NULL;

	if (!option)
		return 0;
	return error_set(err, RC_INVALID,
			 "%s is about the later passes of application mode; here the program runs "
			 "once",
			 option);
}

int replay_choice_read(struct replay_choice *c, const struct options *o, struct error *err)
{
	int rc;

	*c = (struct replay_choice){0};
	rc = read_mode(c, o, err);
	if (!rc)
		rc = read_numbers(c, o, err);
	if (!rc)
		rc = check_patterns("-k", &o->kernels, err);
	if (!rc)
		rc = check_patterns("--range", &o->ranges, err);
	if (!rc && c->application && c->only_in_place)
		rc = refuse_in_application(c, err);
	if (!rc && c->in_place)
		rc = refuse_in_place(o, err);
	c->run.settings.patterns = o->kernels.items;
	c->run.settings.n_patterns = o->kernels.n;
	c->run.settings.ranges = o->ranges.items;
	c->run.settings.n_ranges = o->ranges.n;
	return rc;
}

/* ---- with the plan ---- */

static bool has_device_counters(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_counters; i++) {
		if (strcmp(plan->counters[i].source, "perf") != 0)
			return true;
	}
	return false;
}

/* Regions that CPU counters count have no dispatches to choose from, each is run once a pass, and
 * what they change is not saved but changed in a copy of the process. */
static int refuse_for_regions(const struct options *o, struct error *err)
{
	const char *option = o->kernels.n      ? "-k"
			     : o->launch_skip  ? "--launch-skip"
			     : o->launch_count ? "--launch-count"
					       : NULL;

	if (!option && !option_of_replays(o))
		return 0;
	return error_set(err, RC_UNSUPPORTED,
			 "%s %s: with --replay range and CPU counters every region is counted once "
			 "a pass, in a copy of the process",
			 option ? option : option_of_replays(o),
			 option ? "chooses kernels of devices" : "is about kernels of devices");
}

/* Of the devices only NVIDIA's say how large their cache is. */
static int refuse_to_flush(const struct plan *plan, struct error *err)
{
	for (uint32_t i = 0; i < plan->n_counters; i++)
		if (strcmp(plan->counters[i].source, "cuda") != 0)
			return error_set(err, RC_UNSUPPORTED,
					 "--cache flush empties the L2 of NVIDIA's GPUs; it cannot "
					 "do that for devices on which source '%s' counts",
					 plan->counters[i].source);
	return 0;
}

static int find_library(char path_out[PATH_MAX], struct error *err)
{
	const char *path = setup_library();

	if (realpath(path, path_out))
		return 0;
	return error_set(err, RC_NOT_FOUND,
			 "there is no '%s', by which passes are replayed in the program; "
			 "RETALLY_LIBRARY says where libretally.so is",
			 path);
}

int replay_choice_decide(struct replay_choice *c, const struct options *o, const struct plan *plan,
			 struct error *err)
{
	int rc;

	if (c->application && has_device_counters(plan))
		return error_set(err, RC_UNSUPPORTED,
				 "--replay application counts processes from outside, which cannot "
				 "be done for source '%s'; use --replay auto",
				 plan->counters[0].source);
	if (c->run.settings.engine == REPLAY_SETTINGS_SDK &&
	    strcmp(plan->counters[0].source, "rocm") != 0)
		return error_set(
			err, RC_INVALID,
			"--engine sdk is for AMD GPUs (--source rocm), not for source '%s'",
			plan->counters[0].source);
	if (!c->application && !c->in_place)
		c->in_place = has_device_counters(plan);
	if (!c->in_place)
		return c->only_in_place ? refuse_in_application(c, err) : 0;
	rc = refuse_in_place(o, err);
	if (!rc && c->run.settings.cache == REPLAY_SETTINGS_FLUSH)
		rc = refuse_to_flush(plan, err);
	if (!rc && c->run.settings.mode == REPLAY_SETTINGS_RANGE && !has_device_counters(plan))
		rc = refuse_for_regions(o, err);
	if (!rc)
		rc = find_library(c->library, err);
	c->run.library = c->library;
	if (!rc && replay_settings_filters(&c->run.settings, &c->filters))
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
	return rc;
}

void replay_choice_release(struct replay_choice *c)
{
	str_release(&c->filters);
}
