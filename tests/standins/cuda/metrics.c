/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of the simulated chip, with names as NVIDIA's chips have them. */
#include "cupti.h"

#include <math.h>
#include <string.h>

#define SMS 4.0

static const struct metric metrics[] = {
	{"gpu__time_duration", "nsecond", "time of the work", 0, 1, {RAW_TIME_NS}},
	{"gpc__cycles_elapsed", "cycle", "cycles", 0, 1, {RAW_CYCLES}},
	{"sm__cycles_elapsed", "cycle", "cycles", 0, 1, {RAW_CYCLES}},
	{"sm__ctas_launched", "block", "blocks", 0, 1, {RAW_BLOCKS}},
	{"sm__kernels_launched", "", "kernels", 0, 1, {RAW_LAUNCHES}},
	{"smsp__inst_executed", "inst", "instructions", 0, 1, {RAW_INSTRUCTIONS}},
	{"smsp__inst_executed_op_ld", "inst", "of loads", 0, 1, {RAW_OF_LOADS}},
	{"smsp__inst_executed_op_st", "inst", "of stores", 0, 1, {RAW_OF_STORES}},
	{"smsp__inst_executed_op_red", "inst", "of atomics", 0, 1, {RAW_OF_ATOMICS}},
	{"smsp__threads_launched", "thread", "threads", 0, 1, {RAW_THREADS}},
	{"l1tex__t_requests_pipe_lsu_mem_global_op_ld", "request", "loads", 0, 1, {RAW_LOADS}},
	{"l1tex__t_requests_pipe_lsu_mem_global_op_st", "request", "stores", 0, 1, {RAW_STORES}},
	{"l1tex__t_requests_pipe_lsu_mem_global_op_red", "request", "atomics", 0, 1, {RAW_ATOMICS}},
	{"lts__t_sectors_op_read", "sector", "sectors read", 0, 1, {RAW_SECTORS_READ}},
	{"lts__t_sectors_op_write", "sector", "sectors written", 0, 1, {RAW_SECTORS_WRITTEN}},
	{"dram__bytes_read", "byte", "bytes read", 0, 1, {RAW_DRAM_READ}},
	{"dram__bytes_write", "byte", "bytes written", 0, 1, {RAW_DRAM_WRITTEN}},
	{"dram__bytes", "byte", "bytes", 0, 2, {RAW_DRAM_READ, RAW_DRAM_WRITTEN}},
	{"smsp__sass_thread_inst_executed", "inst", "by patched code", 0, 1, {RAW_SASS}},
	{"pcie__read_bytes", "byte", "refused beside others", 0, 1, {RAW_PCIE}},
	{"l1tex__throughput", "%", "needs two passes", 2, 3, {RAW_LOADS, RAW_STORES, RAW_ATOMICS}},
	{"gpu__compute_memory_throughput",
	 "%",
	 "needs two passes",
	 2,
	 8,
	 {RAW_LOADS, RAW_STORES, RAW_ATOMICS, RAW_SECTORS_READ, RAW_SECTORS_WRITTEN, RAW_DRAM_READ,
	  RAW_DRAM_WRITTEN, RAW_CYCLES}},
};

static const char *const suffixes[] = {
	"sum", "avg", "max", "min", "avg.pct_of_peak_sustained_elapsed", "sum.per_second", NULL};

const struct metric *metric_at(unsigned i)
{
	return i < sizeof(metrics) / sizeof(*metrics) ? &metrics[i] : NULL;
}

const struct metric *metric_find(const char *name, const char **suffix_out)
{
	size_t n = strcspn(name, ".");

	*suffix_out = name[n] ? name + n + 1 : "";
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
		if (strlen(metrics[i].name) != n || memcmp(metrics[i].name, name, n))
			continue;
		for (const char *const *s = suffixes; *s; s++)
			if (!strcmp(*s, *suffix_out))
				return &metrics[i];
		return **suffix_out ? NULL : &metrics[i];
	}
	return NULL;
}

enum unit raw_unit(enum standin_raw raw)
{
	static const unsigned char units[RAWS] = {
		[RAW_TIME_NS] = UNIT_FREE,      [RAW_CYCLES] = UNIT_FREE,
		[RAW_INSTRUCTIONS] = UNIT_SMSP, [RAW_THREADS] = UNIT_SMSP,
		[RAW_OF_LOADS] = UNIT_SMSP,     [RAW_OF_STORES] = UNIT_SMSP,
		[RAW_OF_ATOMICS] = UNIT_SMSP,   [RAW_BLOCKS] = UNIT_SM,
		[RAW_LAUNCHES] = UNIT_SM,       [RAW_LOADS] = UNIT_L1TEX,
		[RAW_STORES] = UNIT_L1TEX,      [RAW_ATOMICS] = UNIT_L1TEX,
		[RAW_SECTORS_READ] = UNIT_LTS,  [RAW_SECTORS_WRITTEN] = UNIT_LTS,
		[RAW_DRAM_READ] = UNIT_DRAM,    [RAW_DRAM_WRITTEN] = UNIT_DRAM,
		[RAW_SASS] = UNIT_SASS,         [RAW_PCIE] = UNIT_ALONE};

	return (enum unit)units[raw];
}

unsigned unit_slots(enum unit unit)
{
	static const unsigned slots[UNITS] = {
		[UNIT_FREE] = RAWS, [UNIT_SM] = 2,   [UNIT_SMSP] = 1, [UNIT_L1TEX] = 2,
		[UNIT_LTS] = 1,     [UNIT_DRAM] = 1, [UNIT_SASS] = 2, [UNIT_ALONE] = 1};

	return slots[unit];
}

double metric_value(const struct metric *m, const char *suffix, const double counted[RAWS])
{
	double sum = 0;

	for (unsigned i = 0; i < m->n; i++)
		sum += counted[m->parts[i]]; /* NAN is not lost */
	if (!strncmp(m->name, "gpu__time", 9) || strstr(m->name, "__cycles_elapsed"))
		return sum; /* the same in every instance */
	if (m->type == 2)
		return sum / 1000;
	if (!strcmp(suffix, "sum.per_second"))
		return counted[RAW_TIME_NS] > 0 ? sum / counted[RAW_TIME_NS] * 1e9 : (double)NAN;
	return strcmp(suffix, "sum") ? sum / SMS : sum;
}
