/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over files and over the files in folders, in the order of their names; speaks
 * TAP. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int n_run;

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *data = NULL;
	size_t size;
	int rc = -1;

	if (f && !fstat(fileno(f), &st)) {
		size = (size_t)st.st_size;
		data = malloc(size ? size : 1); /* the very size, for the sanitizers */
		if (data && fread(data, 1, size, f) == size) {
			LLVMFuzzerTestOneInput(data, size);
			rc = 0;
		}
	}
	free(data);
	if (f)
		fclose(f);
	printf("%sok %d - %s\n", rc ? "not " : "", ++n_run, path);
	fflush(stdout);
	return rc;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int run_dir(const char *path)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, is_visible, alphasort), rc = n > 0 ? 0 : -1;
	char name[4096];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
		if (run_file(name))
			rc = -1;
		free(entries[i]);
	}
	free(entries);
	return rc;
}

int main(int argc, char **argv)
{
	struct stat st;
	int rc = argc > 1 ? 0 : 1;

	for (int i = 1; i < argc; i++) {
		if (!stat(argv[i], &st) && S_ISDIR(st.st_mode))
			rc |= run_dir(argv[i]) ? 1 : 0;
		else
			rc |= run_file(argv[i]) ? 1 : 0;
	}
	printf("1..%d\n", n_run);
	return rc;
}
