/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls about graphs are watched, by the names that CUDA 13.0 has, and the words that a graph
 * is known by. */
#include "../test.h"
#include "runtime/cuda/calls.h"
#include "runtime/cuda/words.h"

#include <stdlib.h>
#include <string.h>

/* After these an executable graph does something else: it is judged again, or not replayed. */
static const char *const changes[] = {
	"cuGraphExecKernelNodeSetParams",
	"cuGraphExecKernelNodeSetParams_v2",
	"cuGraphExecMemcpyNodeSetParams",
	"cuGraphExecMemsetNodeSetParams",
	"cuGraphExecHostNodeSetParams",
	"cuGraphExecChildGraphNodeSetParams",
	"cuGraphExecEventRecordNodeSetEvent",
	"cuGraphExecEventWaitNodeSetEvent",
	"cuGraphExecExternalSemaphoresSignalNodeSetParams",
	"cuGraphExecExternalSemaphoresWaitNodeSetParams",
	"cuGraphExecBatchMemOpNodeSetParams",
	"cuGraphExecNodeSetParams",
	"cuGraphExecUpdate",
	"cuGraphExecUpdate_v2",
	"cuGraphExecSomethingNew",
	"cuGraphNodeSetSomethingNew",
	"cuGraphNewSetSomething_ptsz",
};
/* These tell, or change graphs that cannot be launched, or bring one to the device. */
static const char *const harmless[] = {
	"cuGraphCreate",
	"cuGraphAddKernelNode_v2",
	"cuGraphAddNode_v2",
	"cuGraphAddDependencies_v2",
	"cuGraphRemoveDependencies_v2",
	"cuGraphKernelNodeSetParams_v2",
	"cuGraphKernelNodeSetAttribute",
	"cuGraphKernelNodeCopyAttributes",
	"cuGraphMemcpyNodeSetParams",
	"cuGraphMemsetNodeSetParams",
	"cuGraphHostNodeSetParams",
	"cuGraphChildGraphNodeGetGraph",
	"cuGraphEventRecordNodeSetEvent",
	"cuGraphEventWaitNodeSetEvent",
	"cuGraphExternalSemaphoresSignalNodeSetParams",
	"cuGraphExternalSemaphoresWaitNodeGetParams",
	"cuGraphBatchMemOpNodeSetParams",
	"cuGraphMemAllocNodeGetParams",
	"cuGraphMemFreeNodeGetParams",
	"cuGraphConditionalHandleCreate",
	"cuGraphNodeSetParams",
	"cuGraphNodeGetEnabled",
	"cuGraphNodeGetDependencies_v2",
	"cuGraphNodeFindInClone",
	"cuGraphClone",
	"cuGraphDestroy",
	"cuGraphDestroyNode",
	"cuGraphGetNodes",
	"cuGraphGetEdges_v2",
	"cuGraphDebugDotPrint",
	"cuGraphRetainUserObject",
	"cuGraphReleaseUserObject",
	"cuGraphExecGetFlags",
	"cuGraphUpload_ptsz",
};

static void watches_what_changes_graphs(void **state)
{
	struct cuda_call_entry entry;
	bool per_thread;

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		assert_true(cuda_calls_find(changes[i], &entry, &per_thread));
		assert_true(entry.enter == cuda_call_boundary);
		assert_non_null(entry.leave);
	}
	assert_true(cuda_calls_find("cuGraphExecDestroy", &entry, &per_thread));
	assert_non_null(entry.enter);
	/* Within what was judged, but another graph than the window recorded. */
	assert_true(cuda_calls_find("cuGraphNodeSetEnabled", &entry, &per_thread));
	assert_true(entry.enter == cuda_call_boundary);
	assert_null(entry.leave);
	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
		assert_false(cuda_calls_find(harmless[i], &entry, &per_thread));
	/* Of another kind, by the beginning of their names alone. */
	assert_true(cuda_calls_find("cuGraphicsSomethingNew", &entry, &per_thread));
	assert_true(entry.enter == cuda_call_boundary);
	assert_null(entry.leave);
}

static bool has(const struct words *w, uint64_t word)
{
	for (size_t i = 0; i < w->room; i++)
		if (w->slots[i] == word)
			return true;
	return false;
}

static void keeps_each_word_once(void **state)
{
	struct words w = {0}, more = {0};
	unsigned char bytes[8 * 3 + 7];
	uint64_t word = 0x1000;

	(void)state;
	for (int twice = 0; twice < 2; twice++)
		for (uint64_t i = 0; i < 3000; i++)
			words_add(&w, 0x7f0000000000 + i * i * 64);
	words_add(&w, 0);
	words_add(&w, 4095); /* on no page that there can be */
	assert_int_equal(w.n, 3000);
	for (uint64_t i = 0; i < 3000; i++)
		assert_true(has(&w, 0x7f0000000000 + i * i * 64));
	for (size_t i = 0; i < 3; i++, word *= 16)
		memcpy(bytes + 1 + 8 * i, &word, sizeof(word));
	words_add_bytes(&more, bytes + 1, sizeof(bytes) - 1);
	assert_int_equal(more.n, 3);
	words_add_all(&w, &more);
	assert_int_equal(w.n, 3003);
	assert_true(has(&w, 0x1000) && has(&w, 0x10000) && has(&w, 0x100000));
	assert_false(w.unknown);
	words_release(&more);
	assert_int_equal(more.n, 0);
	words_release(&w);
}

static void does_not_know_too_many(void **state)
{
	struct words w = {0}, other = {0};

	(void)state;
	for (uint64_t i = 1; !w.unknown && i < 1u << 24; i++)
		words_add(&w, i << 12);
	assert_true(w.unknown);
	assert_null(w.slots);
	words_add(&w, 0x1000);
	assert_int_equal(w.n, 0);
	words_add(&other, 0x1000);
	words_add_all(&other, &w);
	assert_true(other.unknown);
	assert_null(other.slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(watches_what_changes_graphs),
		cmocka_unit_test(keeps_each_word_once),
		cmocka_unit_test(does_not_know_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
