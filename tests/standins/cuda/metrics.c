/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of the simulated chip, with names as NVIDIA's chips have them. */
#include "cupti.h"

#include <math.h>
#include <string.h>

#define SMS 4.0

#define SASS(unit, op) unit "__sass_thread_inst_executed_op_" op "_pred_on"

static const struct metric metrics[] = {
	{"gpu__time_duration", "nsecond", "time of the work", 0, 1, {RAW_TIME_NS}},
	{"gpc__cycles_elapsed", "cycle", "cycles", 0, 1, {RAW_CYCLES}},
	{"sm__cycles_elapsed", "cycle", "cycles", 0, 1, {RAW_CYCLES}},
	{"smsp__cycles_elapsed", "cycle", "cycles", 0, 1, {RAW_CYCLES}},
	{"dram__cycles_elapsed", "cycle", "cycles of memory", 0, 1, {RAW_DRAM_CYCLES}},
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
	{SASS("smsp", "dadd"), "inst", "by patched code", 0, 1, {RAW_DADD}},
	{SASS("smsp", "dmul"), "inst", "by patched code", 0, 1, {RAW_DMUL}},
	{SASS("smsp", "dfma"), "inst", "by patched code", 0, 1, {RAW_DFMA}},
	{SASS("smsp", "fadd"), "inst", "by patched code", 0, 1, {RAW_FADD}},
	{SASS("smsp", "fmul"), "inst", "by patched code", 0, 1, {RAW_FMUL}},
	{SASS("smsp", "ffma"), "inst", "by patched code", 0, 1, {RAW_FFMA}},
	{SASS("smsp", "hadd"), "inst", "by patched code", 0, 1, {RAW_HADD}},
	{SASS("smsp", "hmul"), "inst", "by patched code", 0, 1, {RAW_HMUL}},
	{SASS("smsp", "hfma"), "inst", "by patched code", 0, 1, {RAW_HFMA}},
	{SASS("sm", "dfma"), "inst", "by patched code", 0, 1, {RAW_DFMA}},
	{SASS("sm", "ffma"), "inst", "by patched code", 0, 1, {RAW_FFMA}},
	{SASS("sm", "hfma"), "inst", "by patched code", 0, 1, {RAW_HFMA}},
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

static const char *const suffixes[] = {"sum",
				       "avg",
				       "max",
				       "min",
				       "avg.pct_of_peak_sustained_elapsed",
				       "sum.per_second",
				       "avg.per_second",
				       "sum.per_cycle_elapsed",
				       "sum.peak_sustained",
				       NULL};

/* What a cycle can do at most. */
static const struct {
	enum standin_raw raw;
	double peak;
} peaks[] = {
	{RAW_DFMA, SMS * 64}, {RAW_FFMA, SMS * 128}, {RAW_HFMA, SMS * 256}, {RAW_DRAM_READ, 48}};

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
		[RAW_SASS] = UNIT_SASS,         [RAW_PCIE] = UNIT_ALONE,
		[RAW_DADD] = UNIT_SASS,         [RAW_DMUL] = UNIT_SASS,
		[RAW_DFMA] = UNIT_SASS,         [RAW_FADD] = UNIT_SASS,
		[RAW_FMUL] = UNIT_SASS,         [RAW_FFMA] = UNIT_SASS,
		[RAW_HADD] = UNIT_SASS,         [RAW_HMUL] = UNIT_SASS,
		[RAW_HFMA] = UNIT_SASS,         [RAW_DRAM_CYCLES] = UNIT_FREE};

	return (enum unit)units[raw];
}

unsigned unit_slots(enum unit unit)
{
	static const unsigned slots[UNITS] = {
		[UNIT_FREE] = RAWS, [UNIT_SM] = 2,   [UNIT_SMSP] = 1, [UNIT_L1TEX] = 2,
		[UNIT_LTS] = 1,     [UNIT_DRAM] = 1, [UNIT_SASS] = 2, [UNIT_ALONE] = 1};

	return slots[unit];
}

/* The counts that a suffix takes beside the metric's own; RAWS: none. */
enum standin_raw metric_divisor(const char *suffix)
{
	return strstr(suffix, "per_second")          ? RAW_TIME_NS
	       : strstr(suffix, "per_cycle_elapsed") ? RAW_CYCLES
						     : RAWS;
}

static double peak_of(const struct metric *m)
{
	for (size_t i = 0; i < sizeof(peaks) / sizeof(*peaks); i++)
		if (peaks[i].raw == m->parts[0])
			return peaks[i].peak;
	return (double)NAN;
}

double metric_value(const struct metric *m, const char *suffix, const double counted[RAWS])
{
	enum standin_raw divisor = metric_divisor(suffix);
	double sum = 0;

	if (!strcmp(suffix, "sum.peak_sustained"))
		return peak_of(m);
	for (unsigned i = 0; i < m->n; i++)
		sum += counted[m->parts[i]]; /* NAN is not lost */
	if (divisor != RAWS)
		sum = counted[divisor] > 0
			      ? sum / counted[divisor] * (divisor == RAW_TIME_NS ? 1e9 : 1)
			      : (double)NAN;
	if (!strncmp(m->name, "gpu__time", 9) || strstr(m->name, "__cycles_elapsed"))
		return sum; /* the same in every instance */
	if (m->type == 2)
		return sum / 1000;
	return strncmp(suffix, "sum", 3) ? sum / SMS : sum;
}
