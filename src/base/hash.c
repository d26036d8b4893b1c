/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 behind two functions, so that the header is compiled once. */
#include "base/hash.h"

#include <stdio.h>
#include <xxhash.h>

uint64_t hash64(const void *bytes, size_t n)
{
	return XXH3_64bits(bytes, n);
}

void hash_text(const void *bytes, size_t n, char text_out[HASH_TEXT_SIZE])
{
	XXH128_hash_t h = XXH3_128bits(bytes, n);

	snprintf(text_out, HASH_TEXT_SIZE, "%016llx%016llx", (unsigned long long)h.high64,
		 (unsigned long long)h.low64);
}
