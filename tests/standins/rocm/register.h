/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of librocprofiler-register.so.0, as far as the stand-ins use it. */
#ifndef RETALLY_TESTS_STANDINS_REGISTER_H
#define RETALLY_TESTS_STANDINS_REGISTER_H

#include <stdint.h>

enum rocp_register_status {
	ROCP_REGISTER_OK = 0,
	ROCP_REGISTER_NO_TOOLS = 1,
	ROCP_REGISTER_BAD_TABLE_LENGTH = 3,
	ROCP_REGISTER_UNSUPPORTED_API = 4,
	ROCP_REGISTER_ROCPROFILER_ERROR = 6,
	ROCP_REGISTER_EXCESS_INSTANCES = 7,
};
struct rocp_register_id {
	uint64_t handle;
};
/* A runtime says which tables it calls through. version: 10000 major + 100 minor + patch. */
__attribute__((visibility("default"))) uint32_t
rocprofiler_register_library_api_table(const char *name, uint32_t (*import)(void), uint32_t version,
				       void **tables, uint64_t n, struct rocp_register_id *id_out);
/* Each runtime exports one of these. */
__attribute__((visibility("default"))) uint32_t rocprofiler_register_import_hsa(void);

#endif
