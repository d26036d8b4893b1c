/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for the tests of the HTML report: writes a run directory.
 *
 * make_page_dir hostile DIR    names, notes and reasons that would be dangerous as HTML, in three
 * passes of which the last is missing make_page_dir many DIR N     N dispatches of 64 kernels in
 * one process
 *
 * DIR must not exist.
 */
#include "../test.h"
#include "run_dir.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const hostile[] = {
	"</script><script>document.title='owned'</script>",
	"\"><img src=x onerror=\"document.title='owned'\">",
	"<!--<script>",
	"'single' \"double\" back\\slash",
	"bell\x07 escape\x1b[31m newline\n tab\t",
	"gpu\xe2\x80\256cod.exe", /* octal: a hexadecimal escape would take the c, too */
	"left \xe2\x81\xa6isolate",
	"line\xe2\x80\xa8separator",
	"not utf-8 \xff\xfe",
	"@DATA@ @SCRIPT@ &lt;b&gt; &amp;",
	"__proto__",
	"constructor",
	"${7*7} {{7*7}}",
	"javascript:document.title='owned'",
};
#define N_HOSTILE (sizeof(hostile) / sizeof(hostile[0]))

static void add_all_kernels(struct spool_writer *w, const char *longest)
{
	for (uint32_t k = 0; k < N_HOSTILE; k++)
		add_kernel(w, k + 1, hostile[k]);
	add_kernel(w, N_HOSTILE + 1, longest);
}

static void write_hostile(struct run_dir *d)
{
	struct spool_sample samples[3];
	struct spool_writer w;
	char longest[2001];

	memset(longest, 'W', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	run_dir_spool(d, &w, "a", SPOOL_RANK_NONE);
	add_begin(&w, 1, 3);
	add_all_kernels(&w, longest);
	for (uint32_t pass = 1; pass <= 2; pass++) {
		if (pass == 2)
			add_begin(&w, 2, 3);
		for (uint32_t k = 0; k <= N_HOSTILE; k++) {
			add_replayed(&w, pass, k, k + 1, SPOOL_UNIT_DISPATCH, 1, 0);
			samples[0] = SAMPLE_U(CYCLES, 1000 + k);
			samples[1] = SAMPLE_U(pass == 1 ? INSTRUCTIONS : STEPS, 2000 + 7 * k);
			samples[2] = SAMPLE_U(BRANCHES, 100 + k);
			add_samples(&w, pass, k, samples, pass == 1 ? 3 : 2);
		}
		if (pass == 1)
			add_note(&w, 1, SPOOL_NOTE_FINDING,
				 "<img src=x onerror=\"document.title='owned'\">");
		if (pass == 1)
			add_decline(&w, 1, 3, SPOOL_INSTEAD_NOTHING, "</script><b>reason</b>");
		add_end(&w, pass, 0, 0, 0);
	}
	finish(&w);
}

static void write_many(struct run_dir *d, uint64_t n)
{
	struct spool_sample samples[3];
	struct spool_writer w;
	uint64_t at = 1000000;
	char name[64];

	run_dir_spool(d, &w, "a", SPOOL_RANK_NONE);
	add_begin(&w, 1, 3);
	for (uint32_t k = 1; k <= 64; k++) {
		snprintf(name, sizeof(name), "void kernel_%u<float, %u>(float *)", k, k * 32);
		add_kernel(&w, k, name);
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t mixed = i * 0x9e3779b97f4a7c15u >> 40;
		struct spool_dispatch one = {.dispatch = i,
					     .kernel = (uint32_t)(mixed % 64 + 1),
					     .unit = SPOOL_UNIT_DISPATCH,
					     .pass = 1,
					     .grid = {64, 2, 1},
					     .block = {256, 1, 1},
					     .begin_ns = at,
					     .end_ns = at + 2000 + mixed % 9000};

		at = one.end_ns + 500 + mixed % 700;
		assert_int_equal(spool_append(&w, SPOOL_DISPATCH, &one, sizeof(one), NULL, 0, NULL),
				 0);
		samples[0] = SAMPLE_U(CYCLES, 1000 + mixed % 5000);
		samples[1] = SAMPLE_U(INSTRUCTIONS, 3000 + mixed % 11000);
		samples[2] = SAMPLE_U(BRANCHES, mixed % 300);
		add_samples(&w, 1, i, samples, 3);
	}
	add_end(&w, 1, 0, 0, 0);
	finish(&w);
}

int main(int argc, char **argv)
{
	struct run_dir d;

	if (argc < 3)
		return 2;
	run_dir_init(&d, small_plan());
	if (!strcmp(argv[1], "hostile"))
		write_hostile(&d);
	else
		write_many(&d, argc > 3 ? strtoull(argv[3], NULL, 10) : 100000);
	if (rename(d.path, argv[2])) {
		perror(argv[2]);
		return 1;
	}
	return 0;
}
