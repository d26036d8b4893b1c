/* SPDX-License-Identifier: Apache-2.0 */
/* Spool: every byte changed, every length cut, and files made to mislead. */
#include "spool_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#define SPOOL_BYTES_MAX 4096

static _Alignas(8) unsigned char good[SPOOL_BYTES_MAX];
static size_t good_size;
static size_t starts[16]; /* of the records in good */
static size_t n_starts;

/* A record of each kind, some with padding. */
static int make_good(void **state)
{
	struct spool_header header = fixture_header();
	struct spool_pass_begin begin = {.pass = 1, .passes = 2, .pid = 4711, .attempt = 1};
	struct spool_pass_end end = {.pass = 1, .exit_code = 7};
	struct spool_kernel kernel = {.kernel = 1};
	struct spool_dispatch dispatch = {.dispatch = 0, .kernel = 1, .grid = {1, 2, 3}};
	struct spool_note note = {.kind = SPOOL_NOTE_DECLINED};
	struct spool_record record;
	struct spool_writer w;
	struct spool_reader r;
	FILE *f;

	if (fixture_setup(state) || spool_create(&w, fixture_path, &header, NULL) ||
	    spool_append(&w, SPOOL_PASS_BEGIN, &begin, sizeof(begin), "app", 3, NULL) ||
	    spool_append(&w, SPOOL_KERNEL, &kernel, sizeof(kernel), "_Z3foov", 7, NULL) ||
	    spool_append(&w, SPOOL_DISPATCH, &dispatch, sizeof(dispatch), NULL, 0, NULL) ||
	    fixture_append(&w, 3, NULL) || fixture_append(&w, 8, NULL) ||
	    spool_append(&w, SPOOL_NOTE, &note, sizeof(note), "why not", 7, NULL) ||
	    spool_append(&w, SPOOL_PASS_END, &end, sizeof(end), NULL, 0, NULL) ||
	    spool_close(&w, NULL))
		return -1;
	f = fopen(fixture_path, "rb");
	good_size = f ? fread(good, 1, sizeof(good), f) : 0;
	if (f)
		fclose(f);
	if (fixture_teardown(state) || spool_open_bytes(&r, "good", good, good_size, NULL))
		return -1;
	while (spool_next(&r, &record, NULL) == 1)
		starts[n_starts++] = record.offset;
	return r.closed && n_starts == 7 ? 0 : -1;
}

struct outcome {
	int open_rc, rc;
	size_t n;
	bool torn, closed;
	struct error err;
};

/* Reads bytes; every record that comes out must be the good one in its place. */
static struct outcome read_bytes(const unsigned char *bytes, size_t size)
{
	/* From malloc, so that reading outside is seen by a sanitizer. */
	unsigned char *copy = malloc(size ? size : 1);
	struct outcome o = {0};
	struct spool_record record;
	struct spool_reader r;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	o.open_rc = spool_open_bytes(&r, "bytes", copy, size, &o.err);
	if (!o.open_rc) {
		while ((o.rc = spool_next(&r, &record, &o.err)) == 1) {
			assert_in_range(o.n, 0, n_starts - 1);
			assert_int_equal(record.offset, starts[o.n]);
			assert_true(starts[o.n] + 16 + record.size <= good_size);
			assert_memory_equal(record.payload, good + starts[o.n] + 16, record.size);
			o.n++;
		}
		if (o.rc) /* an error stays */
			assert_int_equal(spool_next(&r, &record, NULL), o.rc);
		o.torn = r.torn;
		o.closed = r.closed;
		spool_close_reader(&r);
	}
	free(copy);
	return o;
}

