/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of replays as text and back. */
#include "wire/replay_settings.h"

#include <stdlib.h>
#include <string.h>

static const char *const mode_names[] = {"auto", "kernel", "window", "range", "none"};
static const char *const engine_names[] = {"own", "sdk"};
static const char *const verify_names[] = {"first", "always", "never"};
static const char *const cache_names[] = {"keep", "flush"};

static bool find_word(const char *const *words, size_t n, const char *word, uint64_t *index_out)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(words[i], word)) {
			*index_out = i;
			return true;
		}
	}
	return false;
}

const char *replay_settings_mode_name(enum replay_settings_mode mode)
{
	return mode_names[mode];
}

bool replay_settings_find_mode(const char *word, enum replay_settings_mode *mode_out)
{
	uint64_t i;

	if (!find_word(mode_names, sizeof(mode_names) / sizeof(*mode_names), word, &i))
		return false;
	*mode_out = (enum replay_settings_mode)i;
	return true;
}

bool replay_settings_find_engine(const char *word, enum replay_settings_engine *engine_out)
{
	uint64_t i;

	if (!find_word(engine_names, sizeof(engine_names) / sizeof(*engine_names), word, &i))
		return false;
	*engine_out = (enum replay_settings_engine)i;
	return true;
}

bool replay_settings_find_verify(const char *word, enum replay_settings_verify *verify_out)
{
	uint64_t i;

	if (!find_word(verify_names, sizeof(verify_names) / sizeof(*verify_names), word, &i))
		return false;
	*verify_out = (enum replay_settings_verify)i;
	return true;
}

bool replay_settings_find_cache(const char *word, enum replay_settings_cache *cache_out)
{
	uint64_t i;

	if (!find_word(cache_names, sizeof(cache_names) / sizeof(*cache_names), word, &i))
		return false;
	*cache_out = (enum replay_settings_cache)i;
	return true;
}

/* ---- writing ---- */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c != 0x7f && c != '%' && c != ';';
}

static void add_pattern(struct str *out, const char *key, const char *pattern)
{
	str_addf(out, ";%s=", key);
	for (const char *c = pattern; *c; c++) {
		if (is_plain((unsigned char)*c))
			str_add_char(out, *c);
		else
			str_addf(out, "%%%02X", (unsigned)(unsigned char)*c);
	}
}

void replay_settings_format(const struct replay_settings *s, struct str *out)
{
	str_addf(out, "mode=%s;engine=%s;verify=%s;cache=%s;window=%u;max-snapshot=%llu;repeat=%u",
		 mode_names[s->mode], engine_names[s->engine], verify_names[s->verify],
		 cache_names[s->cache], s->window, (unsigned long long)s->max_snapshot, s->repeat);
	str_addf(out, ";skip=%llu;count=%llu;pass=%u;random=%d;seed=%llu;offset=%llu;until=%u",
		 (unsigned long long)s->skip, (unsigned long long)s->count, s->pass, s->random,
		 (unsigned long long)s->seed, (unsigned long long)s->offset, s->until);
	str_addf(out, ";launch=%s;collection=%s", s->launch, s->collection);
	for (size_t i = 0; i < s->n_patterns; i++)
		add_pattern(out, "kernel", s->patterns[i]);
	for (size_t i = 0; i < s->n_ranges; i++)
		add_pattern(out, "range", s->ranges[i]);
}

/* ---- reading ---- */

/* Takes "KEY=value" and the ';' behind it off the front of *at; value into the arena. */
static int take(const char **at, struct arena *arena, const char *key, char **value_out,
		struct error *err)
{
	size_t n = strlen(key), size;

	if (strncmp(*at, key, n) != 0 || (*at)[n] != '=')
		return error_set(err, RC_INVALID,
				 REPLAY_SETTINGS_VARIABLE ": '%s=' is expected at '%.40s'", key,
				 *at);
	size = strcspn(*at + n + 1, ";");
	*value_out = arena_alloc(arena, size + 1);
	if (!*value_out)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	memcpy(*value_out, *at + n + 1, size);
	(*value_out)[size] = '\0';
	*at += n + 1 + size;
	if (**at == ';') {
		(*at)++;
		if (!**at)
			return error_set(err, RC_INVALID,
					 REPLAY_SETTINGS_VARIABLE ": nothing follows the last ';'");
	}
	return 0;
}

