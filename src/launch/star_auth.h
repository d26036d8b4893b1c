/* SPDX-License-Identifier: Apache-2.0 */
/* The keyed hash by which members of a star recognise each other: SipHash-2-4 (Aumasson and
 * Bernstein, 2012), a MAC with a 128-bit key and a 64-bit tag. */
#ifndef RETALLY_LAUNCH_STAR_AUTH_H
#define RETALLY_LAUNCH_STAR_AUTH_H

#include <stddef.h>
#include <stdint.h>

#define STAR_KEY_SIZE 16

uint64_t star_auth_tag(const unsigned char key[STAR_KEY_SIZE], const void *bytes, size_t n);

#endif
