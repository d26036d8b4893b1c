/* SPDX-License-Identifier: Apache-2.0 */
/* The option table and its parser. */
#include "cli/options.h"

#include "base/str.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum option_kind {
	OPTION_FLAG,      /* bool at offset */
	OPTION_STRING,    /* const char * at offset */
	OPTION_SELECTION, /* appended to selection, letter in `extra` */
	OPTION_LIST,      /* appended to the struct option_list at offset */
	OPTION_PASS,
	OPTION_NODES,
	OPTION_SEED,
	OPTION_FACTOR,
	OPTION_WAIT,
	OPTION_FORMAT, /* the last one offered in `extra` */
	OPTION_NUMBER, /* uint64_t at offset, at least `extra` */
	OPTION_SIZE,   /* uint64_t at offset, with K, M, G or T behind it */
	OPTION_PRECISION,
	OPTION_REFUSED, /* `help` is the sentence */
};

struct option_def {
	char letter; /* 0: none */
	const char *name;
	const char *argument; /* NULL: takes none */
	unsigned commands;
	enum option_kind kind;
	size_t offset;
	char extra;
	const char *help;
};

#define ALL                                                                            \
	(COMMAND_RUN | COMMAND_PLAN | COMMAND_LIST | COMMAND_REPORT | COMMAND_DOCTOR | \
	 COMMAND_MERGE | COMMAND_EXPORT | COMMAND_DIFF)
#define SELECTING (COMMAND_RUN | COMMAND_PLAN)
#define PRINTING  (COMMAND_LIST | COMMAND_REPORT)
#define AT(field) offsetof(struct options, field)

