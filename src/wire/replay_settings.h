/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How dispatches are to be replayed in place, as the command tells the object in the program: one
 * canonical text in the variable RETALLY_REPLAY. Every key is there, in this order, once;
 * `kernel` and then `range` come last and may be missing or repeated:
 *
 *   mode=window;engine=own;verify=first;cache=keep;window=300;max-snapshot=0;repeat=1;skip=0;count=0;pass=0;
 *   random=0;seed=0;offset=0;until=0;launch=ID;collection=ID;kernel=PATTERN;range=PATTERN
 *
 * A pattern's ';', '%' and control characters are written %XX. Anything else is refused.
 */
#ifndef RETALLY_WIRE_REPLAY_SETTINGS_H
#define RETALLY_WIRE_REPLAY_SETTINGS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "wire/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPLAY_SETTINGS_VARIABLE "RETALLY_REPLAY"
/* Set to anything: devices are left alone, only regions of the process are counted. */
#define REPLAY_SETTINGS_REGIONS_ONLY "RETALLY_REGIONS_ONLY"
#define REPLAY_SETTINGS_PATTERNS_MAX 1024

/* The numbers are those of enum replay_mode and enum replay_verify (replay/replay.h). */
enum replay_settings_mode {
	REPLAY_SETTINGS_AUTO = 0,
	REPLAY_SETTINGS_KERNEL,
	REPLAY_SETTINGS_WINDOW,
	REPLAY_SETTINGS_RANGE,
	REPLAY_SETTINGS_NONE,
};
enum replay_settings_engine { /* who replays */
	REPLAY_SETTINGS_OWN = 0,
	REPLAY_SETTINGS_SDK, /* rocprofiler-sdk; REPLAY_SETTINGS_KERNEL only */
};
enum replay_settings_verify {
	REPLAY_SETTINGS_FIRST = 0,
	REPLAY_SETTINGS_ALWAYS,
	REPLAY_SETTINGS_NEVER,
};
enum replay_settings_cache {
	REPLAY_SETTINGS_KEEP = 0,
	REPLAY_SETTINGS_FLUSH, /* before each counted dispatch */
};
struct replay_settings {
	enum replay_settings_mode mode;
	enum replay_settings_engine engine;
	enum replay_settings_verify verify;
	enum replay_settings_cache cache;
	uint32_t window;       /* most dispatches of one window; 0: the engine chooses */
	uint64_t max_snapshot; /* bytes; 0: what fits */
	uint32_t repeat;       /* from 1 */
	uint64_t skip, count;  /* matching dispatches; count 0: all */
	uint32_t pass;         /* only this one; 0: all */
	bool random;           /* of REPLAY_SETTINGS_NONE */
	uint64_t seed, offset;
	uint32_t until; /* of REPLAY_SETTINGS_NONE: the precision at which a kernel is not counted
			 * any more, in millionths; 0: never */
	char launch[SPOOL_ID_SIZE], collection[SPOOL_ID_SIZE];
	const char *const *patterns; /* of kernels, as for base/pattern.h */
	size_t n_patterns;
	const char *const *ranges; /* the same of marked ranges; none: inside and outside of all */
	size_t n_ranges;
};

/* "kernel", "window"...; false when there is no such word. */
const char *replay_settings_mode_name(enum replay_settings_mode mode);
bool replay_settings_find_mode(const char *word, enum replay_settings_mode *mode_out);
bool replay_settings_find_engine(const char *word, enum replay_settings_engine *engine_out);
bool replay_settings_find_verify(const char *word, enum replay_settings_verify *verify_out);
bool replay_settings_find_cache(const char *word, enum replay_settings_cache *cache_out);
/* Appends the value of the variable. */
void replay_settings_format(const struct replay_settings *s, struct str *out);
/* Reads it; patterns go to the arena. RC_INVALID names what is wrong, RC_NO_MEMORY. */
int replay_settings_parse(struct replay_settings *s, struct arena *arena, const char *text,
			  struct error *err);
/* Appends the filters as a part of the collection's identity: "-c 10 -k add --range solve -s 5", ""
 * for none. The order in which patterns were given does not matter. */
int replay_settings_filters(const struct replay_settings *s, struct str *out);

#endif
