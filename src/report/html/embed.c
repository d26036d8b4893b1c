/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the build: puts the style and the scripts into the page and writes it as two C
 * arrays, what comes before the document of a report and what follows. Their SHA-256 (FIPS 180-4)
 * goes into the content security policy: a browser runs these scripts and no others.
 *
 * embed PAGE STYLE SCRIPT... >FILE.c
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
	unsigned char *at;
	size_t n;
};

static void add(struct bytes *b, const void *more, size_t n)
{
	unsigned char *p = realloc(b->at, b->n + n + 1);

	if (!p) {
		fputs("embed: out of memory\n", stderr);
		exit(1);
	}
	memcpy(p + b->n, more, n);
	b->at = p;
	b->n += n;
	p[b->n] = 0;
}

static struct bytes read_file(const char *path)
{
	FILE *f = fopen(path, "rbe");
	struct bytes b = {0};
	char part[4096];
	size_t n;

	if (!f) {
		perror(path);
		exit(1);
	}
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		add(&b, part, n);
	fclose(f);
	return b;
}

/* ---- SHA-256 ---- */

/* The first 32 bits of the fractional part of the cube root (or square root) of a prime. */
static uint32_t root_bits(uint32_t prime, bool cube)
{
	/* The largest x with x^3 <= prime * 2^96, or x^2 <= prime * 2^64, bit by bit. */
	uint64_t x = 0;

	for (int bit = 35; bit >= 0; bit--) {
		unsigned __int128 t = x | 1ull << bit, limit = prime;

		if (cube ? t * t <= (limit << 96) / t : t * t <= limit << 64)
			x = (uint64_t)t;
	}
	return (uint32_t)x;
}

static uint32_t turn(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void hash_block(uint32_t h[8], const uint32_t k[64], const unsigned char *block)
{
	uint32_t w[64], s[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       w[i - 7] + (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, h, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t t1 = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) +
			      ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
		uint32_t t2 = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) +
			      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		h[i] += s[i];
}

static void sha256(const struct bytes *b, unsigned char out[32])
{
	uint32_t h[8], k[64], prime = 2;
	unsigned char length[8];
	struct bytes padded = {0};

	for (int i = 0; i < 64; prime++) {
		bool is_prime = true;

		for (uint32_t d = 2; d * d <= prime; d++)
			is_prime = is_prime && prime % d;
		if (!is_prime)
			continue;
		if (i < 8)
			h[i] = root_bits(prime, false);
		k[i++] = root_bits(prime, true);
	}
	add(&padded, b->at, b->n);
	add(&padded, "\x80", 1);
	while (padded.n % 64 != 56)
		add(&padded, "", 1);
	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)((uint64_t)b->n * 8 >> (56 - 8 * i));
	add(&padded, length, 8);
	for (size_t i = 0; i < padded.n; i += 64)
		hash_block(h, k, padded.at + i);
	for (int i = 0; i < 32; i++)
		out[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
	free(padded.at);
}

static void add_hash(struct bytes *out, const struct bytes *b)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char hash[33] = {0};

	sha256(b, hash);
	for (int i = 0; i < 33; i += 3) {
		uint32_t x = (uint32_t)hash[i] << 16 | (uint32_t)hash[i + 1] << 8 | hash[i + 2];

		for (int d = 0; d < 4; d++)
			add(out, i == 30 && d == 3 ? "=" : &digits[x >> (18 - 6 * d) & 63], 1);
	}
}

/* ---- the page ---- */

static void print_array(const char *name, const unsigned char *at, size_t n)
{
	printf("const size_t html_%s_size = %zu;\nconst unsigned char html_%s[] = {", name, n,
	       name);
	for (size_t i = 0; i < n; i++)
		printf("%s%u,", i % 20 ? "" : "\n", at[i]);
	puts("\n};");
}

static struct bytes fill(const struct bytes *page, const struct bytes *style,
			 const struct bytes *script)
{
	struct bytes out = {0};

	for (size_t i = 0; i < page->n;) {
		const char *at = (const char *)page->at + i;

		if (!strncmp(at, "@STYLE@", 7)) {
			add(&out, style->at, style->n);
			i += 7;
		} else if (!strncmp(at, "@SCRIPT@", 8)) {
			add(&out, script->at, script->n);
			i += 8;
		} else if (!strncmp(at, "@STYLE_HASH@", 12)) {
			add_hash(&out, style);
			i += 12;
		} else if (!strncmp(at, "@SCRIPT_HASH@", 13)) {
			add_hash(&out, script);
			i += 13;
		} else {
			add(&out, at, 1);
			i++;
		}
	}
	return out;
}

int main(int argc, char **argv)
{
	static const char mark[] = "@DATA@";
	struct bytes page, style, script = {0}, whole;
	const char *at;

	if (argc < 4)
		return 2;
	page = read_file(argv[1]);
	style = read_file(argv[2]);
	for (int i = 3; i < argc; i++) {
		struct bytes one = read_file(argv[i]);

		add(&script, one.at, one.n);
		free(one.at);
	}
	if (strstr((const char *)script.at, "</script") ||
	    strstr((const char *)style.at, "</style")) {
		fputs("embed: a script or style would end its own element\n", stderr);
		return 1;
	}
	whole = fill(&page, &style, &script);
	at = strstr((const char *)whole.at, mark);
	if (!at) {
		fprintf(stderr, "embed: %s has no %s\n", argv[1], mark);
		return 1;
	}
	puts("/* written by the build */\n#include \"report/html.h\"\n");
	print_array("head", whole.at, (size_t)(at - (const char *)whole.at));
	at += sizeof(mark) - 1;
	print_array("tail", (const unsigned char *)at,
		    whole.n - (size_t)(at - (const char *)whole.at));
	free(page.at);
	free(style.at);
	free(script.at);
	free(whole.at);
	return fflush(stdout) ? 1 : 0;
}
