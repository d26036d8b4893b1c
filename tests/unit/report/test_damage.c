/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real spools with random damage - other bytes, cuts, pieces twice, pieces gone, and records that
 * lie below a right checksum - through the import and all kinds of report. Nothing of it is more
 * than a finding, and the spool beside it keeps its values. The sanitizers judge the rest. Seeds
 * are fixed.
 */
#include "../test.h"
#include "report/report.h"
#include "run_dir.h"
#include "wire/spool_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS     300
#define DISPATCHES 400 /* more than both windows of a spool hold */
#define PIECE_MAX  5000

struct bytes {
	unsigned char *data;
	size_t size;
};

static uint64_t random_state;

static size_t random_below(size_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return n ? (size_t)(random_state >> 33) % n : 0;
}

static void add_everything(struct spool_writer *w, uint32_t dispatches)
{
	struct spool_window window = {.dispatches = 2, .passes = 3, .run_ns = 5, .reach_bytes = 64};

	add_small_pass(w, 1, 0);
	add_begin(w, 2, 3);
	add_kernel(w, 1, "first(int*)");
	add_kernel(w, 2, "second");
	for (uint32_t i = 0; i < dispatches; i++) {
		struct spool_sample s[] = {SAMPLE_U(CYCLES, 1000 + i), SAMPLE_U(BRANCHES, i),
					   SAMPLE_U(STEPS, 7)};

		if (i % 50 == 49)
			s[1].status = SAMPLE_MULTIPLEXED;
		add_replayed(w, 2, i, 1 + i % 2, SPOOL_UNIT_DISPATCH, 1, 0);
		add_samples(w, 2, i, s, 3);
	}
	add_window(w, &window, "exit");
	add_decline(w, 2, 4, SPOOL_INSTEAD_NOTHING, "it writes what the host reads");
	add_note(w, 2, SPOOL_NOTE_FINDING, "something was found");
	add_end(w, 2, 3, 0, 0);
}

static struct bytes read_spool(const struct run_dir *d, const char *name)
{
	struct bytes b = {.size = (size_t)run_dir_file_size(d, name)};
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", d->path, name);
	f = fopen(path, "rbe");
	assert_non_null(f);
	b.data = malloc(b.size);
	assert_non_null(b.data);
	assert_int_equal(fread(b.data, 1, b.size, f), b.size);
	fclose(f);
	return b;
}

static void write_spool(const struct run_dir *d, const char *name, struct bytes b)
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", d->path, name);
	f = fopen(path, "wbe");
	assert_non_null(f);
	assert_int_equal(fwrite(b.data, 1, b.size, f), b.size);
	assert_int_equal(fclose(f), 0);
}

/* Numbers of records become others, and their checksums right. */
static void lie(unsigned char *log, size_t size, uint64_t base)
{
	static const uint64_t odd[] = {0,          1,         2,          3,
				       7,          INT32_MAX, 1u << 31,   UINT32_MAX,
				       1ull << 32, INT64_MAX, 1ull << 63, UINT64_MAX};
	size_t n = 0, lies = 1 + random_below(30);
	struct spool_head head;

	for (size_t at = 0; size - at >= sizeof(head); n++) {
		memcpy(&head, log + at, sizeof(head));
		if (head.length < sizeof(head) || spool_round8(head.length) > size - at)
			return;
		if (head.length > sizeof(head) && (n < lies || !random_below(20))) {
			size_t width = random_below(2) ? 4 : 8, room = head.length - sizeof(head);
			uint64_t value = odd[random_below(sizeof(odd) / sizeof(odd[0]))];

			if (room >= width)
				memcpy(log + at + sizeof(head) + width * random_below(room / width),
				       &value, width);
			if (!random_below(10))
				head.type = (uint32_t)random_below(16);
		}
		head.checksum =
			spool_checksum(base + at, head.length, head.type, log + at + sizeof(head));
		memcpy(log + at, &head, sizeof(head));
		at += (size_t)spool_round8(head.length);
	}
}

/* A piece goes from `from` to `to`, over what is there or between. */
static void copy_piece(struct bytes *b, size_t from, size_t to, size_t n, bool between)
{
	unsigned char piece[PIECE_MAX];

	memcpy(piece, b->data + from, n);
	if (between) {
		b->data = realloc(b->data, b->size + n);
		assert_non_null(b->data);
		memmove(b->data + to + n, b->data + to, b->size - to);
		b->size += n;
	}
	memcpy(b->data + to, piece, n < b->size - to ? n : b->size - to);
}

