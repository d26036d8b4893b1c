/* SPDX-License-Identifier: Apache-2.0 */
/* Which AMD GPU is here: the amdkfd driver describes its nodes in sysfs. */
#include "source/rocm/rocm_host.h"

#include "source/rocm/rocm_api.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOPOLOGY "/sys/class/kfd/kfd/topology"

void rocm_host_chip_name(uint32_t version, char *out, size_t size)
{
	snprintf(out, size, "gfx%u%x%x", version / 10000, version / 100 % 100, version % 100);
}

/* One number, and nothing behind it. */
static int parse_version(const char *text, const char *path, uint32_t *version_out,
			 struct error *err)
{
	size_t n = strcspn(text, "\n");
	uint32_t version = 0;
	bool good = n && n <= 6;

	for (size_t i = 0; i < n && good; i++) {
		good = text[i] >= '0' && text[i] <= '9';
		version = 10 * version + (uint32_t)(text[i] - '0');
	}
	if (!good)
		return error_set(
			err, RC_INVALID,
			"'%.300s': '%.*s' is no gfx_target_version, which is a number of up "
			"to six digits",
			path, (int)(n < 40 ? n : 40), text);
	*version_out = version;
	return 0;
}

/* 0: the node is no GPU, or not there. */
static int read_version(const char *topology, const char *node, uint32_t *version_out,
			struct error *err)
{
	static const char key[] = "gfx_target_version ";
	char path[PATH_MAX], line[256];
	FILE *f;
	int rc = 0;

	*version_out = 0;
	if (snprintf(path, sizeof(path), "%s/nodes/%s/properties", topology, node) >=
	    (int)sizeof(path))
		return 0;
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!rc && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			rc = parse_version(line + strlen(key), path, version_out, err);
	fclose(f);
	return rc;
}

int rocm_host_detect(const char *topology, const char **chip_out, struct error *err)
{
	static char chip[32];
	const char *variable = getenv("RETALLY_KFD");
	char number[16];
	uint32_t version = 0;

	if (!topology)
		topology = variable && *variable ? variable : TOPOLOGY;
	/* In the order of the kernel's numbers. */
	for (unsigned i = 0; i < 64 && !version; i++) {
		int rc;

		snprintf(number, sizeof(number), "%u", i);
		rc = read_version(topology, number, &version, err);
		if (rc)
			return rc;
	}
	if (!version)
		return error_set(err, RC_NOT_FOUND,
				 "there is no AMD GPU in this machine (the kernel shows none in "
				 "'%.200s'); --chip plans for one that is elsewhere",
				 topology);
	rocm_host_chip_name(version, chip, sizeof(chip));
	*chip_out = chip;
	return 0;
}

int rocm_host_explain(char *out, size_t size)
{
	const char *chip = NULL;
	char path[PATH_MAX];
	struct error err = {0};
	int rc = rocm_api_probe(path, sizeof(path), &err);

	if (!rc)
		rc = rocm_host_detect(NULL, &chip, &err);
	if (rc)
		snprintf(out, size, "%s", err.message);
	else
		snprintf(out, size, "%s, %.200s", chip, path);
	return !rc;
}
