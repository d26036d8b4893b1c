/* SPDX-License-Identifier: Apache-2.0 */
/* retally doctor: what this machine can count, what stands in the way, and who can change it. */
#include "base/elf_probe.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/doctor_opencl.h"
#include "cli/options.h"
#include "cli/setup.h"
#include "launch/program.h"
#include "source/perf/perf_host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void doctor_line(bool works, const char *what, const char *explain)
{
	printf("%s  %-22s %s\n", works ? "ok  " : "no  ", what, explain);
}

/* What is loaded into programs, and who said where it is. */
static void doctor_library(void)
{
	const char *path = setup_library(), *set = getenv("RETALLY_LIBRARY");
	char *real = realpath(path, NULL);
	struct str text = STR_INIT;

	str_addf(&text, "%s%s%s", real ? real : path, set && *set ? " (RETALLY_LIBRARY)" : "",
		 !access(path, R_OK) ? ": replay in place, passes inside the program"
				     : ": cannot be read; no replay in place, no LD_PRELOAD");
	doctor_line(!access(path, R_OK), "libretally.so", str_text(&text));
	str_release(&text);
	free(real);
}

static int doctor_machine(struct error *err)
{
	struct arena arena = {0};
	struct perf_finding *findings;
	struct cuda_api api;
	struct error why = {0};
	size_t n;
	int rc = perf_host_examine(&arena, &findings, &n, err);

	for (size_t i = 0; !rc && i < n; i++)
		doctor_line(findings[i].works, findings[i].what, findings[i].explain);
	arena_release(&arena);
	if (rc)
		return rc;
	if (cuda_api_open(&api, &why))
		doctor_line(false, "CUPTI (planning)", why.message);
	else
		doctor_line(true, "CUPTI (planning)", api.path);
	doctor_library();
	doctor_line(true, "simulated device",
		    "--source sim, for programs linked with libretallysim");
	doctor_opencl(doctor_line);
	doctor_line(true, "chips and metrics in", setup_data_dir());
	return 0;
}

static int doctor_program(char *const *argv, struct error *err)
{
	struct program p = {.fd = -1};
	char reason[256];
	int rc = program_find(&p, argv, err);

	if (rc)
		return rc;
	doctor_line(!p.cannot_count[0], "counting it", p.cannot_count[0] ? p.cannot_count : p.path);
	if (elf_can_preload(p.path, reason, sizeof(reason)))
		doctor_line(true, "loading libretally", "works: LD_PRELOAD reaches it");
	else
		doctor_line(false, "loading libretally", reason);
	program_release(&p);
	return 0;
}

int cmd_doctor(int argc, char **argv)
{
	struct options o;
	struct error err = {0};
	int rc;

	if (!command_begin(&o, COMMAND_DOCTOR, argc, argv, EXIT_USAGE, NULL, &rc))
		return rc;
	rc = doctor_machine(&err);
	if (!rc && o.argc)
		rc = doctor_program(o.argv, &err);
	options_release(&o);
	return rc ? command_fail(EXIT_USAGE, &err) : EXIT_FINE;
}