static int bad_value(const char *key, const char *value, struct error *err)
{
	return error_set(err, RC_INVALID, REPLAY_SETTINGS_VARIABLE ": '%.40s' is no value of '%s'",
			 value, key);
}

/* Digits only, no zeros in front: one text for each number. */
static int take_number(const char **at, struct arena *arena, const char *key, uint64_t most,
		       uint64_t *number_out, struct error *err)
{
	char *value;
	uint64_t n = 0;
	int rc = take(at, arena, key, &value, err);

	if (rc)
		return rc;
	if (!*value || (value[0] == '0' && value[1]))
		return bad_value(key, value, err);
	for (const char *c = value; *c; c++) {
		if (*c < '0' || *c > '9' || __builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*c - '0'), &n))
			return bad_value(key, value, err);
	}
	if (n > most)
		return bad_value(key, value, err);
	*number_out = n;
	return 0;
}

static int take_word(const char **at, struct arena *arena, const char *key,
		     const char *const *words, size_t n, uint64_t *index_out, struct error *err)
{
	char *value;
	int rc = take(at, arena, key, &value, err);

	if (!rc && !find_word(words, n, value, index_out))
		rc = bad_value(key, value, err);
	return rc;
}

static int take_id(const char **at, struct arena *arena, const char *key, char id[SPOOL_ID_SIZE],
		   struct error *err)
{
	char *value;
	int rc = take(at, arena, key, &value, err);
	size_t n;

	if (rc)
		return rc;
	n = strlen(value);
	if (!n || n >= SPOOL_ID_SIZE || strspn(value, "0123456789abcdef") != n)
		return bad_value(key, value, err);
	memcpy(id, value, n + 1);
	return 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int take_pattern(const char **at, struct arena *arena, const char *key,
			const char **pattern_out, struct error *err)
{
	char *value, *to;
	int rc = take(at, arena, key, &value, err);

	if (rc)
		return rc;
	*pattern_out = to = value;
	for (const char *c = value; *c; c++) {
		int high = *c == '%' ? hex_digit(c[1]) : 0, low = 0, both;

		if (*c != '%' && is_plain((unsigned char)*c)) {
			*to++ = *c;
			continue;
		}
		low = *c == '%' && high >= 0 ? hex_digit(c[2]) : -1;
		both = 16 * high + low;
		if (low < 0 || !both || is_plain((unsigned char)both))
			return bad_value(key, value, err);
		*to++ = (char)both;
		c += 2;
	}
	*to = '\0';
	return *value ? 0 : bad_value(key, value, err);
}

/* All patterns of one key that follow each other. */
static int take_patterns(const char **at, struct arena *arena, const char *key,
			 const char *const **patterns_out, size_t *n_out, struct error *err)
{
	const char **patterns;
	size_t n = 1, n_key = strlen(key);
	int rc = 0;

	for (const char *c = *at; *c; c++)
		n += *c == ';';
	if (n > 2 * REPLAY_SETTINGS_PATTERNS_MAX)
		return error_set(err, RC_INVALID,
				 REPLAY_SETTINGS_VARIABLE ": %zu patterns are too many", n);
	patterns = arena_array(arena, n, sizeof(*patterns));
	if (!patterns)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (n = 0; !rc && !strncmp(*at, key, n_key) && (*at)[n_key] == '='; n++)
		rc = take_pattern(at, arena, key, &patterns[n], err);
	*patterns_out = patterns;
	*n_out = n;
	return rc;
}

int replay_settings_parse(struct replay_settings *s, struct arena *arena, const char *text,
			  struct error *err)
{
	const char *at = text;
	uint64_t mode = 0, engine = 0, verify = 0, cache = 0, window = 0, repeat = 0, pass = 0,
		 is_random = 0, until = 0;
	int rc;

