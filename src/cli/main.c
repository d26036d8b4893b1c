/* SPDX-License-Identifier: Apache-2.0 */
/* The command: picks the sub-command. */
#include "config.h"

#include "base/log.h"
#include "cli/command.h"
#include "cli/command_list.h"
#include "cli/options.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct command {
	const char *name;
	unsigned mask;
	int (*run)(int argc, char **argv);
	const char *synopsis, *help;
};

static const struct command commands[] = {
#define X(name, mask, synopsis, help) {#name, mask, cmd_##name, synopsis, help},
	COMMANDS(X)
#undef X
};

/* Known names of other tools' commands, or of ones that people try first. */
static const char *const hints[][2] = {
	{"profile", "retally run"},    {"record", "retally run"},  {"stat", "retally run"},
	{"analyze", "retally report"}, {"show", "retally report"},
};

void command_findings(const struct store *store, const char *dir)
{
	size_t n = 0;
	const struct store_finding *f = store_findings(store, &n);

	for (size_t i = 0; i < n; i++) {
		if (!f[i].from_program)
			fprintf(stderr, "retally: %s: %s\n", dir, f[i].text);
	}
}

int command_fail(int status, const struct error *err)
{
	fprintf(stderr, "retally: error: %s\n", err->message);
	return status;
}

bool command_begin(struct options *o, unsigned command, int argc, char **argv, int failed,
		   const char *more, int *status_out)
{
	struct error err = {0};

	if (options_parse(o, command, argc, argv, &err)) {
		*status_out = command_fail(failed, &err);
		return false;
	}
	if (!o->help)
		return true;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (commands[i].mask == command)
			printf("usage: retally %s %s\n", commands[i].name, commands[i].synopsis);
	printf("%s\n", more ? more : "");
	options_print_help(stdout, command);
	options_release(o);
	*status_out = EXIT_FINE;
	return false;
}

static void print_help(FILE *out)
{
	fputs("retally collects more hardware counters than the hardware has slots for,\n"
	      "by running the same work once per pass.\n\n"
#define X(name, mask, synopsis, help) "  retally " #name " " synopsis "\n"
	      COMMANDS(X)
#undef X
		      "\n",
	      out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\n`retally COMMAND --help` lists its options.\n", out);
}

/* A standard descriptor that is closed would become the first file that is opened, and what is
 * printed land in that. Each is made one that cannot be used; `run` has its own way, for it hands
 * on what it was given. */
static void fill_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			return;
}

/* What was printed has to have arrived: a full disk is neither a success nor an answer. */
static int check_output(int status)
{
	struct error err = {0};

	errno = 0;
	if ((!fflush(stdout) && !ferror(stdout)) || status > EXIT_NEGATIVE)
		return status;
	error_set_errno(&err, RC_IO, errno ? errno : EIO, "cannot write to standard output");
	return command_fail(EXIT_USAGE, &err);
}

static int run_command(int argc, char **argv)
{
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return EXIT_FINE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("retally " RETALLY_VERSION);
		return EXIT_FINE;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
		if (!strcmp(argv[1], hints[i][0])) {
			fprintf(stderr, "retally: error: there is no command '%s'; use `%s`\n",
				argv[1], hints[i][1]);
			return EXIT_USAGE;
		}
	fprintf(stderr, "retally: error: there is no command '%s'; see `retally --help`\n",
		argv[1]);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	log_is_on("cli", LOG_ERROR); /* says at once what is wrong with RETALLY_LOG */
	if (strcmp(argv[1], "run") != 0)
		fill_standard_descriptors();
	return check_output(run_command(argc, argv));
}
