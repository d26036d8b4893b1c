/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine that does nothing but write down what the sim runtime tells it, so that the runtime is
 * tested alone. One device at a time.
 */
#ifndef RETALLY_TESTS_UNIT_SIM_FAKE_ENGINE_H
#define RETALLY_TESTS_UNIT_SIM_FAKE_ENGINE_H

#include "replay/replay.h"

#include <stdbool.h>

#define FAKE_OPS_MAX 4096

struct fake_op {
	struct runtime_op op; /* kernel and reach point into copies below */
	char kernel[64];
	struct runtime_reach reach[8];
	bool launched;
};
struct fake_engine {
	const struct runtime *runtime;
	void *device; /* the runtime's */
	const struct source *source;
	void *native;
	enum replay_verdict verdict; /* of every operation */
	bool no_room;                /* memories are not taken */
	struct fake_op ops[FAKE_OPS_MAX];
	uint32_t n_ops, n_after;
	char boundaries[4096]; /* their reasons, a space behind each; those of callbacks with '!' */
	uint32_t n_memories;   /* alive */
	bool disabled;
};
extern struct fake_engine fake;
void fake_reset(void);

#endif
