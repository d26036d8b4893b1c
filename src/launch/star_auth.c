/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4, from its specification (https://www.aumasson.jp/siphash/siphash.pdf). */
#include "launch/star_auth.h"

static uint64_t star_auth_load(const unsigned char *p, size_t n)
{
	uint64_t x = 0;

	for (size_t i = 0; i < n; i++)
		x |= (uint64_t)p[i] << (8 * i);
	return x;
}

static uint64_t star_auth_turn(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void star_auth_rounds(uint64_t v[4], int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = star_auth_turn(v[1], 13) ^ v[0];
		v[3] = star_auth_turn(v[3], 16) ^ v[2];
		v[0] = star_auth_turn(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = star_auth_turn(v[1], 17) ^ v[2];
		v[3] = star_auth_turn(v[3], 21) ^ v[0];
		v[2] = star_auth_turn(v[2], 32);
	}
}

uint64_t star_auth_tag(const unsigned char key[STAR_KEY_SIZE], const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t k0 = star_auth_load(key, 8), k1 = star_auth_load(key + 8, 8);
	uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du,
			 k0 ^ 0x6c7967656e657261u, k1 ^ 0x7465646279746573u};
	uint64_t last = (uint64_t)n << 56;

	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word = star_auth_load(p, 8);

		v[3] ^= word;
		star_auth_rounds(v, 2);
		v[0] ^= word;
	}
	last |= star_auth_load(p, n);
	v[3] ^= last;
	star_auth_rounds(v, 2);
	v[0] ^= last;
	v[2] ^= 0xff;
	star_auth_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
