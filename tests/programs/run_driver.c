/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command line for run_program alone, for tests: a plan of software events (or of the perf
 * configs given), a run, and a report of outcome and spool as lines of text in a file.
 *
 *   run_driver [-P PASSES] [-K PASS] [-o DIR] [-R REPORT] [-e CONFIG]... [-f FILTERS] [-t FACTOR]
 *              [-g SECONDS] *              [-w ORPHAN-SECONDS] [-k] [-a] [-c] [-p] [--] PROGRAM
 * ARGS
 */
#include "base/arena.h"
#include "base/str.h"
#include "launch/run.h"
#include "wire/plan.h"
#include "wire/spool.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRIVER_EVENTS_MAX 8

static void report_spool(FILE *out, const char *path)
{
	struct spool_reader r;
	struct spool_record record;
	struct error err = {0};
	int rc = path ? spool_open(&r, path, &err) : -1;

	if (rc) {
		fprintf(out, "spool unreadable: %s\n", err.message);
		return;
	}
	while ((rc = spool_next(&r, &record, &err)) > 0) {
		const char *text = record.payload;

		if (record.type == SPOOL_PASS_BEGIN) {
			const struct spool_pass_begin *b = record.payload;

			fprintf(out, "begin %u/%u\n", b->pass, b->passes);
		} else if (record.type == SPOOL_PASS_END) {
			const struct spool_pass_end *e = record.payload;

			fprintf(out, "end %u exit=%d signal=%d flags=%u wall=%s\n", e->pass,
				e->exit_code, e->signal, e->flags, e->wall_ns ? "yes" : "no");
		} else if (record.type == SPOOL_DISPATCH) {
			const struct spool_dispatch *d = record.payload;

			fprintf(out, "unit %u pass=%u kernel=%u\n", d->unit, d->pass, d->kernel);
		} else if (record.type == SPOOL_SAMPLES) {
			const struct spool_samples *s = record.payload;
			const struct spool_sample *samples = (const void *)(s + 1);

			for (uint32_t i = 0; i < s->n; i++)
				fprintf(out, "sample %u counter=%u status=%u value=%llu\n", s->pass,
					samples[i].counter, samples[i].status,
					(unsigned long long)samples[i].value.u64);
		} else if (record.type == SPOOL_NOTE) {
			const struct spool_note *n = record.payload;

			fprintf(out, "note %u kind=%u %.*s\n", n->pass, n->kind,
				(int)(record.size - sizeof(*n)), text + sizeof(*n));
		}
	}
	if (rc < 0)
		fprintf(out, "spool damaged: %s\n", err.message);
	fprintf(out, "torn %d\n", r.torn);
	spool_close_reader(&r);
}

static void make_plan(struct plan *plan, uint32_t passes, const char **configs, uint32_t n)
{
	struct arena *a = &plan->arena;

	plan->chip = "cpu";
	plan->selection = "-e test";
	plan->lower_bound = plan->n_passes = passes;
	plan->proven = true;
	plan->n_counters = n;
	plan->counters = arena_array(a, n, sizeof(*plan->counters));
	plan->passes = arena_array(a, passes, sizeof(*plan->passes));
	for (uint32_t i = 0; i < n; i++)
		plan->counters[i] = (struct plan_counter){
			.name = arena_printf(a, "counter-%u", i),
			.source = "perf",
			.block = "",
			.unit = "count",
			.config = configs[i],
		};
	for (uint32_t k = 0; k < passes; k++) {
		uint32_t *counters = arena_array(a, n, sizeof(*counters));

		for (uint32_t i = 0; i < n; i++)
			counters[i] = i;
		plan->passes[k] = (struct plan_pass){
			.n_counters = n, .counters = counters, .reason = "test", .config = ""};
	}
}

static void progress(void *data, uint32_t pass, uint32_t position, uint32_t n, double elapsed)
{
	(void)elapsed;
	fprintf(data, "progress pass=%u %u/%u\n", pass, position, n);
}

int main(int argc, char **argv)
{
	/* task-clock and page-faults of the kernel's software events */
	const char *configs[DRIVER_EVENTS_MAX] = {"type=1 config=1", "type=1 config=2"};
	uint32_t n_configs = 0, passes = 1;
	struct run_options options = {0};
	struct run_outcome outcome;
	struct error err = {0};
	const char *report = NULL;
	struct plan plan = {0};
	struct str text = STR_INIT;
	bool show_progress = false;
	FILE *out = NULL;
	int c, rc, status;

	while ((c = getopt(argc, argv, "+P:K:T:o:R:e:f:t:g:w:kacp")) != -1) {
		switch (c) {
		case 'P':
			passes = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'K':
			options.pass = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'T':
			options.of_total = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'o':
			options.output = optarg;
			break;
		case 'R':
			report = optarg;
			break;
		case 'e':
			if (n_configs < DRIVER_EVENTS_MAX)
				configs[n_configs++] = optarg;
			break;
		case 'f':
			options.filters = optarg;
			break;
		case 't':
			options.pass_timeout = strtod(optarg, NULL);
			break;
		case 'g':
			options.pass_grace = strtod(optarg, NULL);
			break;
		case 'w':
			options.orphan_wait = strtod(optarg, NULL);
			break;
		case 'k':
			options.keep_going = true;
			break;
		case 'a':
			options.no_aslr = true;
			break;
		case 'c':
			options.chdir_per_pass = true;
			break;
		case 'p':
			show_progress = true;
			break;
		default:
			return 2;
		}
	}
	make_plan(&plan, passes, configs, n_configs ? n_configs : 2);
	if (plan_encode(&plan, &text, &err)) {
		fprintf(stderr, "run_driver: %s\n", err.message);
		return 2;
	}
	options.argv = argv + optind;
	if (report) {
		/* Not on a standard stream's number, which may be closed. */
		int fd = open(report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		int high = fcntl(fd, F_DUPFD_CLOEXEC, 10);

		close(fd);
		out = fdopen(high, "w");
		if (!out)
			return 2;
	}
	if (show_progress) {
		options.progress = progress;
		options.progress_data = out;
		setvbuf(out, NULL, _IONBF, 0);
	}
	rc = run_program(&options, &plan, &outcome, &err);
	if (rc)
		fprintf(stderr, "run_driver: %s\n", err.message);
	if (out) {
		fprintf(out, "rc=%s %s\n", rc ? error_code_name(rc) : "ok", err.message);
		fprintf(out,
			"outcome exit=%d signal=%d wanted=%u completed=%u failed=%u started=%d "
			"interrupted=%d\n",
			outcome.exit_status, outcome.signal, outcome.passes_wanted,
			outcome.passes_completed, outcome.passes_failed, outcome.started,
			outcome.interrupted);
		fprintf(out, "directory %s\nlaunch %s\n",
			outcome.directory ? outcome.directory : "", outcome.launch);
		vec_for_each (&outcome.findings, f)
			fprintf(out, "finding %d pass=%u %s\n", (int)f->kind, f->pass, f->text);
		if (outcome.spool)
			report_spool(out, outcome.spool);
		fclose(out);
	}
	status = outcome.exit_status;
	if (outcome.signal) {
		run_die_of_signal(outcome.signal);
		status = 128 + outcome.signal;
	}
	run_outcome_release(&outcome);
	plan_release(&plan);
	str_release(&text);
	return status;
}
