/* SPDX-License-Identifier: Apache-2.0 */
/* retally run: plan, prove that every pass schedules, run the program once per pass, sum up. */
#include "base/str.h"
#include "cli/command.h"
#include "cli/fixed_seed.h"
#include "cli/options.h"
#include "cli/plan_print.h"
#include "cli/replay_choice.h"
#include "cli/run_launcher.h"
#include "cli/setup.h"
#include "launch/distribute.h"
#include "launch/launcher.h"
#include "launch/program.h"
#include "launch/run.h"
#include "report/summary.h"
#include "source/perf/perf_host.h"
#include "source/sim/sim_host.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void show_progress(void *data, uint32_t pass, uint32_t position, uint32_t n, double elapsed)
{
	bool *shown = data;

	/* Nothing for the first half second: most programs are over by then. */
	if (elapsed < 0.5 && position == 1)
		return;
	if (pass)
		fprintf(stderr, "\r\033[Kretally: pass %u (%u of %u) %.0f s", pass, position, n,
			elapsed);
	else
		fprintf(stderr, "\r\033[Kretally: %.0f s", elapsed);
	fflush(stderr);
	*shown = true;
}

/* A plan that was made before. Joined, it was proved by who made it. */
static int run_take_plan(struct setup *s, const struct options *o, struct error *err)
{
	int rc;

	if (o->selection.n)
		return error_set(err, RC_INVALID,
				 "--plan has its selection in it: leave out -m, -e and --set");
	if (o->chip)
		return error_set(err, RC_INVALID, "--plan has its chip in it: leave out --chip");
	rc = plan_read_file(&s->plan, o->plan, err);
	return rc || o->join ? rc : perf_host_prove(&s->plan, err);
}

static int run_prepare(struct setup *s, const struct options *o, char *program, struct error *err)
{
	struct str text = STR_INIT;
	int rc;

	if (o->plan)
		return run_take_plan(s, o, err);
	if (o->join)
		return error_set(err, RC_INVALID, "--join goes with --plan");
	rc = setup_catalog(s, o, program, err);
	/* A GPU may be where the program will run; a CPU is the one that is here. */
	if (!rc && o->chip && !s->this_machine && s->catalog.source &&
	    !strcmp(s->catalog.source, "perf"))
		return error_set(
			err, RC_INVALID,
			"--chip: '%s' is a CPU, and run counts on the CPUs that it runs on; "
			"`retally plan` plans for others",
			o->chip);
	if (!rc)
		rc = setup_plan(s, o, err);
	if (!rc)
		rc = plan_encode(&s->plan, &text, err);
	str_release(&text);
	if (!rc && s->this_machine)
		rc = perf_host_prove(&s->plan, err);
	else if (!rc && s->is_sim)
		rc = sim_host_prove(&s->plan, err);
	return rc;
}

/* What happened, on stderr: the findings of the launch, then the summary of what is stored. Returns
 * whether everything wanted was collected. */
static bool run_sum_up(const struct options *o, const struct run_outcome *outcome)
{
	struct error err = {0};
	bool complete = false;

	for (size_t i = 0; i < outcome->findings.n; i++) {
		const struct run_finding *f = &outcome->findings.items[i];

		char rank[32] = "", pass[32] = "";

		if (outcome->rank > 0)
			snprintf(rank, sizeof(rank), "rank %d: ", outcome->rank);
		if (f->pass && strncmp(f->text, "pass ", 5) != 0)
			snprintf(pass, sizeof(pass), "pass %u: ", f->pass);
		/* In one piece: other ranks write to the same terminal. */
		fprintf(stderr, "retally: %s%s%s\n", rank, pass, f->text);
	}
	/* One rank speaks for the job; the directory has the others' too, as far as they are. */
	if (outcome->rank > 0)
		return true;
	if (outcome->directory &&
	    summary_write(outcome->directory, o->quiet ? NULL : stderr, &complete, &err)) {
		command_fail(0, &err);
		return false;
	}
	return complete;
}

/* What another launch needs to be like this one, beside what run_options know. */
static const char *run_given(const struct options *o, const struct replay_choice *choice)
{
	static const char words[] = " --replay application --fixed-seed";

	if (choice->in_place || (!choice->application && !o->fixed_seed))
		return NULL;
	if (!choice->application)
		return words + strlen(" --replay application");
	return o->fixed_seed ? words : " --replay application";
}