static void test_every_byte_changed(void **state)
{
	static const unsigned char masks[] = {0x01, 0x80, 0xff};
	unsigned char bytes[SPOOL_BYTES_MAX];

	(void)state;
	for (size_t i = 0; i < good_size; i++) {
		for (size_t m = 0; m <= sizeof(masks); m++) {
			struct outcome o;

			memcpy(bytes, good, good_size);
			/* The last round writes a zero, which may change nothing. */
			bytes[i] = m < sizeof(masks) ? (unsigned char)(good[i] ^ masks[m]) : 0;
			o = read_bytes(bytes, good_size);
			if (bytes[i] == good[i]) {
				assert_true(o.closed);
				continue;
			}
			if (i < 256) {
				assert_true(o.open_rc == RC_CORRUPT || o.open_rc == RC_MISMATCH);
				assert_non_null(strstr(o.err.message, "bytes: "));
				continue;
			}
			assert_int_equal(o.open_rc, 0);
			assert_false(o.closed);
			if (o.n < n_starts && i < starts[n_starts - 1])
				assert_int_equal(o.rc, RC_CORRUPT);
			assert_true(o.rc == RC_CORRUPT || o.torn);
			/* Everything before the damage is there. */
			for (size_t k = 0; k < n_starts; k++)
				if (i >= (k + 1 < n_starts ? starts[k + 1] : good_size - 16))
					assert_true(o.n > k);
			if (o.rc)
				assert_non_null(strstr(o.err.message, "offset "));
		}
	}
}

static void test_every_length(void **state)
{
	(void)state;
	for (size_t size = 0; size < good_size; size++) {
		struct outcome o = read_bytes(good, size);
		size_t whole = 0;

		if (size < 256) {
			assert_int_equal(o.open_rc, RC_CORRUPT);
			continue;
		}
		while (whole < n_starts &&
		       size >= (whole + 1 < n_starts ? starts[whole + 1] : good_size - 16))
			whole++;
		assert_int_equal(o.open_rc, 0);
		assert_int_equal(o.rc, 0);
		assert_int_equal(o.n, whole);
		assert_false(o.closed);
	}
}

/* What a process that is still running, or was killed, leaves: no end, then zeros. */
static void test_zero_tail(void **state)
{
	unsigned char bytes[SPOOL_BYTES_MAX] = {0};
	size_t end = good_size - 16;
	struct outcome o;

	(void)state;
	memcpy(bytes, good, end);
	for (size_t size = end; size < end + 40; size++) {
		o = read_bytes(bytes, size);
		assert_int_equal(o.rc, 0);
		assert_int_equal(o.n, n_starts);
		assert_false(o.torn);
		assert_false(o.closed);
	}
	memcpy(bytes, good, good_size);
	o = read_bytes(bytes, sizeof(bytes));
	assert_true(o.closed);
	/* Written up to its length: torn, and the rest is there. */
	memset(bytes + starts[n_starts - 1], 0, 4);
	memset(bytes + good_size - 16, 0, 16);
	o = read_bytes(bytes, sizeof(bytes));
	assert_int_equal(o.rc, 0);
	assert_int_equal(o.n, n_starts - 1);
	assert_true(o.torn);
	/* Something behind the end. */
	memcpy(bytes, good, good_size);
	bytes[3000] = 1;
	o = read_bytes(bytes, sizeof(bytes));
	assert_int_equal(o.rc, RC_CORRUPT);
	assert_int_equal(o.n, n_starts);
}

/* A closed file that was made longer, and whose process died before it wrote the windows' words. */
static void test_made_longer(void **state)
{
	const size_t size = 131072;
	unsigned char *bytes = calloc(1, size + 64);

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, good, good_size);
	for (size_t n = 65536; n <= size; n += 8192) {
		struct outcome o = read_bytes(bytes, n);

		assert_int_equal(o.rc, 0);
		assert_int_equal(o.n, n_starts);
		assert_true(o.closed);
	}
	/* With a log behind the windows it is damage: nobody knows where that ends. */
	assert_int_equal(read_bytes(bytes, size + 64).rc, RC_CORRUPT);
	free(bytes);
}

/* A length of zero in the middle is damage, not the end of the file. */
static void test_lost_length(void **state)
{
	unsigned char bytes[SPOOL_BYTES_MAX];
	struct outcome o;

	(void)state;
	for (size_t k = 0; k < n_starts; k++) {
		memcpy(bytes, good, good_size);
		memset(bytes + starts[k], 0, 4);
		o = read_bytes(bytes, good_size);
		assert_int_equal(o.rc, RC_CORRUPT);
		assert_int_equal(o.n, k);
		assert_non_null(strstr(o.err.message, "records follow"));
	}
}

