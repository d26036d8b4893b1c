/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of what may be merged: the same plan, command and filters have the same collection id.
 */
#ifndef RETALLY_WIRE_COLLECTION_H
#define RETALLY_WIRE_COLLECTION_H

#include "base/hash.h"

/* argv is NULL-terminated; filters is the canonical text of the run's filters, "" when there are
 * none. Returns 0, or RC_NO_MEMORY. Thread-safe. */
int collection_id(const char *plan_hash, const char *const *argv, const char *filters,
		  char id_out[HASH_TEXT_SIZE]);
/* A new launch id: time, pid and random bits as hex; different for every call. */
void launch_id(char id_out[HASH_TEXT_SIZE]);

#endif
