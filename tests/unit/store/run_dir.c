/* SPDX-License-Identifier: Apache-2.0 */
/* Run directories for tests. */
#include "run_dir.h"

#include "../test.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define COLLECTION "0123456789abcdef0123456789abcdef"

static struct plan_counter small_counters[] = {
	{"cycles", "perf", "core", "cycles", PLAN_COUNTER_ANCHOR, ""},
	{"instructions", "perf", "core", "count", 0, ""},
	{"branches", "perf", "core", "count", 0, ""},
	{"bp:step", "perf", "breakpoint", "count", 0, ""},
	{"bytes_read", "perf", "", "bytes", 0, ""},
};
static const uint32_t pass_1[] = {CYCLES, INSTRUCTIONS, BRANCHES}, pass_2[] = {CYCLES, STEPS},
		      pass_3[] = {CYCLES, BYTES}, of_ipc[] = {CYCLES, INSTRUCTIONS},
		      of_split[] = {STEPS, BYTES};
static struct plan_pass small_passes[] = {
	{3, pass_1, "core: 3 of 3 slots", ""},
	{2, pass_2, "breakpoint: 1 of 4 slots", ""},
	{2, pass_3, "bytes_read excludes bp:step", ""},
};
static struct plan_metric small_metrics[] = {
	{"ipc", "Instructions per cycle", "", "instructions / cycles", 2, of_ipc, 1},
	{"bytes_per_step", "Bytes read per step", "bytes", "bytes_read / `bp:step`", 2, of_split,
	 0},
};
static struct plan_dropped small_dropped[] = {{"l3_misses", "this machine has no such event"}};

struct plan *small_plan(void)
{
	static struct plan plan = {
		.chip = "cpu",
		.selection = "-m ipc,bytes_per_step -e branches",
		.lower_bound = 3,
		.proven = true,
		.n_counters = 5,
		.counters = small_counters,
		.n_passes = 3,
		.passes = small_passes,
		.n_metrics = 2,
		.metrics = small_metrics,
		.n_dropped = 1,
		.dropped = small_dropped,
	};

	return &plan;
}

