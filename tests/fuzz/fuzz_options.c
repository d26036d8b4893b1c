/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines: the first byte chooses the command, the rest is its arguments, separated by
 * newlines. */
#include "cli/options.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned commands[] = {COMMAND_RUN, COMMAND_PLAN, COMMAND_LIST, COMMAND_REPORT,
					    COMMAND_DOCTOR};
	char name[] = "command", *argv[ARGUMENTS_MAX + 2] = {name}, *text, *at;
	struct options o;
	struct error err = {0};
	int argc = 1;

	if (!size)
		return 0;
	text = calloc(1, size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	for (at = text; at && argc <= ARGUMENTS_MAX;)
		argv[argc++] = strsep(&at, "\n");
	if (options_parse(&o, commands[data[0] % 5], argc, argv, &err)) {
		fuzz_assert(err.code && *err.message);
	} else {
		char *selection = options_selection_text(&o);

		fuzz_assert(o.argc >= 0 && o.argc < argc && o.argv + o.argc == argv + argc);
		fuzz_assert(!o.of_total || (o.pass && o.pass <= o.of_total));
		fuzz_assert(selection && *selection);
		free(selection);
		options_release(&o);
	}
	free(text);
	return 0;
}