/* clang-format off */
static const struct option_def table[] = {
	{'m', "metrics", "LIST", SELECTING | COMMAND_REPORT | COMMAND_DIFF, OPTION_SELECTION, 0, 'm',
	 "metrics by name, id or glob, comma-separated"},
	{'e', "counters", "LIST", SELECTING | COMMAND_REPORT | COMMAND_DIFF, OPTION_SELECTION, 0, 'e',
	 "counters: cycles, page-faults, bp:FUNCTION, mem:VARIABLE:w, pmu/event/, rNNN ..."},
	{0, "set", "NAME", SELECTING, OPTION_SELECTION, 0, 's',
	 "a named set of metrics (see `retally list sets`); 'default' when nothing is selected"},
	{0, "set", "NAME", COMMAND_REPORT, OPTION_SELECTION, 0, 's',
	 "of the metrics and counters of this run, those of a named set"},
	{0, "metrics-file", "FILE", SELECTING | PRINTING, OPTION_LIST, AT(metrics_files), 0,
	 "read more metrics from a YAML file"},
	{0, "chip", "NAME", COMMAND_PLAN | COMMAND_LIST, OPTION_STRING, AT(chip), 0,
	 "another chip than this machine's (see `retally list chips`)"},
	{0, "chip", "NAME", COMMAND_RUN, OPTION_STRING, AT(chip), 0,
	 "GPUs of this kind, which may be elsewhere (see `retally list chips`); those of another kind run uncounted"},
	{0, "source", "NAME", SELECTING | COMMAND_LIST, OPTION_STRING, AT(source), 0,
	 "where counts come from (see `retally list sources`)"},
	{0, "count", NULL, COMMAND_PLAN, OPTION_FLAG, AT(count), 0, "print the number of passes only"},
	{0, "json", NULL, COMMAND_PLAN | PRINTING | COMMAND_DIFF, OPTION_FLAG, AT(json), 0, "the same as JSON"},
	{0, "explain", "NAME", COMMAND_PLAN, OPTION_STRING, AT(explain), 0,
	 "why a pass (its number) exists, or where a metric's counters are"},
	{0, "diff", NULL, COMMAND_PLAN, OPTION_FLAG, AT(diff), 0,
	 "compare two plan files: retally plan --diff A B"},
	{0, "no-anchors", NULL, SELECTING, OPTION_FLAG, AT(no_anchors), 0,
	 "do not put anchor counters into every pass"},
	{0, "max-nodes", "N", SELECTING, OPTION_NODES, 0, 0, "search nodes the planner may spend"},
	{0, "pass", "K[/P]", COMMAND_RUN, OPTION_PASS, 0, 0,
	 "run pass K only; with /P fail unless the plan has P passes"},
	{0, "distribute", "UNIT", COMMAND_RUN, OPTION_STRING, AT(distribute), 0,
	 "rank, process or dispatch, with :cyclic (default) or :random: one pass in each, nothing is replayed"},
	{0, "seed", "N", COMMAND_RUN, OPTION_SEED, 0, 0, "fixes what --distribute chooses, and the numbers of --fixed-seed"},
	{0, "until", "PRECISION", COMMAND_RUN, OPTION_PRECISION, 0, 0,
	 "--distribute dispatch: leave a kernel uncounted once its values are known this well (1%: half the 95 % interval is 1 % of the mean)"},
	{0, "mpi", "HOW", COMMAND_RUN, OPTION_STRING, AT(mpi), 0,
	 "passes inside a rank of an MPI job: auto (default), relay, server or none"},
	{0, "mpi-wait", "SECONDS", COMMAND_RUN, OPTION_WAIT, 0, 0,
	 "how long the ranks wait for each other before pass 1 (default 30)"},
	{0, "launcher", "HOW", COMMAND_RUN, OPTION_STRING, AT(launcher), 0,
	 "PROGRAM is mpirun, srun or the like, whose ranks are counted: auto (by its name), yes or no"},
	{0, "plan", "FILE", COMMAND_RUN, OPTION_STRING, AT(plan), 0,
	 "the passes of this plan (retally plan --json), instead of a selection"},
	{0, "join", "ID", COMMAND_RUN, OPTION_STRING, AT(join), 0,
	 "with --plan: add to the collection ID that DIR holds, whatever its command"},
	{'o', "output", "DIR", COMMAND_RUN, OPTION_STRING, AT(output), 0,
	 "run directory (default PROGRAM.retally); %h host, %p pid, %r rank, %q{VAR}"},
	{'o', "output", "DIR", COMMAND_MERGE, OPTION_STRING, AT(output), 0,
	 "where to: a run directory, made or added to; may be one of the inputs"},
	{0, "to", "FORMAT", COMMAND_EXPORT, OPTION_STRING, AT(to), 0,
	 "omniperf: a directory for `rocprof-compute analyze -p`; csv; perfetto: a trace for ui.perfetto.dev; rocpd: SQLite"},
	{'o', "output", "OUT", COMMAND_EXPORT, OPTION_STRING, AT(output), 0,
	 "file or (omniperf) directory to make; csv and perfetto: standard output when not given"},
	{0, "replay", "MODE", COMMAND_RUN, OPTION_STRING, AT(replay), 0,
	 "auto (default); application: the whole program once per pass; kernel, window, range: in place; none"},
	{0, "engine", "WHO", COMMAND_RUN, OPTION_STRING, AT(engine), 0,
	 "--replay kernel on AMD GPUs: own (default), or sdk: the kernel replay of rocprofiler-sdk 1.4.1 and later"},
	{0, "window", "W", COMMAND_RUN, OPTION_NUMBER, AT(window), 1,
	 "at most W dispatches in a window"},
	{0, "max-snapshot", "SIZE", COMMAND_RUN, OPTION_SIZE, AT(max_snapshot), 0,
	 "at most so much saved memory per device (K, M, G, T)"},
	{0, "repeat", "N", COMMAND_RUN, OPTION_NUMBER, AT(repeat), 1,
	 "replay all passes N times, for statistics"},
	{0, "verify", "WHEN", COMMAND_RUN, OPTION_STRING, AT(verify), 0,
	 "look for writes outside a kernel's reach: first (default), always or never"},
	{0, "cache", "HOW", COMMAND_RUN, OPTION_STRING, AT(cache), 0,
	 "NVIDIA: keep (default) what is in L2, or flush: empty it before each counted dispatch"},
	{'s', "launch-skip", "N", COMMAND_RUN, OPTION_NUMBER, AT(launch_skip), 0,
	 "leave out the first N dispatches that -k takes"},
	{'c', "launch-count", "N", COMMAND_RUN, OPTION_NUMBER, AT(launch_count), 1,
	 "then take so many"},
	{0, "no-aslr", NULL, COMMAND_RUN, OPTION_FLAG, AT(no_aslr), 0,
	 "the same addresses in every pass"},
	{0, "fixed-seed", NULL, COMMAND_RUN, OPTION_FLAG, AT(fixed_seed), 0,
	 "--replay application: time, getrandom and /dev/urandom are the same in every pass (numbers from --seed)"},
	{0, "chdir-per-pass", NULL, COMMAND_RUN, OPTION_FLAG, AT(chdir_per_pass), 0,
	 "later passes run in directories of their own below DIR"},
	{0, "keep-going", NULL, COMMAND_RUN, OPTION_FLAG, AT(keep_going), 0,
	 "run the remaining passes after one failed"},
	{0, "pass-timeout", "FACTOR", COMMAND_RUN, OPTION_FACTOR, 0, 0,
	 "end a later pass after FACTOR times the time of pass 1 and 10 s (default 10)"},
	{0, "strict", NULL, COMMAND_RUN, OPTION_FLAG, AT(strict), 0,
	 "exit 125 if anything wanted was not collected"},
	{'q', "quiet", NULL, COMMAND_RUN | COMMAND_MERGE | COMMAND_EXPORT, OPTION_FLAG, AT(quiet), 0, "no summary at the end"},
	{'k', "kernel", "PATTERN", PRINTING | COMMAND_EXPORT, OPTION_LIST, AT(kernels), 0,
	 "names only that match: word = substring; regex: glob: exact: ! before excludes"},
	{'k', "kernel", "PATTERN", COMMAND_RUN, OPTION_LIST, AT(kernels), 0,
	 "kernels only that match: word = substring, so 'scale' also takes C++ names (seen mangled, _Z5scalePf); regex: glob: exact: ! before excludes"},
	{0, "range", "PATTERN", COMMAND_RUN, OPTION_LIST, AT(ranges), 0,
	 "only inside of ranges (rocTX, NVTX, cuProfilerStart, retally.h) whose name matches, as with -k; with --replay range those are counted"},
	{0, "by", "WHAT", COMMAND_REPORT, OPTION_STRING, AT(by), 0,
	 "kernel (default), dispatch, pass, rank, window, or reason (of what was declined)"},
	{0, "wide", NULL, COMMAND_REPORT, OPTION_FLAG, AT(wide), 0,
	 "--by dispatch: a row each, its values in columns (as text the default for up to 8 values)"},
	{0, "long", NULL, COMMAND_REPORT, OPTION_FLAG, AT(longer), 0,
	 "--by dispatch: a row for each value of each execution (the default of csv and json)"},
	{0, "wide", NULL, COMMAND_EXPORT, OPTION_FLAG, AT(wide), 0,
	 "csv, omniperf: a row a dispatch, its values in columns (the default of omniperf)"},
	{0, "long", NULL, COMMAND_EXPORT, OPTION_FLAG, AT(longer), 0,
	 "csv, omniperf: a row a value (the default of csv, there for each execution)"},
	{0, "kernel-name", "HOW", COMMAND_REPORT, OPTION_STRING, AT(kernel_name), 0,
	 "C++ kernels: full (default), short, or mangled"},
	{0, "format", "FORMAT", COMMAND_LIST | COMMAND_DIFF, OPTION_FORMAT, 0, FORMAT_JSON,
	 "table (default), csv or json"},
	{0, "format", "FORMAT", COMMAND_REPORT, OPTION_FORMAT, 0, FORMAT_HTML,
	 "table (default), csv, json, or html: a page with charts, in one file for a browser"},
	{0, "units", "HOW", COMMAND_REPORT | COMMAND_DIFF, OPTION_STRING, AT(units), 0,
	 "auto (default) or base: plain numbers"},
	{0, "ratio", "HOW", COMMAND_REPORT, OPTION_STRING, AT(ratio), 0,
	 "metrics over several dispatches: of the sums (default), or the mean of each one's"},
	{'h', "help", NULL, ALL, OPTION_FLAG, AT(help), 0, "this help"},
	/* Not offered. */
	{'a', "all-cpus", NULL, COMMAND_RUN, OPTION_REFUSED, 0, 0,
	 "retally counts programs, not whole machines; use `perf stat -a`"},
	{'I', "interval-print", "MS", COMMAND_RUN, OPTION_REFUSED, 0, 0,
	 "retally does not print intervals; use `perf stat -I`"},
	{0, "pc-sampling", NULL, COMMAND_RUN, OPTION_REFUSED, 0, 0,
	 "retally does not sample program counters; use `perf record`, `ncu` or `rocprofv3`"},
	{0, "source-view", NULL, COMMAND_REPORT, OPTION_REFUSED, 0, 0,
	 "retally has no source view; use `perf annotate` or `ncu --page source`"},
};
/* clang-format on */
#define TABLE_SIZE (sizeof(table) / sizeof(*table))