void run_dir_init(struct run_dir *d, struct plan *plan)
{
	char path[300];

	*d = (struct run_dir){.plan = plan, .next_start = 1000000000};
	snprintf(d->path, sizeof(d->path), "%s/retally-unit.XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(d->path));
	snprintf(path, sizeof(path), "%s/spool", d->path);
	assert_int_equal(mkdir(path, 0777), 0);
	snprintf(path, sizeof(path), "%s/plan.json", d->path);
	assert_int_equal(plan_write_file(plan, path, NULL), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

void run_dir_remove(struct run_dir *d)
{
	chmod(d->path, 0777);
	assert_int_equal(nftw(d->path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void run_dir_write(struct run_dir *d, const char *name, const char *text)
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", d->path, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

void run_dir_write_run_json(struct run_dir *d)
{
	run_dir_write(d, "run.json",
		      "{\"version\": 1, \"argv\": [\"/usr/bin/app\", \"two words\", \"it's\"],\n"
		      " \"cwd\": \"/tmp\", \"collection\": \"" COLLECTION "\", \"host\": \"h\"}\n");
}

long run_dir_file_size(const struct run_dir *d, const char *name)
{
	char path[400];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", d->path, name);
	assert_int_equal(stat(path, &st), 0);
	return (long)st.st_size;
}

void run_dir_truncate(const struct run_dir *d, const char *name, long size)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", d->path, name);
	assert_int_equal(truncate(path, size), 0);
}

void run_dir_flip_byte(const struct run_dir *d, const char *name, long offset)
{
	char path[400];
	FILE *f;
	int c;

	snprintf(path, sizeof(path), "%s/%s", d->path, name);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_int_equal(fseek(f, offset, SEEK_SET), 0);
	c = fgetc(f);
	assert_int_equal(fseek(f, offset, SEEK_SET), 0);
	fputc(c ^ 0xff, f);
	assert_int_equal(fclose(f), 0);
}

struct spool_header run_dir_header(struct run_dir *d, int32_t rank)
{
	struct spool_header h = {.rank = rank, .size = rank < 0 ? -1 : 4, .local_rank = rank};

	memcpy(h.magic, SPOOL_MAGIC, sizeof(h.magic));
	h.version = SPOOL_VERSION;
	h.byte_order = SPOOL_BYTE_ORDER;
	snprintf(h.collection, sizeof(h.collection), "%s", COLLECTION);
	snprintf(h.launch, sizeof(h.launch), "launch%u", (unsigned)(d->next_start % 1000));
	snprintf(h.plan_hash, sizeof(h.plan_hash), "%s", d->plan->hash);
	snprintf(h.host, sizeof(h.host), "host");
	h.pid = 100;
	h.start_ns = d->next_start++;
	return h;
}

void run_dir_spool_of(struct run_dir *d, struct spool_writer *w, const char *name,
		      const struct spool_header *header)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/spool/%s.rts", d->path, name);
	assert_int_equal(spool_create(w, path, header, NULL), 0);
}

void run_dir_spool(struct run_dir *d, struct spool_writer *w, const char *name, int32_t rank)
{
	struct spool_header h = run_dir_header(d, rank);

	run_dir_spool_of(d, w, name, &h);
}

void add_begin(struct spool_writer *w, uint32_t pass, uint32_t passes)
{
	struct spool_pass_begin b = {
		.pass = pass, .passes = passes, .time_ns = 5000, .pid = 200, .attempt = 1};

	assert_int_equal(spool_append(w, SPOOL_PASS_BEGIN, &b, sizeof(b), "process", 7, NULL), 0);
}

void add_end(struct spool_writer *w, uint32_t pass, int exit_code, int signal, uint32_t flags)
{
	struct spool_pass_end e = {.pass = pass,
				   .exit_code = exit_code,
				   .signal = signal,
				   .flags = flags,
				   .time_ns = 2005000,
				   .wall_ns = 2000000,
				   .user_ns = 1500000,
				   .system_ns = 250000,
				   .max_rss_bytes = 4 << 20};

	assert_int_equal(spool_append(w, SPOOL_PASS_END, &e, sizeof(e), NULL, 0, NULL), 0);
}

void add_kernel(struct spool_writer *w, uint32_t id, const char *name)
{
	struct spool_kernel k = {.kernel = id};

	assert_int_equal(spool_append(w, SPOOL_KERNEL, &k, sizeof(k), name, strlen(name), NULL), 0);
}

void add_dispatch(struct spool_writer *w, uint32_t pass, uint64_t dispatch, uint32_t kernel,
		  uint32_t unit)
{
	struct spool_dispatch d = {.dispatch = dispatch,
				   .kernel = kernel,
				   .unit = unit,
				   .pass = pass,
				   .begin_ns = 1000 * (dispatch + 1),
				   .end_ns = 1000 * (dispatch + 1) + 500};

	if (unit == SPOOL_UNIT_DISPATCH) {
		d.grid[0] = 64;
		d.grid[1] = d.grid[2] = 1;
		d.block[0] = 256;
		d.block[1] = d.block[2] = 1;
	}
	assert_int_equal(spool_append(w, SPOOL_DISPATCH, &d, sizeof(d), NULL, 0, NULL), 0);
}

void add_samples(struct spool_writer *w, uint32_t pass, uint64_t dispatch,
		 const struct spool_sample *samples, uint32_t n)
{
	struct spool_samples s = {
		.pass = pass, .n = n, .dispatch = dispatch, .enabled_ns = 1000, .running_ns = 1000};

	assert_int_equal(
		spool_append(w, SPOOL_SAMPLES, &s, sizeof(s), samples, n * sizeof(*samples), NULL),
		0);
}

void add_note(struct spool_writer *w, uint32_t pass, enum spool_note_kind kind, const char *text)
{
	struct spool_note n = {.pass = pass, .kind = kind};

	assert_int_equal(spool_append(w, SPOOL_NOTE, &n, sizeof(n), text, strlen(text), NULL), 0);
}

void add_replayed(struct spool_writer *w, uint32_t pass, uint64_t dispatch, uint32_t kernel,
		  uint32_t unit, uint32_t attempt, uint32_t flags)
{
	struct spool_dispatch d = {.dispatch = dispatch,
				   .kernel = kernel,
				   .unit = unit,
				   .pass = pass,
				   .grid = {64, 2, 1},
				   .block = {256, 1, 1},
				   .queue = 7,
				   .begin_ns = 1000000 * (dispatch + 1),
				   .end_ns = 1000000 * (dispatch + 1) + 10000 + 100 * pass,
				   .registers = 32,
				   .shared_bytes = 4096,
				   .attempt = attempt,
				   .flags = flags};

	assert_int_equal(spool_append(w, SPOOL_DISPATCH, &d, sizeof(d), NULL, 0, NULL), 0);
}

void add_window(struct spool_writer *w, const struct spool_window *window, const char *ended_by)
{
	assert_int_equal(spool_append(w, SPOOL_WINDOW, window, sizeof(*window), ended_by,
				      strlen(ended_by), NULL),
			 0);
}

void add_decline(struct spool_writer *w, uint32_t kernel, uint64_t count,
		 enum spool_instead instead, const char *reason)
{
	struct spool_decline d = {.count = count, .kernel = kernel, .instead = instead};

	assert_int_equal(
		spool_append(w, SPOOL_DECLINE, &d, sizeof(d), reason, strlen(reason), NULL), 0);
}

void finish(struct spool_writer *w)
{
	assert_int_equal(spool_close(w, NULL), 0);
}

void add_small_pass(struct spool_writer *w, uint32_t pass, uint64_t base)
{
	const struct plan_pass *p = &small_plan()->passes[pass - 1];
	struct spool_sample samples[3];

	add_begin(w, pass, 3);
	add_dispatch(w, pass, 0, 0, SPOOL_UNIT_PROCESS);
	for (uint32_t i = 0; i < p->n_counters; i++)
		samples[i] = SAMPLE_U(p->counters[i], p->counters[i] == CYCLES
							      ? 1000 + base
							      : base + 10 * p->counters[i] + pass);
	add_samples(w, pass, 0, samples, p->n_counters);
	add_end(w, pass, 0, 0, 0);
}
