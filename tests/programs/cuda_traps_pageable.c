/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of devices that reach all memory of the host, and numbers that look like its addresses.
 * Both need RETALLY_STANDIN_PAGEABLE. */
#include "cuda_traps.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static unsigned words[N];

static void updated(const char *name, unsigned *host)
{
	cu_ptr x = (cu_ptr)(uintptr_t)host;

	launch(q, "update", &x, &n);
	launch(q, "update", &x, &n);
	works(cuStreamSynchronize(q));
	host[3] += 10; /* no call tells of that */
	launch(q, "update", &x, &n);
	works(cuStreamSynchronize(q));
	show(name, hash_bytes((unsigned char *)host, BYTES));
}

/* at: NULL: anywhere. */
static void *anew(uintptr_t at, size_t size, int protection)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0);
	void *is = mmap((void *)at, size, protection, flags, -1, 0);

	if (is == MAP_FAILED)
		exit(4);
	return is;
}

/* Each is new to the program when it is used first. */
void pageable(void)
{
	unsigned *block = calloc(N, sizeof(*block)), *pages, local[N] = {0};
	struct CUgraphExec_st *exec;
	struct CUgraph_st *g;
	cu_ptr x = (cu_ptr)(uintptr_t)words;

	if (!block)
		exit(4);
	updated("block", block);
	updated("static", words);
	updated("local", local);
	pages = anew(0, BYTES, PROT_READ | PROT_WRITE);
	updated("pages", pages);
	munmap(pages, BYTES);
	free(block);
	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "update", &x, &n);
	works(cuStreamEndCapture(q, &g));
	works(cuGraphInstantiateWithFlags(&exec, g, 0));
	for (int i = 0; i < 2; i++)
		works(cuGraphLaunch(exec, q));
	works(cuStreamSynchronize(q));
	show("graph", hash_bytes((unsigned char *)words, sizeof(words)));
	works(cuGraphExecDestroy(exec));
	works(cuGraphDestroy(g));
}

static void with_numbers(cu_ptr x, unsigned m, uint64_t l)
{
	unsigned some = 1000;

	launch(q, "update_numbers", &x, m ? &n : &some, &m, &l);
	works(cuStreamSynchronize(q));
}

/* None of them is an address of memory that the program can write, but for the end of a memory. */
void numbers(void)
{
	static const unsigned constant[4] = {1, 2, 3, 4};
	size_t size = 4096;
	uintptr_t low = (uintptr_t)8 << 32;
	void *above = anew(0, size, PROT_READ | PROT_WRITE), *none, *reads;
	/* Two numbers of four bytes each, which side by side are an address. */
	void *two = anew(low + n - n % size, size, PROT_READ | PROT_WRITE);
	void *behind;
	cu_ptr x;

	/* What is mapped behind it already, as Linux does it, will do as well. */
	works(cuMemAllocManaged(&x, size, 1));
	behind = mmap((void *)(uintptr_t)(x + size), size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	none = anew(0, size, PROT_NONE);
	reads = anew(0, size, PROT_READ);
	with_numbers(a, 8, 0);
	with_numbers(a, 0, low);
	with_numbers(a, 0, (uintptr_t)none + 5);
	with_numbers(a, 0, (uintptr_t)reads + 5);
	with_numbers(a, 0, (uintptr_t)constant);
	with_numbers(a, 0, a + BYTES);
	with_numbers(a, 0, UINT64_MAX / 3);
	with_numbers(x, 0, x + size);
	show("numbers data", hash(x, size));
	works(cuMemFree_v2(x));
	if (behind != MAP_FAILED)
		munmap(behind, size);
	munmap(above, size);
	munmap(two, size);
	munmap(none, size);
	munmap(reads, size);
}