/* A block in the wrong place has a right checksum, but not there. */
static void test_moved_record(void **state)
{
	unsigned char bytes[SPOOL_BYTES_MAX];
	struct outcome o;

	(void)state;
	memcpy(bytes, good, good_size);
	/* Records 0 and 1 change places; they have the lengths 43 and 31. */
	memcpy(bytes + 256, good + starts[1], 32);
	memcpy(bytes + 256 + 32, good + starts[0], 48);
	o = read_bytes(bytes, good_size);
	assert_int_equal(o.rc, RC_CORRUPT);
	assert_int_equal(o.n, 0);
}

/* Whole records whose content lies about its size. */
static void test_misshapen(void **state)
{
	static const struct {
		enum spool_type type;
		size_t size;
	} cases[] = {
		{SPOOL_PASS_BEGIN, sizeof(struct spool_pass_begin)},
		{SPOOL_PASS_END, sizeof(struct spool_pass_end)},
		{SPOOL_KERNEL, sizeof(struct spool_kernel)},
		{SPOOL_DISPATCH, sizeof(struct spool_dispatch)},
		{SPOOL_SAMPLES, sizeof(struct spool_samples)},
		{SPOOL_NOTE, sizeof(struct spool_note)},
		{SPOOL_WINDOW, sizeof(struct spool_window)},
		{SPOOL_DECLINE, sizeof(struct spool_decline)},
	};
	struct spool_header header = fixture_header();
	uint64_t payload[32];
	struct spool_samples *samples = (struct spool_samples *)payload;
	struct spool_record record;
	struct spool_writer w;
	struct spool_reader r;
	struct error err;

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases) + 3; i++) {
		size_t k = i / 2, n_cases = sizeof(cases) / sizeof(*cases);
		enum spool_type type = k < n_cases ? cases[k].type : SPOOL_SAMPLES;
		size_t size = k < n_cases ? cases[k].size - i % 2 : sizeof(*samples) + 32;
		bool is_good = k < n_cases && !(i % 2);

		memset(payload, 0, sizeof(payload));
		if (k >= n_cases) { /* room for two samples: 2 fit, 3 and a huge number do not */
			samples->n = i - 2 * n_cases == 0   ? 2
				     : i - 2 * n_cases == 1 ? 3
							    : UINT32_MAX;
			is_good = samples->n == 2;
		}
		assert_int_equal(fixture_setup(state), 0);
		assert_int_equal(spool_create(&w, fixture_path, &header, NULL), 0);
		assert_int_equal(spool_append(&w, type, payload, size, NULL, 0, NULL), 0);
		assert_int_equal(spool_close(&w, NULL), 0);
		assert_int_equal(spool_open(&r, fixture_path, NULL), 0);
		assert_int_equal(spool_next(&r, &record, &err), is_good ? 1 : RC_CORRUPT);
		if (!is_good)
			assert_non_null(strstr(err.message, "offset 256"));
		spool_close_reader(&r);
		assert_int_equal(fixture_teardown(state), 0);
	}
}

/* A log of several windows: changes all over the file, at the windows' words, and cuts. What comes
 * out is a prefix; if it is not all, the reader says so. */
static void assert_honest_prefix(const unsigned char *bytes, size_t size, int64_t n_records)
{
	struct spool_record record;
	struct spool_reader r;
	struct error err = {0};
	int64_t n = 0;
	int rc;

	if (spool_open_bytes(&r, "bytes", bytes, size, &err)) {
		assert_string_not_equal(err.message, "");
		return;
	}
	while ((rc = spool_next(&r, &record, &err)) == 1)
		assert_true(fixture_is_record(&record, (uint64_t)n++));
	assert_true(n <= n_records);
	if (n < n_records)
		assert_true(rc == RC_CORRUPT || !r.closed);
	if (rc)
		assert_non_null(strstr(err.message, "damaged at offset"));
	spool_close_reader(&r);
}

