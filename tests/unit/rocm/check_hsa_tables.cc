/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares every entry of our function tables of HSA (runtime/hsa/hsa_tables.h) with the headers of
 * an installed ROCm, which only C++ can read. Run by scripts/check-rocm-abi. An installed ROCm may
 * have longer tables: entries are only ever appended.
 */
#include <cstddef>
#include <cstdint>

#define _Static_assert static_assert
#include "runtime/hsa/hsa_tables.h"
#undef _Static_assert

#include <hsa/hsa.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ext_amd.h>

#define SAME(name)                                                                                \
	static_assert(offsetof(struct hsa_core_table, name) == offsetof(CoreApiTable, name##_fn), \
		      #name);
#define SAME_F(result, name, args) SAME(name)
HSA_CORE_FUNCTIONS(SAME_F, SAME)
#undef SAME
#define SAME(name)                                                                              \
	static_assert(offsetof(struct hsa_amd_table, name) == offsetof(AmdExtTable, name##_fn), \
		      #name);
HSA_AMD_FUNCTIONS(SAME_F, SAME)

static_assert(sizeof(struct hsa_core_table) <= sizeof(CoreApiTable), "core table");
static_assert(sizeof(struct hsa_amd_table) <= sizeof(AmdExtTable), "AMD table");
static_assert(offsetof(struct hsa_api_table, core) == offsetof(HsaApiTable, core_), "core");
static_assert(offsetof(struct hsa_api_table, amd) == offsetof(HsaApiTable, amd_ext_), "amd");
static_assert(offsetof(struct hsa_api_table, tools) == offsetof(HsaApiTable, tools_), "tools");
static_assert(HSA_API_TABLE_MAJOR == HSA_API_TABLE_MAJOR_VERSION, "major");
static_assert(HSA_CORE_TABLE_MAJOR == HSA_CORE_API_TABLE_MAJOR_VERSION, "core major");
static_assert(HSA_AMD_TABLE_MAJOR == HSA_AMD_EXT_API_TABLE_MAJOR_VERSION, "AMD major");

int main()
{
	return 0;
}
