/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a run directory as a program on AMD GPUs leaves it, with the project's own writers and
 * without a GPU: make_run DIR PLAN.json DISPATCHES [KEY=VALUE ...]
 *
 * ranks=N      spools of as many ranks (default 1)
 * channels=N   instances of TCC (default 4); the other texture blocks have 2
 * skip=K       pass K was not run
 * once=K       pass K lacks the last dispatch
 * idle=D       GRBM_GUI_ACTIVE of dispatch D is 0
 * rotate=1     one pass a dispatch, in turn, as without replay
 * repeat=N     executions of every pass
 * part=I/N     spools of ranks I, I + N, ... only
 * apps=1       an execution of the program, a launch of its own, for each pass
 * other=D      pass 2 launches another kernel in the place of dispatch D
 * drop=D       pass 2 leaves out dispatch D, so that later ones have other numbers
 * start=N      of the first spool, ns
 */
#include "wire/plan.h"
#include "wire/spool.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct settings {
	unsigned long ranks, channels, skip, once, idle, rotate, repeat, part, parts, apps, start,
		other, drop;
	unsigned long dispatches;
};
static struct plan plan;
static struct settings set = {.ranks = 1,
			      .channels = 4,
			      .idle = -1UL,
			      .other = -1UL,
			      .drop = -1UL,
			      .repeat = 1,
			      .parts = 1};

static void check(int rc, const struct error *err)
{
	if (rc) {
		fprintf(stderr, "make_run: %s\n", err->message);
		exit(1);
	}
}

static void read_settings(int argc, char **argv)
{
	static const struct {
		const char *name;
		unsigned long *to;
	} all[] = {{"ranks", &set.ranks},   {"channels", &set.channels}, {"skip", &set.skip},
		   {"once", &set.once},     {"idle", &set.idle},         {"rotate", &set.rotate},
		   {"repeat", &set.repeat}, {"part", &set.part},         {"apps", &set.apps},
		   {"start", &set.start},   {"other", &set.other},       {"drop", &set.drop}};

	for (int i = 4; i < argc; i++) {
		char *value = strchr(argv[i], '='), *end = NULL;
		size_t k = 0, n = value ? (size_t)(value - argv[i]) : 0;

		while (k < sizeof(all) / sizeof(*all) &&
		       (strlen(all[k].name) != n || strncmp(all[k].name, argv[i], n) != 0))
			k++;
		if (!value || k == sizeof(all) / sizeof(*all)) {
			fprintf(stderr, "make_run: what is '%s'?\n", argv[i]);
			exit(1);
		}
		*all[k].to = strtoul(value + 1, &end, 10);
		if (*end == '/')
			set.parts = strtoul(end + 1, NULL, 10);
	}
}

/* A count that names its counter, dispatch, rank and pass, so that a mistaken join shows. */
static uint64_t value_of(const struct plan_counter *c, uint64_t dispatch, unsigned rank,
			 uint32_t pass, uint32_t instance)
{
	uint64_t base = hash64(c->name, strlen(c->name)) % 100000 + 1000;

	if (!strcmp(c->name, "GRBM_GUI_ACTIVE"))
		return dispatch == set.idle ? 0 : 100000 + 100 * dispatch + pass;
	return base * 10 + 7 * dispatch + 3 * instance + rank;
}

static unsigned instances_of(const struct plan_counter *c)
{
	if (!strcmp(c->block, "TCC"))
		return (unsigned)set.channels;
	return !strcmp(c->block, "TCP") || !strcmp(c->block, "TA") || !strcmp(c->block, "TD") ? 2
											      : 1;
}

static void add_samples(struct spool_writer *w, uint32_t pass, uint64_t number, uint64_t dispatch,
			unsigned rank)
{
	static struct spool_sample samples[65536];
	const struct plan_pass *p = &plan.passes[pass - 1];
	struct spool_samples head = {.pass = pass, .dispatch = number};
	struct error err = {0};

	for (uint32_t i = 0; i < p->n_counters; i++) {
		const struct plan_counter *c = &plan.counters[p->counters[i]];
		const char *one = strchr(c->name, '[');
		unsigned n = one ? 1 : instances_of(c), first = one ? (unsigned)atoi(one + 1) : 0;

		for (unsigned k = 0; k < n && head.n < 65536; k++) {
			struct spool_sample *s = &samples[head.n++];

			*s = (struct spool_sample){
				.counter = p->counters[i],
				.instance = (uint16_t)(n == 1 && !one ? SPOOL_INSTANCE_ALL
								      : first + k)};
			s->value.u64 = value_of(c, dispatch, rank, pass, first + k);
		}
	}
	check(spool_append(w, SPOOL_SAMPLES, &head, sizeof(head), samples,
			   head.n * sizeof(*samples), &err),
	      &err);
}

/* number: of the dispatch in this execution; i: which of the program it is. */
static void add_dispatch(struct spool_writer *w, uint32_t pass, uint64_t number, uint64_t i,
			 uint32_t attempt)
{
	bool other = pass == 2 && i == set.other;
	struct spool_dispatch d = {.dispatch = number,
				   .kernel = other ? 4 : (uint32_t)(i % 3 + 1),
				   .unit = SPOOL_UNIT_DISPATCH,
				   .pass = pass,
				   .device = 0,
				   .grid = {64, 2, 1},
				   .block = {256, 1, 1},
				   .queue = i % 2,
				   .begin_ns = 1000000 + i * 100000 + pass,
				   .end_ns = 1000000 + i * 100000 + 40000 + 10 * pass,
				   .registers = 32,
				   .shared_bytes = 1024,
				   .attempt = attempt,
				   .flags = set.rotate || set.apps ? 0 : SPOOL_DISPATCH_REPLAYED};
	struct error err = {0};

	check(spool_append(w, SPOOL_DISPATCH, &d, sizeof(d), NULL, 0, &err), &err);
}

