/* SPDX-License-Identifier: Apache-2.0 */
/* A program for the tests' device that replay ruins wherever it is not exact. */
#include "../test.h"
#include "fake.h"

void fake_let_wait(struct fake *f, int flag, int a)
{
	f->buffers[flag].bytes[0] = 0;
	fake_launch(f, &(struct fake_launch)FAKE(wait, .n_args = 1, .args = {flag}));
	if (a >= 0)
		fake_launch(
			f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a}, .queue = 1));
	fake_sync(f, "write"); /* does not hang, although nothing drains */
	f->buffers[flag].bytes[0] = 1;
	assert_true(fake_sync(f, "finish"));
}

/* A program with everything that is not idempotent; returns the hash of its memory. */
uint64_t fake_program(struct fake *f)
{
	int a = fake_alloc(f, 40000, 0, NULL), b = fake_alloc(f, 40000, 0, NULL);
	int list = fake_alloc(f, 64, 0, NULL), flag = fake_alloc(f, 8, 0, NULL);
	int sum = fake_alloc(f, 8, 0, NULL);
	uint64_t h;

	f->buffers[list].bytes[0] = 0;
	f->buffers[flag].bytes[0] = 0;
	for (int i = 0; i < 6; i++) {
		fake_launch(f,
			    &(struct fake_launch)FAKE(add, .n_args = 1, .args = {a}, .value = 3));
		fake_launch(f, &(struct fake_launch)FAKE(append, .n_args = 1, .args = {list},
							 .value = (uint64_t)i));
		fake_launch(f, &(struct fake_launch){.n_args = 2, .args = {a, b}});
		fake_launch(f, &(struct fake_launch)FAKE(done, .n_args = 1, .args = {flag}));
		fake_launch(f, &(struct fake_launch)FAKE(dot, .n_args = 2, .args = {b, sum}));
		fake_launch(f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {b},
							 .value = 20000));
		fake_launch(f, &(struct fake_launch)FAKE(fill, .n_args = 1, .args = {sum},
							 .access = {RUNTIME_ONLY_WRITES},
							 .value = (uint64_t)i));
		if (i == 2)
			assert_true(fake_sync(f, "finish"));
	}
	assert_true(fake_sync(f, "finish"));
	h = fake_hash(f);
	fake_free(f, b);
	return h;
}

uint64_t fake_program_alone(void)
{
	struct fake f;
	uint64_t h;

	fake_init(&f, 1);
	h = fake_program(&f);
	fake_release(&f);
	return h;
}
