/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes: XXH3 (header-only xxHash). Not for secrets. The values are part of the file formats. */
#ifndef RETALLY_BASE_HASH_H
#define RETALLY_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash64(const void *bytes, size_t n);
#define HASH_TEXT_SIZE 33 /* 128 bits in hex and a NUL */
/* 128-bit content hash as lower-case hex. */
void hash_text(const void *bytes, size_t n, char text_out[HASH_TEXT_SIZE]);

#endif
