/* SPDX-License-Identifier: Apache-2.0 */
/* What is not there: why a counter has no value, and the command that would collect it. */
#include "store/internal.h"

#include <signal.h>
#include <string.h>

void store_add_word(struct str *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./:=,+@%^";

	if (*word && word[strspn(word, plain)] == '\0') {
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

/* The selection is options and names with single spaces between, as the plan recorded it. The
 * default one needs no words. */
static void add_selection(struct str *out, const char *selection)
{
	struct str word = STR_INIT;

	if (!strcmp(selection, "--set default"))
		return;
	while (*selection) {
		size_t n = strcspn(selection, " ");

		str_clear(&word);
		str_add_bytes(&word, selection, n);
		if (n) {
			str_add_char(out, ' ');
			store_add_word(out, str_text(&word));
		}
		selection += n + (selection[n] == ' ');
	}
	str_release(&word);
}

/* -o takes a template, in which a percent sign is written twice. */
static void add_template(struct str *out, const char *dir)
{
	struct str text = STR_INIT;

	for (; *dir; dir++) {
		str_add_char(&text, *dir);
		if (*dir == '%')
			str_add_char(&text, '%');
	}
	store_add_word(out, str_text(&text));
	str_release(&text);
}

/* Whether a shell would read nothing but plain and single-quoted words: run.json may come from
 * anybody. */
static bool is_words(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./:=,+@%^ ";
	bool quoted = false;

	for (const char *c = text; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
		if (*c == '\'')
			quoted = !quoted;
		else if (!quoted && c[0] == '\\' && c[1] == '\'')
			c++;
		else if (!quoted && !strchr(plain, *c))
			return false;
	}
	return *text && !quoted;
}

/* The options of the launch. A pass of its own (--pass) is not dealt, nor its seed wanted then. */
static void add_options(struct str *out, const char *options)
{
	bool seeded = strstr(options, "--fixed-seed");
	size_t skip = 0;

	if (!strstr(options, "--distribute ") || strstr(options, "--distribute dispatch")) {
		str_addf(out, " %s", options);
		return;
	}
	while (*options) {
		size_t n = strcspn(options, " ");

		if (n == 12 && !strncmp(options, "--distribute", n))
			skip = 2;
		else if (!seeded && n == 6 && !strncmp(options, "--seed", n))
			skip = 2;
		if (skip) {
			skip--;
		} else if (n) {
			str_add_char(out, ' ');
			str_add_bytes(out, options, n);
		}
		options += n + (options[n] == ' ');
	}
}

void store_pass_command(const struct store *s, uint32_t pass, struct str *out)
{
	if (!s->info.argc) { /* recorded without the command, which alone knows the arguments */
		str_addf(out, "RETALLY_PASS=%u RETALLY_PLAN=", pass);
		store_add_word(out, s->dir);
		str_add(out, "/plan.json LD_PRELOAD=libretally.so PROGRAM ...");
		return;
	}
	str_add(out, "retally run");
	if (s->plan.selection)
		add_selection(out, s->plan.selection);
	if (s->plan.n_counters && strcmp(s->plan.counters[0].source, "perf") != 0) {
		str_add(out, " --source ");
		store_add_word(out, s->plan.counters[0].source);
	}
	/* Words of a shell already; they decide where and how the pass runs. */
	if (s->info.options && is_words(s->info.options))
		add_options(out, s->info.options);
	if (!store_pass_is_part(s, pass) && !store_pass_is_part(s, pass - 1))
		str_addf(out, " --pass %u", pass);
	str_add(out, " -o ");
	add_template(out, s->dir);
	str_add(out, " --");
	for (size_t i = 0; i < s->info.argc; i++) {
		str_add_char(out, ' ');
		store_add_word(out, s->info.argv[i]);
	}
}

void store_list_passes(const uint32_t *passes, size_t n, struct str *out)
{
	for (size_t i = 0, end; i < n; i = end + 1) {
		for (end = i; end + 1 < n && passes[end + 1] == passes[end] + 1; end++)
			;
		if (end == i + 1) /* "3, 4", not "3-4" */
			end = i;
		str_addf(out, "%s%u", i ? ", " : "", passes[i]);
		if (end > i)
			str_addf(out, "-%u", passes[end]);
	}
}

/* How the last execution of a pass went wrong; false when it ended well. */
static bool why_run_failed(const struct store *s, uint32_t pass, struct str *out)
{
	const struct store_run *last = NULL;

	vec_for_each (&s->runs, r) {
		if (r->pass == pass && !r->in_place)
			last = r;
	}
	if (!last)
		return false;
	if (!last->ended) {
		str_addf(out, "pass %u did not end", pass);
	} else if (last->flags & SPOOL_PASS_TIMED_OUT) {
		str_addf(out, "pass %u ran out of time", pass);
	} else if (last->signal) {
		const char *name = sigabbrev_np(last->signal);

		str_addf(out, "the program was killed in pass %u by signal %d", pass, last->signal);
		if (name)
			str_addf(out, " (SIG%s)", name);
	} else if (last->flags & SPOOL_PASS_INCOMPLETE) {
		str_addf(out, "counting stopped before the end of pass %u", pass);
	} else if (last->exit_code) {
		str_addf(out, "the program ended with status %d in pass %u", last->exit_code, pass);
	} else {
		return false;
	}
	return true;
}

/* The one note about this pass, when there is just one. */
static const char *single_note(const struct store *s, uint32_t pass)
{
	const char *text = NULL;

	vec_for_each (&s->findings, f) {
		if (!f->from_program || f->kind == SPOOL_NOTE_FINDING || f->pass != pass)
			continue;
		if (text)
			return NULL;
		text = f->text;
	}
	return text;
}

static void why_in_run_pass(const struct store *s, uint32_t pass, uint32_t counter, struct str *out)
{
	static const char *const words[] = {"",
					    "not collected",
					    "overflowed",
					    "multiplexed",
					    "dispatch not matched",
					    "declined",
					    "cut off at the time limit"};
	const char *note = single_note(s, pass);
	int most = 0;
	uint64_t n_most = 0;

	for (int i = SAMPLE_NOT_COLLECTED; i <= SAMPLE_STATUS_MAX; i++) {
		uint64_t n = store_sample_count(s, pass, counter, (enum sample_status)i);

		if (n > n_most) {
			n_most = n;
			most = i;
		}
	}
	if (most) {
		str_addf(out, "%s in pass %u", words[most], pass);
		if (note)
			str_addf(out, ": %s", note);
	} else if (!why_run_failed(s, pass, out)) {
		str_addf(out, "pass %u recorded no sample of it", pass);
		if (note)
			str_addf(out, ": %s", note);
	}
}

bool store_why_missing(const struct store *s, uint32_t counter, struct str *out)
{
	VEC(uint32_t) passes = {0};
	uint32_t has_run = 0;

	for (uint32_t k = 1; k <= s->plan.n_passes; k++) {
		const struct plan_pass *p = &s->plan.passes[k - 1];
		bool in_pass = false;

		for (uint32_t i = 0; i < p->n_counters; i++)
			in_pass = in_pass || p->counters[i] == counter;
		if (!in_pass)
			continue;
		if (store_sample_count(s, k, counter, SAMPLE_OK)) {
			vec_release(&passes);
			return false;
		}
		if (s->pass_has_run[k] && !has_run)
			has_run = k;
		if (!vec_push(&passes, k))
			break;
	}
	if (has_run) {
		why_in_run_pass(s, has_run, counter, out);
	} else if (!passes.n) {
		str_add(out, "no pass of the plan counts it");
	} else {
		str_add(out, passes.n > 1 ? "passes " : "pass ");
		store_list_passes(passes.items, passes.n, out);
		str_add(out, passes.n > 1 ? " were not run" : " was not run");
	}
	vec_release(&passes);
	return true;
}