static void add_names(struct spool_writer *w)
{
	/* A comma and a quote for CSV, and what its readers take for no value. */
	static const char *const names[] = {"_Z5scaleIfEvPT_i", "odd \"name\", with a comma", "nan",
					    "_Z5scaleIdEvPT_i"};
	struct error err = {0};

	for (uint32_t k = 1; k <= (set.other < set.dispatches ? 4 : 3); k++) {
		struct spool_kernel kernel = {.kernel = k};

		check(spool_append(w, SPOOL_KERNEL, &kernel, sizeof(kernel), names[k - 1],
				   strlen(names[k - 1]), &err),
		      &err);
	}
}

static void add_pass(struct spool_writer *w, uint32_t pass, unsigned rank)
{
	for (uint64_t i = 0, number; i < set.dispatches; i++) {
		if ((set.once == pass && i + 1 == set.dispatches) ||
		    (set.rotate && i % plan.n_passes + 1 != pass))
			continue;
		if (pass == 2 && i == set.drop)
			continue;
		number = pass == 2 && i > set.drop ? i - 1 : i;
		for (uint32_t attempt = 1; attempt <= set.repeat; attempt++) {
			add_dispatch(w, pass, number, i, attempt);
			add_samples(w, pass, number, i, rank);
		}
	}
}

static void mark(struct spool_writer *w, uint32_t pass, bool begin)
{
	struct spool_pass_begin b = {
		.pass = pass, .passes = plan.n_passes, .time_ns = 1, .pid = 10, .attempt = 1};
	struct spool_pass_end e = {.pass = pass, .time_ns = 2, .wall_ns = 1};
	struct error err = {0};

	check(begin ? spool_append(w, SPOOL_PASS_BEGIN, &b, sizeof(b), "process", 7, &err)
		    : spool_append(w, SPOOL_PASS_END, &e, sizeof(e), NULL, 0, &err),
	      &err);
}

/* only: the one pass of this execution, or 0: all, in place. */
static void write_spool(const char *dir, unsigned rank, uint32_t only)
{
	struct spool_header h = {.rank = set.ranks > 1 ? (int32_t)rank : SPOOL_RANK_NONE,
				 .size = set.ranks > 1 ? (int32_t)set.ranks : -1,
				 .local_rank = -1,
				 .pid = (int32_t)(100 + rank * 64 + only),
				 .start_ns = set.start + 1000 + rank * 64 + only};
	struct spool_writer w;
	struct error err = {0};
	char path[600];

	memcpy(h.magic, SPOOL_MAGIC, sizeof(h.magic));
	h.version = SPOOL_VERSION;
	h.byte_order = SPOOL_BYTE_ORDER;
	snprintf(h.collection, sizeof(h.collection), "made");
	snprintf(h.launch, sizeof(h.launch), only ? "launch%u" : "launch", only);
	snprintf(h.plan_hash, sizeof(h.plan_hash), "%s", plan.hash);
	snprintf(h.host, sizeof(h.host), "node");
	snprintf(path, sizeof(path), "%s/spool/launch.node.%u.%d.rts", dir, rank, h.pid);
	check(spool_create(&w, path, &h, &err), &err);
	mark(&w, only, true);
	add_names(&w);
	for (uint32_t k = 1; k <= plan.n_passes; k++) {
		if (k != set.skip && (!only || only == k))
			add_pass(&w, k, rank);
	}
	mark(&w, only, false);
	check(spool_close(&w, &err), &err);
}

int main(int argc, char **argv)
{
	struct error err = {0};
	char path[600];
	FILE *f;

	if (argc < 4) {
		fprintf(stderr, "usage: make_run DIR PLAN.json DISPATCHES [KEY=VALUE ...]\n");
		return 2;
	}
	read_settings(argc, argv);
	set.dispatches = strtoul(argv[3], NULL, 10);
	check(plan_read_file(&plan, argv[2], &err), &err);
	mkdir(argv[1], 0777);
	snprintf(path, sizeof(path), "%s/spool", argv[1]);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/plan.json", argv[1]);
	check(plan_write_file(&plan, path, &err), &err);
	snprintf(path, sizeof(path), "%s/run.json", argv[1]);
	f = fopen(path, "w");
	if (!f ||
	    fputs("{\"version\": 1, \"argv\": [\"app\"], \"collection\": \"made\"}\n", f) < 0 ||
	    fclose(f))
		return 1;
	for (unsigned rank = (unsigned)set.part; rank < set.ranks; rank += (unsigned)set.parts) {
		for (uint32_t k = 1; set.apps && k <= plan.n_passes; k++) {
			if (k != set.skip)
				write_spool(argv[1], rank, k);
		}
		if (!set.apps)
			write_spool(argv[1], rank, 0);
	}
	plan_release(&plan);
	return 0;
}
