/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands, once: for `retally --help`, the man pages and the completions. A row is name, mask
 * in the option table, what follows the name, and one line of help.
 */
#ifndef RETALLY_CLI_COMMAND_LIST_H
#define RETALLY_CLI_COMMAND_LIST_H

#define COMMANDS(X)                                                              \
	X(run, COMMAND_RUN, "[selection] [options] [--] PROGRAM [ARGUMENT...]",  \
	  "run a program once per pass and collect its counters")                \
	X(plan, COMMAND_PLAN, "[selection] [--chip NAME] [--] [PROGRAM]",        \
	  "how many passes a selection needs, and what forces them")             \
	X(list, COMMAND_LIST, "sources|chips|counters|metrics|sets [options]",   \
	  "sources, chips, counters, metrics, sets")                             \
	X(report, COMMAND_REPORT, "[DIR] [options]",                             \
	  "what was collected, as a table, CSV or JSON")                         \
	X(merge, COMMAND_MERGE, "DIR... -o OUT",                                 \
	  "several run directories of one collection into one")                  \
	X(export, COMMAND_EXPORT, "DIR --to omniperf|csv|perfetto|rocpd -o OUT", \
	  "what was collected, in the formats of other tools")                   \
	X(diff, COMMAND_DIFF, "A B [options]",                                   \
	  "which values of two runs differ by more than their spread")           \
	X(doctor, COMMAND_DOCTOR, "[PROGRAM]",                                   \
	  "what this machine can count, and what to change where it cannot")

#endif
