/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of options for every command: it drives parsing, `--help`, and the generated option
 * lists. An option belongs to the commands in its mask. Strings point into argv and live as long as
 * it does.
 */
#ifndef RETALLY_CLI_OPTIONS_H
#define RETALLY_CLI_OPTIONS_H

#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum command_mask {
	COMMAND_RUN = 1 << 0,
	COMMAND_PLAN = 1 << 1,
	COMMAND_LIST = 1 << 2,
	COMMAND_REPORT = 1 << 3,
	COMMAND_DOCTOR = 1 << 4,
	COMMAND_MERGE = 1 << 5,
	COMMAND_EXPORT = 1 << 6,
	COMMAND_DIFF = 1 << 7,
};

enum output_format {
	FORMAT_TABLE,
	FORMAT_CSV,
	FORMAT_JSON,
	FORMAT_HTML /* of report */
};

/* A selection option as given: they are applied in this order, though the result does not depend on
 * it. */
struct option_selection {
	char kind; /* 'm' metrics, 'e' counters, 's' set */
	const char *text;
};

struct option_list { /* a vector, see base/vec.h */
	const char **items;
	size_t n, capacity;
};

struct options {
	VEC(struct option_selection) selection;
	struct option_list metrics_files;
	struct option_list kernels; /* -k, may be repeated */
	const char *engine;         /* own, sdk */
	struct option_list ranges;  /* --range, may be repeated */
	const char *source;
	const char *chip;
	const char *output; /* -o */
	const char *explain;
	const char *replay;
	const char *verify;
	const char *cache;
	uint64_t window, repeat, launch_skip, launch_count, max_snapshot; /* 0: not given */
	const char *by;
	const char *to;          /* --to of export */
	const char *kernel_name; /* how they are shown */
	const char *units;
	const char *ratio;
	bool wide, longer;  /* layout of --by dispatch, and of export */
	uint32_t pass;      /* 0: all */
	uint32_t of_total;  /* P of --pass K/P, 0 when not given */
	uint64_t max_nodes; /* 0: default */
	const char *distribute;
	const char *launcher; /* --launcher: auto, yes, no */
	const char *plan;     /* --plan */
	const char *join;
	bool has_seed;
	uint64_t seed;
	uint32_t until; /* --until, in millionths; 0: not given */
	const char *mpi;
	double mpi_wait;     /* seconds, 0: default */
	double pass_timeout; /* multiple of pass 1's time, 0: default */
	enum output_format format;
	bool count, json, diff, no_anchors;
	bool fixed_seed;
	bool no_aslr, chdir_per_pass, keep_going, strict, quiet;
	bool help;
	/* What follows the options. */
	int argc;
	char **argv;
};

/* Parses argv[1..] of one command (argv[0] is its name). RC_INVALID with one sentence; a name from
 * another tool that retally does not offer is answered with the better tool. */
int options_parse(struct options *o, unsigned command, int argc, char **argv, struct error *err);
void options_release(struct options *o);
/* One option of a command as people see it; those that are refused by name are left out. */
struct option_info {
	char letter; /* 0: none */
	const char *name, *help;
	const char *argument; /* NULL: takes none */
};
/* The options of a command one by one: begin with *at 0. False at the end. */
bool options_next(unsigned command, size_t *at, struct option_info *info_out);
/* The option list of a command, one line each. */
void options_print_help(FILE *out, unsigned command);
/* Appends all names of one kind of selection ('m', 'e'), with commas. */
struct str;
void options_names(const struct options *o, char kind, struct str *list);
/* --units: auto or base. */
int options_base_units(const struct options *o, bool *base_out, struct error *err);
/* Canonical text of the selection, for the plan file: "-m ipc -e cycles --set default". */
char *options_selection_text(const struct options *o);

#endif