static struct bytes damage(const struct bytes *whole)
{
	struct bytes b = {malloc(whole->size), whole->size};
	size_t at = random_below(whole->size), n;

	assert_non_null(b.data);
	memcpy(b.data, whole->data, whole->size);
	n = random_below(PIECE_MAX < b.size - at ? PIECE_MAX : b.size - at);
	switch (random_below(7)) {
	case 0:
		for (n = 1 + random_below(16); n; n--)
			b.data[random_below(b.size)] = (unsigned char)random_below(256);
		break;
	case 1:
		b.size = at;
		break;
	case 2:
		memset(b.data + at, 0, n);
		break;
	case 3:
		memmove(b.data + at, b.data + at + n, b.size - at - n);
		b.size -= n;
		break;
	case 4:
	case 5:
		copy_piece(&b, at, random_below(b.size), n & ~(size_t)7, random_below(2));
		break;
	default:
		if (b.size > SPOOL_LOG_AT) {
			uint64_t words[2];
			unsigned in_use;

			memcpy(words, b.data + SPOOL_WORDS_AT, sizeof(words));
			in_use = words[1] > words[0];
			lie(b.data + SPOOL_LOG_AT, b.size - SPOOL_LOG_AT, SPOOL_LOG_START);
			lie(b.data + spool_window_at(in_use), spool_window_capacity(in_use),
			    words[in_use] >> 16);
		} else {
			lie(b.data + SPOOL_LOG_START, b.size - SPOOL_LOG_START, SPOOL_LOG_START);
		}
	}
	return b;
}

static bool is_one_line(const struct error *err)
{
	return *err->message && !strchr(err->message, '\n');
}

static void report_all(struct run_dir *d, int round)
{
	struct report_options o = {.format = (enum table_format)(round % (TABLE_ARRAYS + 1)),
				   .by = (enum report_by)(round % (REPORT_BY_REASON + 1))};
	struct error err = {0};
	struct store *s = NULL;
	char *text = NULL;
	size_t size = 0, n;
	const struct store_spool *spools;
	FILE *f = open_memstream(&text, &size);
	bool found = false;

	assert_non_null(f);
	if (o.format == TABLE_ARRAYS)
		o.by = REPORT_BY_KERNEL;
	if (store_open(&s, d->path, &err))
		fail_msg("round %d: %s", round, err.message);
	spools = store_spools(s, &n);
	for (size_t i = 0; i < n; i++)
		found = found || (!strcmp(spools[i].file, "spool/good.rts") &&
				  spools[i].state == STORE_SPOOL_COMPLETE);
	if (!found || !store_sample_count(s, 3, CYCLES, SAMPLE_OK))
		fail_msg("round %d: the other spool lost its values", round);
	if (report_write(s, &o, f, &err) && !is_one_line(&err))
		fail_msg("round %d: '%s'", round, err.message);
	fclose(f);
	free(text);
	store_close(s);
}

static void test_random_damage(void **state)
{
	struct bytes whole[4];
	struct spool_writer w;
	struct run_dir d;
	char path[400];

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_write_run_json(&d);
	run_dir_spool(&d, &w, "good", -1);
	add_small_pass(&w, 3, 0);
	finish(&w);
	/* Of one window and of several; closed, and of a process that was killed. */
	for (int i = 0; i < 4; i++) {
		run_dir_spool(&d, &w, "bad", -1);
		add_everything(&w, i % 2 ? DISPATCHES : 5);
		if (i >= 2)
			whole[i] = read_spool(&d, "spool/bad.rts");
		finish(&w);
		if (i < 2)
			whole[i] = read_spool(&d, "spool/bad.rts");
		assert_int_equal(whole[i].size > SPOOL_LOG_AT, i % 2);
		snprintf(path, sizeof(path), "%s/spool/bad.rts", d.path);
		assert_int_equal(remove(path), 0);
	}
	for (int round = 0; round < ROUNDS; round++) {
		struct bytes b;

		random_state = (uint64_t)round;
		random_below(1);
		b = damage(&whole[round % 4]);
		write_spool(&d, "spool/bad.rts", b);
		free(b.data);
		/* Into a new database, and over what an earlier round left. */
		snprintf(path, sizeof(path), "%s/retally.db", d.path);
		if (round % 3)
			(void)remove(path);
		report_all(&d, round);
	}
	for (int i = 0; i < 4; i++)
		free(whole[i].data);
	run_dir_remove(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_damage),
	};

	return cmocka_run_group_tests_name("damage", tests, NULL, NULL);
}