static int option_pass(struct options *o, const char *text, struct error *err)
{
	char *end;
	unsigned long k, p = 0;

	errno = 0;
	k = strtoul(text, &end, 10);
	if (*text >= '0' && *text <= '9' && *end == '/' && end[1] >= '0' && end[1] <= '9') {
		p = strtoul(end + 1, &end, 10);
		if (!p)
			k = 0;
	}
	if (errno || *text < '0' || *text > '9' || *end || !k || k > UINT_MAX || p > UINT_MAX)
		return error_set(err, RC_INVALID,
				 "--pass: '%s' is not a pass number K or K/P; passes start at 1",
				 text);
	if (p && k > p)
		return error_set(err, RC_INVALID, "--pass: there is no pass %lu of %lu", k, p);
	o->pass = (uint32_t)k;
	o->of_total = (uint32_t)p;
	return 0;
}

static int option_format(struct options *o, const struct option_def *d, const char *text,
			 struct error *err)
{
	static const char *const names[] = {"table", "csv", "json", "html"};

	for (size_t i = 0; i <= (size_t)d->extra; i++)
		if (!strcmp(text, names[i])) {
			o->format = (enum output_format)i;
			return 0;
		}
	return error_set(err, RC_INVALID, "--format: '%s' is not table, csv%s", text,
			 d->extra == FORMAT_HTML ? ", json or html" : " or json");
}