static void test_several_windows(void **state)
{
	struct spool_header header = fixture_header();
	const int64_t n_records = 2500;
	unsigned char *bytes;
	struct spool_writer w;
	struct spool_reader r;
	uint64_t random = 7;
	struct stat st;
	FILE *f;

	assert_int_equal(fixture_setup(state), 0);
	assert_int_equal(spool_create(&w, fixture_path, &header, NULL), 0);
	for (int64_t i = 0; i < n_records; i++)
		assert_int_equal(fixture_append(&w, (uint64_t)i, NULL), 0);
	assert_int_equal(spool_close(&w, NULL), 0);
	assert_int_equal(stat(fixture_path, &st), 0);
	bytes = malloc((size_t)st.st_size);
	f = fopen(fixture_path, "rb");
	assert_true(bytes && f);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
	fclose(f);
	assert_int_equal(fixture_teardown(state), 0);
	assert_true(st.st_size > 3 * 65536);
	assert_int_equal(spool_open_bytes(&r, "bytes", bytes, (size_t)st.st_size, NULL), 0);
	assert_int_equal(fixture_count(&r, NULL), n_records);
	assert_true(r.closed);

	for (size_t i = 65536; i < 65536 + 16; i++) /* the words */
		for (unsigned mask = 1; mask < 256; mask *= 2) {
			bytes[i] ^= (unsigned char)mask;
			assert_honest_prefix(bytes, (size_t)st.st_size, n_records);
			bytes[i] ^= (unsigned char)mask;
		}
	for (int i = 0; i < 1000; i++) {
		size_t at;

		random = random * 6364136223846793005u + 1442695040888963407u;
		at = (size_t)(random >> 20) % (size_t)st.st_size;
		bytes[at] ^= (unsigned char)(1u << (random >> 17) % 8);
		assert_honest_prefix(bytes, (size_t)st.st_size, n_records);
		bytes[at] ^= (unsigned char)(1u << (random >> 17) % 8);
		assert_honest_prefix(bytes, at, n_records);
	}
	for (size_t size = 65536 - 20; size < 65536 + 40; size++)
		assert_honest_prefix(bytes, size, n_records);
	for (size_t size = 131072 - 20; size < 131072 + 40; size++)
		assert_honest_prefix(bytes, size, n_records);
	memset(bytes + 65536, 0, 16);
	assert_int_equal(spool_open_bytes(&r, "bytes", bytes, (size_t)st.st_size, NULL), 0);
	assert_int_equal(fixture_count(&r, NULL), -1);
	free(bytes);
}

static void test_other_versions(void **state)
{
	unsigned char bytes[SPOOL_BYTES_MAX];
	struct outcome o;

	(void)state;
	memcpy(bytes, good, good_size);
	bytes[8] = 9;
	o = read_bytes(bytes, good_size);
	assert_int_equal(o.open_rc, RC_MISMATCH);
	assert_non_null(strstr(o.err.message, "version 9, this retally reads 1"));
	memcpy(bytes, good, good_size);
	for (int i = 0; i < 4; i++)
		bytes[12 + i] = good[15 - i];
	o = read_bytes(bytes, good_size);
	assert_int_equal(o.open_rc, RC_MISMATCH);
	assert_non_null(strstr(o.err.message, "other byte order"));
}

static void test_not_a_spool(void **state)
{
	struct spool_reader r;
	struct error err = {0};

	assert_int_equal(fixture_setup(state), 0);
	assert_int_equal(spool_open(&r, fixture_path, &err), RC_NOT_FOUND);
	assert_int_equal(spool_open(&r, fixture_dir, &err), RC_INVALID);
	assert_int_equal(mkfifo(fixture_path, 0600), 0);
	assert_int_equal(spool_open(&r, fixture_path, &err), RC_INVALID); /* and does not wait */
	assert_int_equal(unlink(fixture_path), 0);
	close(open(fixture_path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(spool_open(&r, fixture_path, &err), RC_CORRUPT);
	assert_int_equal(truncate(fixture_path, 65536), 0);
	assert_int_equal(spool_open(&r, fixture_path, &err), RC_CORRUPT);
	assert_non_null(strstr(err.message, "ended before it was written"));
	assert_int_equal(fixture_teardown(state), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte_changed), cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_made_longer),        cmocka_unit_test(test_zero_tail),
		cmocka_unit_test(test_lost_length),        cmocka_unit_test(test_moved_record),
		cmocka_unit_test(test_misshapen),          cmocka_unit_test(test_several_windows),
		cmocka_unit_test(test_other_versions),     cmocka_unit_test(test_not_a_spool),
	};

	return cmocka_run_group_tests(tests, make_good, NULL);
}
