/* SPDX-License-Identifier: Apache-2.0 */
/* Which AMD GPU is here: the amdkfd driver describes its nodes in sysfs. */
#include "source/rocm/rocm_host.h"

#include "source/rocm/rocm_api.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOPOLOGY "/sys/class/kfd/kfd/topology"

void rocm_host_chip_name(uint32_t version, char *out, size_t size)
{
	snprintf(out, size, "gfx%u%x%x", version / 10000, version / 100 % 100, version % 100);
}

/* 0: the node is no GPU, or cannot be read. */
static uint32_t read_version(const char *topology, const char *node)
{
	char path[PATH_MAX], line[256];
	unsigned long value;
	uint32_t version = 0;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/nodes/%s/properties", topology, node) >=
	    (int)sizeof(path))
		return 0;
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "gfx_target_version %lu", &value) == 1 && value < 1000000)
			version = (uint32_t)value;
	fclose(f);
	return version;
}

int rocm_host_detect(const char *topology, const char **chip_out, struct error *err)
{
	static char chip[32];
	const char *variable = getenv("RETALLY_KFD");
	char nodes[PATH_MAX], number[16];
	uint32_t version = 0;

	if (!topology)
		topology = variable && *variable ? variable : TOPOLOGY;
	snprintf(nodes, sizeof(nodes), "%s/nodes", topology);
	/* In the order of the kernel's numbers. */
	for (unsigned i = 0; i < 64 && !version; i++) {
		snprintf(number, sizeof(number), "%u", i);
		version = read_version(topology, number);
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