/* Digits only: strtoull would take blanks and a minus sign. */
static bool read_digits(const char *text, uint64_t *number_out, const char **end_out)
{
	uint64_t n = 0;
	const char *c = text;

	for (; *c >= '0' && *c <= '9'; c++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*c - '0'), &n))
			return false;
	*number_out = n;
	*end_out = c;
	return c > text;
}

static int option_number(struct options *o, const struct option_def *d, const char *text,
			 struct error *err)
{
	uint64_t *to = (uint64_t *)(void *)((char *)o + d->offset);
	const char *end;

	if (read_digits(text, to, &end) && !*end && *to >= (uint64_t)d->extra)
		return 0;
	return error_set(err, RC_INVALID, "--%s: '%s' is not a number from %d", d->name, text,
			 d->extra);
}

static int option_size(struct options *o, const struct option_def *d, const char *text,
		       struct error *err)
{
	static const char units[] = "KMGT";
	uint64_t *to = (uint64_t *)(void *)((char *)o + d->offset);
	const char *end, *unit = NULL;
	bool good = read_digits(text, to, &end) && *to;

	if (good && *end) {
		unit = strchr(units, *end);
		good = unit && !end[1] &&
		       !__builtin_mul_overflow(*to, 1ull << (10 * (unit - units + 1)), to);
	}
	if (good)
		return 0;
	return error_set(err, RC_INVALID,
			 "--%s: '%s' is not a size above 0 in bytes, with K, M, G or T for powers "
			 "of 1024",
			 d->name, text);
}

/* A percentage with up to four decimals, into millionths. */
static int option_precision(struct options *o, const char *text, struct error *err)
{
	uint64_t whole = 0, part = 0;
	const char *end = text, *digits;
	bool good = read_digits(text, &whole, &end);
	ptrdiff_t n = 0;

	if (good && *end == '.') {
		digits = end + 1;
		good = read_digits(digits, &part, &end);
		n = end - digits;
	}
	if (good && n <= 4 && whole < 100 && !strcmp(end, "%")) {
		for (; n < 4; n++)
			part *= 10;
		o->until = (uint32_t)(whole * 10000 + part);
		if (o->until)
			return 0;
	}
	return error_set(
		err, RC_INVALID,
		"--until: '%s' is not a percentage above 0 %% and below 100 %%, such as 1%% "
		"or 0.5%%",
		text);
}

