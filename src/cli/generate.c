/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the build: writes man pages and shell completions from the table of commands and
 * that of options, so that they say what --help says.
 *
 * generate man VERSION [COMMAND [PROSE]]     PROSE: a file in man format, put after the synopsis
 * generate bash|zsh|fish
 */
#include "cli/command_list.h"
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned mask;
	const char *synopsis, *help;
} commands[] = {
#define X(name, mask, synopsis, help) {#name, mask, synopsis, help},
	COMMANDS(X)
#undef X
};
#define N_COMMANDS (sizeof(commands) / sizeof(*commands))

/* ---- man ---- */

static void man_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else
			putchar(*text);
	}
}

static void man_head(const char *title, const char *version, const char *help)
{
	printf(".TH %s 1 \"\" \"retally %s\" \"retally\"\n.SH NAME\n", title, version);
	man_text(title);
	fputs(" \\- ", stdout);
	man_text(help);
	puts("");
}

static int man_prose(const char *path)
{
	FILE *f = path ? fopen(path, "re") : NULL;
	int c;

	if (!f)
		return path != NULL;
	while ((c = getc(f)) != EOF)
		putchar(c);
	return fclose(f);
}

static void man_options(unsigned mask)
{
	struct option_info o;

	puts(".SH OPTIONS");
	for (size_t at = 0; options_next(mask, &at, &o);) {
		fputs(".TP\n", stdout);
		if (o.letter)
			printf("\\fB\\-%c\\fR, ", o.letter);
		fputs("\\fB\\-\\-", stdout);
		man_text(o.name);
		fputs("\\fR", stdout);
		if (o.argument)
			printf(" \\fI%s\\fR", o.argument);
		puts("");
		man_text(o.help);
		puts("");
	}
}

static int man_command(const char *version, const char *name, const char *prose)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		char title[40];

		if (strcmp(commands[i].name, name) != 0)
			continue;
		snprintf(title, sizeof(title), "retally-%s", name);
		man_head(title, version, commands[i].help);
		printf(".SH SYNOPSIS\n\\fBretally %s\\fR ", name);
		man_text(commands[i].synopsis);
		puts("");
		if (man_prose(prose)) {
			perror(prose);
			return 1;
		}
		man_options(commands[i].mask);
		puts(".SH SEE ALSO\n.BR retally (1)");
		return 0;
	}
	fprintf(stderr, "generate: there is no command '%s'\n", name);
	return 1;
}

static int man_overview(const char *version)
{
	man_head("retally", version, "more hardware counters than the hardware has slots for");
	puts(".SH SYNOPSIS\n\\fBretally\\fR COMMAND [options]\n.SH DESCRIPTION\n"
	     "Runs the same work again, once per pass, each pass with other counters, and joins\n"
	     "the passes into one table. Each command has a page of its own.\n.SH COMMANDS");
	for (size_t i = 0; i < N_COMMANDS; i++) {
		printf(".TP\n.BR retally\\-%s (1)\n", commands[i].name);
		man_text(commands[i].help);
		puts("");
	}
	return 0;
}

/* ---- completions ---- */

static void bash_options(unsigned mask)
{
	struct option_info o;

	for (size_t at = 0; options_next(mask, &at, &o);) {
		if (o.letter)
			printf(" -%c", o.letter);
		printf(" --%s", o.name);
	}
}

static void bash(void)
{
	puts("# bash completion of retally; written by the build\n_retally() {\n"
	     "\tlocal word=${COMP_WORDS[COMP_CWORD]} options=\n\tCOMPREPLY=()\n"
	     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then");
	fputs("\t\toptions='--help --version", stdout);
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf(" %s", commands[i].name);
	puts("'\n\telse\n\t\tcase ${COMP_WORDS[1]} in");
	for (size_t i = 0; i < N_COMMANDS; i++) {
		printf("\t\t%s) options='", commands[i].name);
		bash_options(commands[i].mask);
		puts("' ;;");
	}
	puts("\t\tesac\n\t\t[[ $word == -* ]] || options=\n\tfi\n"
	     "\t[ -z \"$options\" ] || mapfile -t COMPREPLY < <(compgen -W \"$options\" -- "
	     "\"$word\")\n"
	     "}\ncomplete -o default -F _retally retally");
}

/* Within single quotes; ':' and brackets have a meaning in zsh's descriptions. */
static void quoted(const char *text, bool zsh)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs(zsh ? "'\\''" : "\\'", stdout);
		else if (zsh && strchr("[]:", *text))
			printf("\\%c", *text);
		else if (!zsh && *text == '\\')
			fputs("\\\\", stdout);
		else
			putchar(*text);
	}
}

static void zsh_options(unsigned mask)
{
	struct option_info o;

	for (size_t at = 0; options_next(mask, &at, &o);) {
		for (int form = o.letter ? 0 : 1; form < 2; form++) {
			if (form)
				printf(" \\\n\t\t\t'*--%s[", o.name);
			else
				printf(" \\\n\t\t\t'*-%c[", o.letter);
			quoted(o.help, true);
			putchar(']');
			if (o.argument) {
				putchar(':');
				quoted(o.argument, true);
				fputs(":_files", stdout);
			}
			putchar('\'');
		}
	}
}

static void zsh(void)
{
	puts("#compdef retally\n# written by the build\n_retally() {\n\tlocal -a commands\n"
	     "\tcommands=(");
	for (size_t i = 0; i < N_COMMANDS; i++) {
		printf("\t\t'%s:", commands[i].name);
		quoted(commands[i].help, true);
		puts("'");
	}
	puts("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command "
	     "commands\n\t\treturn\n\tfi\n"
	     "\tlocal command=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $command in");
	for (size_t i = 0; i < N_COMMANDS; i++) {
		printf("\t%s)\n\t\t_arguments", commands[i].name);
		zsh_options(commands[i].mask);
		puts(" \\\n\t\t\t'*:argument:_files' ;;");
	}
	puts("\tesac\n}\n_retally \"$@\"");
}

static void fish(void)
{
	puts("# fish completion of retally; written by the build");
	for (size_t i = 0; i < N_COMMANDS; i++) {
		struct option_info o;

		printf("complete -c retally -n __fish_use_subcommand -f -a %s -d '",
		       commands[i].name);
		quoted(commands[i].help, false);
		puts("'");
		for (size_t at = 0; options_next(commands[i].mask, &at, &o);) {
			printf("complete -c retally -n '__fish_seen_subcommand_from %s'",
			       commands[i].name);
			if (o.letter)
				printf(" -s %c", o.letter);
			printf(" -l %s%s -d '", o.name, o.argument ? " -r" : "");
			quoted(o.help, false);
			puts("'");
		}
	}
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc == 3 && !strcmp(argv[1], "man"))
		status = man_overview(argv[2]);
	else if (argc >= 4 && !strcmp(argv[1], "man"))
		status = man_command(argv[2], argv[3], argc > 4 ? argv[4] : NULL);
	else if (argc == 2 && !strcmp(argv[1], "bash"))
		bash();
	else if (argc == 2 && !strcmp(argv[1], "zsh"))
		zsh();
	else if (argc == 2 && !strcmp(argv[1], "fish"))
		fish();
	else
		status = 2;
	return fflush(stdout) ? 1 : status;
}
