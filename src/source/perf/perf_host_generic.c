/* SPDX-License-Identifier: Apache-2.0 */
/* The events that the kernel knows by number on every machine (include/uapi/linux/perf_event.h). */
#include "source/perf/perf_host_names.h"

#define HARDWARE(name, number, unit, help)                                          \
	{                                                                           \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##number, unit, help, false \
	}
#define SOFTWARE(name, number, unit, help, kernel)                                   \
	{                                                                            \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##number, unit, help, kernel \
	}
#define CACHE(name, cache, op, result, help)                                             \
	{                                                                                \
		name, PERF_TYPE_HW_CACHE,                                                \
			PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
				PERF_COUNT_HW_CACHE_RESULT_##result << 16,               \
			"count", help, false                                             \
	}

/* An alias follows the name that lists show. */
const struct perf_generic perf_generics[] = {
	HARDWARE("cycles", CPU_CYCLES, "cycles", "core cycles while the program ran"),
	HARDWARE("cpu-cycles", CPU_CYCLES, "cycles", ""),
	HARDWARE("instructions", INSTRUCTIONS, "count", "instructions retired"),
	HARDWARE("cache-references", CACHE_REFERENCES, "count", "accesses to the last-level cache"),
	HARDWARE("cache-misses", CACHE_MISSES, "count", "misses of the last-level cache"),
	HARDWARE("branches", BRANCH_INSTRUCTIONS, "count", "branches retired"),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS, "count", ""),
	HARDWARE("branch-misses", BRANCH_MISSES, "count", "branches predicted wrongly"),
	HARDWARE("bus-cycles", BUS_CYCLES, "cycles", "bus cycles"),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND, "cycles",
		 "cycles without instructions to issue"),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND, "cycles",
		 "cycles in which instructions waited for data or units"),
	HARDWARE("ref-cycles", REF_CPU_CYCLES, "cycles", "cycles at the nominal frequency"),
	SOFTWARE("task-clock", TASK_CLOCK, "ns", "time on a CPU, summed over threads", false),
	SOFTWARE("cpu-clock", CPU_CLOCK, "ns", "the same by the CPU's clock", false),
	SOFTWARE("page-faults", PAGE_FAULTS, "count", "page faults", false),
	SOFTWARE("faults", PAGE_FAULTS, "count", "", false),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN, "count", "page faults without input or output",
		 false),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ, "count", "page faults that read from a disk",
		 false),
	SOFTWARE("context-switches", CONTEXT_SWITCHES, "count", "times a thread left its CPU",
		 true),
	SOFTWARE("cs", CONTEXT_SWITCHES, "count", "", true),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS, "count", "times a thread moved to another CPU",
		 true),
	SOFTWARE("migrations", CPU_MIGRATIONS, "count", "", true),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS, "count",
		 "unaligned accesses that the kernel had to carry out", false),
	SOFTWARE("emulation-faults", EMULATION_FAULTS, "count",
		 "instructions that the kernel had to carry out", false),
	CACHE("L1-dcache-loads", L1D, READ, ACCESS, "level 1 data cache: loads"),
	CACHE("L1-dcache-load-misses", L1D, READ, MISS, "level 1 data cache: loads that missed"),
	CACHE("L1-dcache-stores", L1D, WRITE, ACCESS, "level 1 data cache: stores"),
	CACHE("L1-dcache-store-misses", L1D, WRITE, MISS, "level 1 data cache: stores that missed"),
	CACHE("L1-dcache-prefetches", L1D, PREFETCH, ACCESS, "level 1 data cache: prefetches"),
	CACHE("L1-dcache-prefetch-misses", L1D, PREFETCH, MISS,
	      "level 1 data cache: prefetches that missed"),
	CACHE("L1-icache-loads", L1I, READ, ACCESS, "level 1 instruction cache: loads"),
	CACHE("L1-icache-load-misses", L1I, READ, MISS,
	      "level 1 instruction cache: loads that missed"),
	CACHE("L1-icache-prefetches", L1I, PREFETCH, ACCESS,
	      "level 1 instruction cache: prefetches"),
	CACHE("L1-icache-prefetch-misses", L1I, PREFETCH, MISS,
	      "level 1 instruction cache: prefetches that missed"),
	CACHE("LLC-loads", LL, READ, ACCESS, "last-level cache: loads"),
	CACHE("LLC-load-misses", LL, READ, MISS, "last-level cache: loads that missed"),
	CACHE("LLC-stores", LL, WRITE, ACCESS, "last-level cache: stores"),
	CACHE("LLC-store-misses", LL, WRITE, MISS, "last-level cache: stores that missed"),
	CACHE("LLC-prefetches", LL, PREFETCH, ACCESS, "last-level cache: prefetches"),
	CACHE("LLC-prefetch-misses", LL, PREFETCH, MISS,
	      "last-level cache: prefetches that missed"),
	CACHE("dTLB-loads", DTLB, READ, ACCESS, "data TLB: loads"),
	CACHE("dTLB-load-misses", DTLB, READ, MISS, "data TLB: loads that missed"),
	CACHE("dTLB-stores", DTLB, WRITE, ACCESS, "data TLB: stores"),
	CACHE("dTLB-store-misses", DTLB, WRITE, MISS, "data TLB: stores that missed"),
	CACHE("dTLB-prefetches", DTLB, PREFETCH, ACCESS, "data TLB: prefetches"),
	CACHE("dTLB-prefetch-misses", DTLB, PREFETCH, MISS, "data TLB: prefetches that missed"),
	CACHE("iTLB-loads", ITLB, READ, ACCESS, "instruction TLB: loads"),
	CACHE("iTLB-load-misses", ITLB, READ, MISS, "instruction TLB: loads that missed"),
	CACHE("branch-loads", BPU, READ, ACCESS, "branch predictor: loads"),
	CACHE("branch-load-misses", BPU, READ, MISS, "branch predictor: loads that missed"),
	CACHE("node-loads", NODE, READ, ACCESS, "local memory: loads"),
	CACHE("node-load-misses", NODE, READ, MISS, "local memory: loads that missed"),
	CACHE("node-stores", NODE, WRITE, ACCESS, "local memory: stores"),
	CACHE("node-store-misses", NODE, WRITE, MISS, "local memory: stores that missed"),
	CACHE("node-prefetches", NODE, PREFETCH, ACCESS, "local memory: prefetches"),
	CACHE("node-prefetch-misses", NODE, PREFETCH, MISS, "local memory: prefetches that missed"),
};
const size_t perf_generics_n = sizeof(perf_generics) / sizeof(perf_generics[0]);