static int option_apply(struct options *o, const struct option_def *d, const char *text,
			struct error *err)
{
	struct option_list *list;
	char *end = NULL;
	bool pushed = true;

	switch (d->kind) {
	case OPTION_FLAG:
		*(bool *)(void *)((char *)o + d->offset) = true;
		return 0;
	case OPTION_STRING:
		*(const char **)(void *)((char *)o + d->offset) = text;
		return 0;
	case OPTION_SELECTION:
		if (!text[strspn(text, ", \t\n")])
			return error_set(err, RC_INVALID, "--%s: an empty list", d->name);
		pushed = vec_push(&o->selection,
				  ((struct option_selection){.kind = d->extra, .text = text}));
		break;
	case OPTION_LIST:
		list = (struct option_list *)(void *)((char *)o + d->offset);
		pushed = vec_push(list, text);
		break;
	case OPTION_PASS:
		return option_pass(o, text, err);
	case OPTION_NODES:
		errno = 0;
		o->max_nodes = strtoull(text, &end, 10);
		if (errno || *end || *text < '0' || *text > '9' || !o->max_nodes)
			return error_set(err, RC_INVALID,
					 "--max-nodes: '%s' is not a number above 0", text);
		return 0;
	case OPTION_SEED:
		errno = 0;
		o->seed = strtoull(text, &end, 10);
		if (errno || *end || *text < '0' || *text > '9')
			return error_set(err, RC_INVALID, "--seed: '%s' is not a number from 0",
					 text);
		o->has_seed = true;
		return 0;
	case OPTION_FACTOR:
		o->pass_timeout = strtod(text, &end);
		if (end == text || *end || !(o->pass_timeout >= 1 && o->pass_timeout <= 1e6))
			return error_set(err, RC_INVALID,
					 "--pass-timeout: '%s' is not a factor from 1 to 1000000",
					 text);
		return 0;
	case OPTION_NUMBER:
		return option_number(o, d, text, err);
	case OPTION_SIZE:
		return option_size(o, d, text, err);
	case OPTION_PRECISION:
		return option_precision(o, text, err);
	case OPTION_WAIT:
		o->mpi_wait = strtod(text, &end);
		if (end == text || *end || !(o->mpi_wait > 0 && o->mpi_wait <= 1e6))
			return error_set(err, RC_INVALID,
					 "--mpi-wait: '%s' is not a number of seconds up to "
					 "1000000",
					 text);
		return 0;
	case OPTION_FORMAT:
		return option_format(o, d, text, err);
	case OPTION_REFUSED:
		return error_set(err, RC_INVALID, "--%s: %s", d->name, d->help);
	}
	return pushed ? 0 : error_set(err, RC_NO_MEMORY, "out of memory");
}

static const struct option_def *option_by_letter(unsigned command, int letter)
{
	for (size_t i = 0; i < TABLE_SIZE; i++)
		if (table[i].letter == letter && (table[i].commands & command))
			return &table[i];
	return NULL;
}

/* Getopt's own messages name a program, not a reason; so it is told to be quiet. */
static int option_complain(unsigned command, int code, char **argv, int at, struct error *err)
{
	const char *word = at > 0 ? argv[at] : "";
	const struct option_def *d = NULL;

	if (code == ':')
		return error_set(err, RC_INVALID, "option '%s' needs a value", word);
	if (word[0] == '-' && word[1] == '-')
		for (size_t i = 0; i < TABLE_SIZE && !d; i++)
			if (!strncmp(table[i].name, word + 2, strcspn(word + 2, "=")) &&
			    strlen(table[i].name) == strcspn(word + 2, "="))
				d = &table[i];
	if (d && !(d->commands & command))
		return error_set(err, RC_INVALID, "option '%s' does not belong to this command",
				 word);
	if (d && !d->argument)
		return error_set(err, RC_INVALID, "option '--%s' takes no value", d->name);
	if (word[0] == '-' && word[1] != '-' && optopt)
		return error_set(err, RC_INVALID, "unknown option '-%c'; see --help", optopt);
	return error_set(err, RC_INVALID, "unknown option '%s'; see --help", word);
}