	*s = (struct replay_settings){0};
	rc = take_word(&at, arena, "mode", mode_names, sizeof(mode_names) / sizeof(*mode_names),
		       &mode, err);
	if (!rc)
		rc = take_word(&at, arena, "engine", engine_names,
			       sizeof(engine_names) / sizeof(*engine_names), &engine, err);
	if (!rc)
		rc = take_word(&at, arena, "verify", verify_names,
			       sizeof(verify_names) / sizeof(*verify_names), &verify, err);
	if (!rc)
		rc = take_word(&at, arena, "cache", cache_names,
			       sizeof(cache_names) / sizeof(*cache_names), &cache, err);
	rc = rc ? rc : take_number(&at, arena, "window", UINT32_MAX, &window, err);
	rc = rc ? rc : take_number(&at, arena, "max-snapshot", UINT64_MAX, &s->max_snapshot, err);
	rc = rc ? rc : take_number(&at, arena, "repeat", UINT32_MAX, &repeat, err);
	rc = rc ? rc : take_number(&at, arena, "skip", UINT64_MAX, &s->skip, err);
	rc = rc ? rc : take_number(&at, arena, "count", UINT64_MAX, &s->count, err);
	rc = rc ? rc : take_number(&at, arena, "pass", UINT32_MAX, &pass, err);
	rc = rc ? rc : take_number(&at, arena, "random", 1, &is_random, err);
	rc = rc ? rc : take_number(&at, arena, "seed", UINT64_MAX, &s->seed, err);
	rc = rc ? rc : take_number(&at, arena, "offset", UINT64_MAX, &s->offset, err);
	rc = rc ? rc : take_number(&at, arena, "until", 999999, &until, err);
	rc = rc ? rc : take_id(&at, arena, "launch", s->launch, err);
	rc = rc ? rc : take_id(&at, arena, "collection", s->collection, err);
	if (rc)
		return rc;
	if (!repeat)
		return bad_value("repeat", "0", err);
	if (until && mode != REPLAY_SETTINGS_NONE)
		return error_set(
			err, RC_INVALID,
			REPLAY_SETTINGS_VARIABLE
			": until=%llu is for dispatches that are counted live (mode=none), "
			"not for mode=%s",
			(unsigned long long)until, mode_names[mode]);
	rc = take_patterns(&at, arena, "kernel", &s->patterns, &s->n_patterns, err);
	rc = rc ? rc : take_patterns(&at, arena, "range", &s->ranges, &s->n_ranges, err);
	if (!rc && *at)
		rc = error_set(err, RC_INVALID,
			       REPLAY_SETTINGS_VARIABLE ": nothing is expected at '%.40s'", at);
	s->mode = (enum replay_settings_mode)mode;
	s->engine = (enum replay_settings_engine)engine;
	s->verify = (enum replay_settings_verify)verify;
	s->cache = (enum replay_settings_cache)cache;
	s->window = (uint32_t)window;
	s->repeat = (uint32_t)repeat;
	s->pass = (uint32_t)pass;
	s->random = is_random;
	s->until = (uint32_t)until;
	return rc;
}

/* ---- identity ---- */
static int compare_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* " OPTION PATTERN" of each, sorted; without the blank where the text began. */
static int add_sorted(const char *option, const char *const *patterns, size_t n, size_t start,
		      struct str *out)
{
	const char **sorted = calloc(n + 1, sizeof(*sorted));

	if (!sorted)
		return RC_NO_MEMORY;
	for (size_t i = 0; i < n; i++)
		sorted[i] = patterns[i];
	if (n)
		qsort((void *)sorted, n, sizeof(*sorted), compare_text);
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s%s %s", out->size > start ? " " : "", option, sorted[i]);
	free((void *)sorted);
	return 0;
}

int replay_settings_filters(const struct replay_settings *s, struct str *out)
{
	size_t start = out->size;
	int rc;

	if (s->count)
		str_addf(out, "-c %llu", (unsigned long long)s->count);
	rc = add_sorted("-k", s->patterns, s->n_patterns, start, out);
	if (!rc)
		rc = add_sorted("--range", s->ranges, s->n_ranges, start, out);
	if (s->skip)
		str_addf(out, "%s-s %llu", out->size > start ? " " : "",
			 (unsigned long long)s->skip);
	if (s->cache == REPLAY_SETTINGS_FLUSH)
		str_addf(out, "%s--cache flush", out->size > start ? " " : "");
	return str_is_failed(out) ? RC_NO_MEMORY : rc;
}
