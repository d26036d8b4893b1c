/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks ranges with rocTX around kernels on the model GPU: two of "steps" (pushed and popped, with
 * "inner" in the second), one of "whole" (started here, stopped by another thread), and a kernel
 * outside of all. Prints what the kernels computed.
 */
#include "hsa_program.h"
#include "t0_kernels.h"

#include <pthread.h>
#include <stdio.h>

int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);

#define WORDS 1024u
static struct hsa_queue *queue;
static uint64_t kernel, done;
static void *arguments;

static void step(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		hsa_launch(queue, kernel, WORDS, arguments, 0, 0);
	hsa_signal_store_relaxed(done, 1);
	hsa_barrier(queue, 0, done);
	hsa_await(done);
}

static void *stop(void *id)
{
	roctxRangeStop(*(uint64_t *)id);
	return NULL;
}

int main(void)
{
	struct t0_accumulate a = {.n = WORDS, .add = 3};
	uint64_t id;
	pthread_t t;

	hsa_start();
	queue = hsa_new_queue(0, 256);
	kernel = hsa_kernel(hsa_code, 0, "accumulate");
	done = hsa_new_signal(1);
	a.buffer = hsa_device(0, WORDS * 4);
	arguments = hsa_arguments(&a, sizeof(a));
	step(1);
	roctxRangePushA("steps");
	step(3);
	roctxRangePop();
	roctxRangePushA("steps");
	step(1);
	roctxRangePushA("inner");
	step(2);
	roctxRangePop();
	roctxRangePop();
	id = roctxRangeStartA("whole");
	step(4);
	if (pthread_create(&t, NULL, stop, &id))
		return 3;
	pthread_join(t, NULL);
	printf("ranges %016llx\n", (unsigned long long)hsa_sum(a.buffer, WORDS * 4));
	HSA_MUST(hsa_queue_destroy(queue));
	HSA_MUST(hsa_shut_down());
	return 0;
}