int options_parse(struct options *o, unsigned command, int argc, char **argv, struct error *err)
{
	struct option longs[TABLE_SIZE + 1];
	/* What follows the program is the program's; the other commands take options anywhere. */
	bool ends_at_word = command & SELECTING;
	char shorts[2 * TABLE_SIZE + 4] = "+:";
	size_t n = 0, s = 2;
	int c, at = 0, which, rc;

	*o = (struct options){0};
	memset(longs, 0, sizeof(longs));
	for (size_t i = 0; i < TABLE_SIZE; i++) {
		if (!(table[i].commands & command))
			continue;
		longs[n].name = table[i].name;
		longs[n].has_arg = table[i].argument ? required_argument : no_argument;
		longs[n++].val = 256 + (int)i;
		if (table[i].letter) {
			shorts[s++] = table[i].letter;
			if (table[i].argument)
				shorts[s++] = ':';
		}
	}
	shorts[s] = '\0';
	opterr = 0;
	optind = 0; /* glibc: start afresh */
	for (;;) {
		const struct option_def *d;

		at = optind ? optind : 1;
		c = getopt_long(argc, argv, ends_at_word ? shorts : shorts + 1, longs, &which);
		if (c == -1)
			break;
		if (c == '?' || c == ':') {
			rc = option_complain(command, c, argv, at < argc ? at : argc - 1, err);
			options_release(o);
			return rc;
		}
		d = c >= 256 ? &table[c - 256] : option_by_letter(command, c);
		rc = option_apply(o, d, optarg, err);
		if (rc) {
			options_release(o);
			return rc;
		}
	}
	if (o->json)
		o->format = FORMAT_JSON;
	o->argc = argc - optind;
	o->argv = argv + optind;
	return 0;
}

void options_release(struct options *o)
{
	vec_release(&o->selection);
	vec_release(&o->metrics_files);
	vec_release(&o->kernels);
	vec_release(&o->ranges);
}

bool options_next(unsigned command, size_t *at, struct option_info *info_out)
{
	while (*at < TABLE_SIZE) {
		const struct option_def *d = &table[(*at)++];

		if (!(d->commands & command) || d->kind == OPTION_REFUSED)
			continue;
		*info_out = (struct option_info){d->letter, d->name, d->help, d->argument};
		return true;
	}
	return false;
}

void options_print_help(FILE *out, unsigned command)
{
	struct option_info d;

	for (size_t at = 0; options_next(command, &at, &d);) {
		char left[64];

		snprintf(left, sizeof(left), "%c%c%s --%s%s%s", d.letter ? '-' : ' ',
			 d.letter ? d.letter : ' ', d.letter ? "," : " ", d.name,
			 d.argument ? " " : "", d.argument ? d.argument : "");
		fprintf(out, "  %-28s %s\n", left, d.help);
	}
}

void options_names(const struct options *o, char kind, struct str *list)
{
	for (size_t i = 0; i < o->selection.n; i++)
		if (o->selection.items[i].kind == kind)
			str_addf(list, "%s%s", list->size ? "," : "", o->selection.items[i].text);
}

int options_base_units(const struct options *o, bool *base_out, struct error *err)
{
	*base_out = o->units && !strcmp(o->units, "base");
	if (!o->units || *base_out || !strcmp(o->units, "auto"))
		return 0;
	return error_set(err, RC_INVALID, "--units: '%s' is not auto or base", o->units);
}

static int compare_selection(const void *a, const void *b)
{
	const struct option_selection *x = a, *y = b;

	return x->kind != y->kind ? x->kind - y->kind : strcmp(x->text, y->text);
}

char *options_selection_text(const struct options *o)
{
	struct str s = STR_INIT;
	struct option_selection *sorted;
	size_t n = o->selection.n;

	if (!n) {
		str_add(&s, "--set default");
		return str_take(&s);
	}
	sorted = malloc(n * sizeof(*sorted));
	if (!sorted)
		return NULL;
	memcpy(sorted, o->selection.items, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_selection);
	for (size_t i = 0; i < n; i++)
		str_addf(&s, "%s%s %s", i ? " " : "",
			 sorted[i].kind == 's'   ? "--set"
			 : sorted[i].kind == 'm' ? "-m"
						 : "-e",
			 sorted[i].text);
	free(sorted);
	return str_take(&s);
}