static int run_execute(struct setup *s, const struct options *o, const char *application,
		       const struct replay_choice *choice, int *signal_out)
{
	struct run_launcher ranks;
	char seed[24], output[NAME_MAX * 2 + 16];
	bool progress_shown = false;
	struct run_options ro = {
		.argv = o->argv,
		.output = o->output,
		.filters = choice->in_place ? str_text(&choice->filters) : NULL,
		.in_place = choice->in_place ? &choice->run : NULL,
		.pass = o->pass,
		.of_total = o->of_total,
		.no_aslr = o->no_aslr,
		.chdir_per_pass = o->chdir_per_pass,
		.keep_going = o->keep_going,
		.join = o->join,
		.given = run_given(o, choice),
		.pass_timeout = o->pass_timeout,
		.mpi_wait = o->mpi_wait,
		.progress = isatty(STDERR_FILENO) && !o->quiet ? show_progress : NULL,
		.progress_data = &progress_shown,
	};
	struct run_outcome outcome;
	/* Each process one pass, not each dispatch. */
	bool deals = o->distribute && choice->run.settings.mode != REPLAY_SETTINGS_NONE;
	char library[PATH_MAX];
	struct error err = {0};
	bool complete;
	int status, rc;

	if (deals && distribute_parse(o->distribute, &ro.distribute, &err))
		return command_fail(EXIT_RETALLY_FAILED, &err);
	if (!choice->in_place && realpath(setup_library(), library))
		ro.region_library = library;
	if (o->mpi && manager_mode_parse(o->mpi, &ro.mpi, &err))
		return command_fail(EXIT_RETALLY_FAILED, &err);
	ro.distribute.has_seed = o->has_seed && deals;
	ro.distribute.seed = o->seed;
	if (application && choice->in_place) {
		/* Every process finds its own orders in the environment. */
		run_launcher_name_output(application, output, sizeof(output));
		if (!ro.output)
			ro.output = output;
	} else if (application) { /* the ranks deal passes among themselves, in one launch */
		if (run_launcher_init(&ranks, o, seed, sizeof(seed), &err))
			return command_fail(EXIT_RETALLY_FAILED, &err);
		ranks.application = application;
		ro.launcher = &ranks;
		run_launcher_name_output(application, output, sizeof(output));
		if (!ro.output)
			ro.output = output;
		if (ro.distribute.unit && ro.pass) {
			error_set(&err, RC_INVALID,
				  "--pass chooses a pass and so does --distribute: give one");
			return command_fail(EXIT_RETALLY_FAILED, &err);
		}
		if (ro.distribute.unit)
			ro.pass = 1;
		ro.distribute.unit = DISTRIBUTE_NONE;
	}
	rc = run_program(&ro, &s->plan, &outcome, &err);
	if (progress_shown)
		fputs("\r\033[K", stderr);
	status = outcome.exit_status;
	*signal_out = rc ? 0 : outcome.signal;
	if (rc)
		command_fail(status, &err);
	if (!outcome.left && (!rc || outcome.started)) {
		complete = run_sum_up(o, &outcome);
		if (ro.launcher && !o->distribute && !run_launcher_check(&outcome, &s->plan))
			complete = false;
		if (deals && !application && !o->quiet && outcome.rank <= 0)
			fprintf(stderr,
				"retally: pass %u of %u was collected here (--distribute)\n",
				outcome.pass, s->plan.n_passes);
		if (o->strict && !complete && !status && !outcome.signal) {
			fputs("retally: error: not everything wanted was collected (--strict)\n",
			      stderr);
			status = EXIT_RETALLY_FAILED;
		}
	}
	run_outcome_release(&outcome);
	return status;
}

static int run_status_of(int rc)
{
	return rc == RC_NOT_FOUND    ? EXIT_PROGRAM_NOT_FOUND
	       : rc == RC_PERMISSION ? EXIT_CANNOT_EXECUTE
				     : EXIT_RETALLY_FAILED;
}

int cmd_run(int argc, char **argv)
{
	struct options o;
	struct setup s = {0};
	struct replay_choice choice = {0};
	struct error err = {0};
	struct program program = {.fd = -1};
	bool launcher = false;
	char *application = NULL;
	int status, signal = 0, rc;

	if (!command_begin(&o, COMMAND_RUN, argc, argv, EXIT_RETALLY_FAILED, NULL, &status))
		return status;
	if (!o.argc) {
		error_set(&err, RC_INVALID,
			  "run: which program? usage: retally run [options] -- PROGRAM");
		status = command_fail(EXIT_RETALLY_FAILED, &err);
	} else if (replay_choice_read(&choice, &o, &err)) {
		status = command_fail(EXIT_RETALLY_FAILED, &err);
	} else if ((rc = program_find(&program, o.argv, &err))) {
		status = command_fail(run_status_of(rc), &err);
	} else if (run_launcher_wanted(&o, &launcher, &err) ||
		   (launcher && !(application = launcher_application(o.argv)) &&
		    error_set(
			    &err, RC_INVALID,
			    "'%s' is a launcher, and none of its words is a program that it could "
			    "start; if it is none, use --launcher no",
			    o.argv[0])) ||
		   run_prepare(&s, &o, launcher ? application : program.path, &err) ||
		   replay_choice_decide(&choice, &o, &s.plan, &err) ||
		   (o.fixed_seed &&
		    fixed_seed_prepare(&o, program.path, choice.in_place, launcher, &err))) {
		status = command_fail(EXIT_RETALLY_FAILED, &err);
	} else {
		status = run_execute(&s, &o, application, &choice, &signal);
	}
	setup_release(&s);
	replay_choice_release(&choice);
	options_release(&o);
	program_release(&program);
	free(application);
	if (signal)
		run_die_of_signal(signal);
	return status;
}
