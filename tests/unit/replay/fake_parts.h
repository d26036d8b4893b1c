/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tests' device share: commands of a queue, units, failures. */
#ifndef RETALLY_TESTS_UNIT_REPLAY_FAKE_PARTS_H
#define RETALLY_TESTS_UNIT_REPLAY_FAKE_PARTS_H

#include "fake.h"

enum fake_command_kind {
	COMMAND_LAUNCH = 1,
	COMMAND_SAVE,
	COMMAND_UNIT_BEGIN,
	COMMAND_UNIT_END
};
struct fake_command {
	enum fake_command_kind kind;
	struct fake_launch launch;
	uint8_t *from, *store;
	uint64_t store_offset, bytes;
	uint32_t unit;
};

extern const struct runtime fake_runtime;
extern const struct source fake_source;

/* Whether the engine has told, in this thread, that it is at work of its own. */
bool fake_is_own(void);
/* The device's lock is held. */
int fake_fails(struct fake *f, enum fake_call call, struct error *err);
void fake_push(struct fake *f, uint32_t queue, struct fake_command c);
bool fake_progress(struct fake *f);
void fake_unit_begins(struct fake *f, uint32_t queue, uint32_t unit);
void fake_unit_ends(struct fake *f, uint32_t queue, uint32_t unit);
void fake_unit_works(struct fake *f, uint32_t queue, uint64_t work);

int fake_append_record(void *data, enum spool_type type, const void *a, size_t na, const void *b,
		       size_t nb, struct error *err);

#endif
