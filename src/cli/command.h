/* SPDX-License-Identifier: Apache-2.0 */
/* The commands. Each gets its own argv (argv[0] is its name) and returns the exit status. */
#ifndef RETALLY_CLI_COMMAND_H
#define RETALLY_CLI_COMMAND_H

#include "base/error.h"

#include <stdbool.h>

/* Statuses of the commands other than run: 0, 1 (the answer is negative), 2 (wrong usage or input).
 */
enum exit_status {
	EXIT_FINE = 0,
	EXIT_NEGATIVE = 1,
	EXIT_USAGE = 2,
	EXIT_RETALLY_FAILED = 125, /* run: retally itself failed */
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_PROGRAM_NOT_FOUND = 127,
};

int cmd_run(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

struct options;
/* The options of a command. False: it is over, with this status: --help was answered (more: lines
 * after the usage, or NULL), or the options are wrong (failed). True: options_release is to follow.
 */
bool command_begin(struct options *o, unsigned command, int argc, char **argv, int failed,
		   const char *more, int *status_out);
/* "retally: error: <message>" on stderr; returns status. */
int command_fail(int status, const struct error *err);
struct store;
/* What was wrong with the data of DIR when it was read, on stderr: "retally: DIR: <finding>". */
void command_findings(const struct store *store, const char *dir);

#endif
