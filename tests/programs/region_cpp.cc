// SPDX-License-Identifier: Apache-2.0
// Marks in C++: a scope that an exception leaves, marks that an exception skips, the allocator, and
// a region in a destructor at the end of the program.
#include "retally.h"

#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

static unsigned long state = 1;

extern "C" __attribute__((noinline)) void work(unsigned long *x)
{
	*x = *x * 3 + 1;
	__asm__ volatile("" ::: "memory");
}

static void scope(unsigned n)
{
	RETALLY_SCOPE("scope");
	for (unsigned i = 0; i < n; i++)
		work(&state);
	if (n == 2)
		throw std::runtime_error("two");
}

static void skip(unsigned n)
{
	RETALLY_BEGIN("skipped");
	work(&state);
	if (n)
		throw std::runtime_error("skipped");
	RETALLY_END("skipped");
}

struct last {
	~last()
	{
		RETALLY_BEGIN("destructor");
		work(&state);
		RETALLY_END("destructor");
	}
};
static last at_the_end;

int main()
{
	std::map<std::string, std::vector<unsigned long>> kept;

	for (unsigned i = 1; i <= 3; i++)
		try {
			scope(i);
		} catch (const std::exception &e) {
			std::printf("caught %s\n", e.what());
		}
	for (unsigned i = 0; i < 3; i++)
		try {
			skip(i % 2);
		} catch (const std::exception &e) {
			std::printf("caught %s\n", e.what());
		}
	RETALLY_BEGIN("containers");
	for (unsigned i = 0; i < 500; i++) {
		work(&state);
		kept[std::to_string(i % 37)].push_back(state);
	}
	RETALLY_END("containers");
	unsigned long sum = 0;
	for (const auto &k : kept)
		for (unsigned long v : k.second)
			sum = sum * 31 + v;
	std::printf("sum %lu\n", sum);
	return 0;
}
