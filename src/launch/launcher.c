/* SPDX-License-Identifier: Apache-2.0 */
/* Telling a launcher's command line from others, and handing on how the ranks are counted. */
#include "launch/launcher.h"

#include "base/str.h"
#include "wire/launcher_names.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEPARATOR '\037'

bool launcher_starts(char *const *argv)
{
	const char *slash = strrchr(argv[0], '/');

	return launcher_is_command(slash ? slash + 1 : argv[0]);
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

char *launcher_application(char *const *argv)
{
	const char *path = getenv("PATH");

	for (size_t i = 1; argv[i]; i++) {
		const char *word = argv[i], *at = path ? path : "/usr/local/bin:/usr/bin:/bin";

		if (!*word || *word == '-')
			continue;
		if (strchr(word, '/')) {
			if (is_program(word))
				return strdup(word);
			continue;
		}
		for (;;) {
			size_t n = strcspn(at, ":");
			char *full = NULL;

			if (asprintf(&full, "%.*s/%s", n ? (int)n : 1, n ? at : ".", word) < 0)
				return NULL;
			if (is_program(full))
				return full;
			free(full);
			if (!at[n])
				break;
			at += n + 1;
		}
		/* hydra looks in the working directory, too */
		if (is_program(word)) {
			char *here = NULL;

			return asprintf(&here, "./%s", word) < 0 ? NULL : here;
		}
	}
	return NULL;
}

static void add_word(struct str *s, const char *word)
{
	if (s->size)
		str_add_char(s, SEPARATOR);
	str_add(s, word);
}

/* -o takes a template, in which a percent sign is written twice. */
static void add_template(struct str *s, const char *path)
{
	str_add_char(s, SEPARATOR);
	for (; *path; path++) {
		str_add_char(s, *path);
		if (*path == '%')
			str_add_char(s, '%');
	}
}

static int set_preload(const char *library, struct error *err)
{
	const char *before = getenv("LD_PRELOAD");
	struct str text = STR_INIT;
	int rc = 0;

	if (strpbrk(library, " :"))
		return error_set(err, RC_INVALID,
				 "'%s' has a blank or a colon in its path and cannot be preloaded "
				 "into the ranks",
				 library);
	if (access(library, R_OK))
		return error_set(err, RC_NOT_FOUND,
				 "'%s' cannot be read; it is needed to count the ranks that a "
				 "launcher starts (RETALLY_LIBRARY names another place)",
				 library);
	str_addf(&text, "%s%s%s", library, before && *before ? ":" : "", before ? before : "");
	if (str_is_failed(&text) || setenv("LD_PRELOAD", str_text(&text), 1))
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
	str_release(&text);
	return rc;
}

int launcher_prepare(const struct launcher_request *q, struct error *err)
{
	const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
	char *directory = realpath(q->directory, NULL), slurm[128];
	struct str args = STR_INIT, plan = STR_INIT;
	int rc = 0;

	if (!directory)
		return error_set(err, RC_IO, "cannot find the path of '%s'", q->directory);
	str_addf(&plan, "%s/plan.json", directory);
	add_word(&args, "run");
	add_word(&args, "-q");
	add_word(&args, "--launcher=no");
	add_word(&args, "--join");
	add_word(&args, q->collection);
	add_word(&args, "--plan");
	add_word(&args, str_text(&plan));
	add_word(&args, "-o");
	add_template(&args, directory);
	if (q->seed) {
		add_word(&args, "--seed");
		add_word(&args, q->seed);
	}
	if (q->distribute) {
		add_word(&args, "--distribute");
		add_word(&args, q->distribute);
	} else {
		add_word(&args, "--pass"); /* the number is that of the launch, in RETALLY_PASS */
	}
	snprintf(slurm, sizeof(slurm), "%.60s.%.60s", job ? job : "", step ? step : "");
	if (str_is_failed(&args) || str_is_failed(&plan) ||
	    setenv(LAUNCHER_COMMAND, q->command, 1) || setenv(LAUNCHER_ARGS, str_text(&args), 1) ||
	    setenv(LAUNCHER_STEP, slurm, 1))
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
	if (!rc)
		rc = set_preload(q->library, err);
	str_release(&args);
	str_release(&plan);
	free(directory);
	return rc;
}

void launcher_end(const char *library)
{
	const char *preload = getenv("LD_PRELOAD");
	size_t n = strlen(library);

	unsetenv(LAUNCHER_COMMAND);
	unsetenv(LAUNCHER_ARGS);
	unsetenv(LAUNCHER_STEP);
	if (!preload || strncmp(preload, library, n) != 0)
		return;
	if (preload[n] == ':') {
		char *rest = strdup(preload + n + 1);

		if (rest)
			setenv("LD_PRELOAD", rest, 1);
		free(rest);
	} else if (!preload[n]) {
		unsetenv("LD_PRELOAD");
	}
}
