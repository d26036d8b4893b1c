/* SPDX-License-Identifier: Apache-2.0 */
/* Compares our declarations of PMIx with the real headers. Built only where those are installed. */
#include "launch/pmix_abi.h"

#include <pmix.h>
#include <pmix_deprecated.h>
#include <pmix_server.h>
#include <stdio.h>
#include <string.h>

#define SAME(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)
#define FIELD(ours, our_field, theirs, their_field)                                         \
	_Static_assert(offsetof(struct ours, our_field) == offsetof(theirs, their_field) && \
			       sizeof(((struct ours *)0)->our_field) ==                     \
				       sizeof(((theirs *)0)->their_field),                  \
		       #theirs "." #their_field)
#define NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

SAME(pmix_abi_proc, pmix_proc_t);
FIELD(pmix_abi_proc, space, pmix_proc_t, nspace);
FIELD(pmix_abi_proc, rank, pmix_proc_t, rank);
SAME(pmix_abi_array, pmix_data_array_t);
FIELD(pmix_abi_array, type, pmix_data_array_t, type);
FIELD(pmix_abi_array, n, pmix_data_array_t, size);
FIELD(pmix_abi_array, items, pmix_data_array_t, array);
SAME(pmix_abi_value, pmix_value_t);
FIELD(pmix_abi_value, type, pmix_value_t, type);
FIELD(pmix_abi_value, data, pmix_value_t, data);
SAME(pmix_abi_info, pmix_info_t);
FIELD(pmix_abi_info, key, pmix_info_t, key);
FIELD(pmix_abi_info, flags, pmix_info_t, flags);
FIELD(pmix_abi_info, value, pmix_info_t, value);
FIELD(pmix_abi_module, client_connected, pmix_server_module_t, client_connected);
FIELD(pmix_abi_module, client_finalized, pmix_server_module_t, client_finalized);
FIELD(pmix_abi_module, abort, pmix_server_module_t, abort);
FIELD(pmix_abi_module, fence, pmix_server_module_t, fence_nb);
FIELD(pmix_abi_module, direct_modex, pmix_server_module_t, direct_modex);
FIELD(pmix_abi_module, job_control, pmix_server_module_t, job_control);
_Static_assert(sizeof(struct pmix_abi_module) >= sizeof(pmix_server_module_t), "room");
NUMBER(PMIX_ABI_SUCCESS, PMIX_SUCCESS);
NUMBER(PMIX_ABI_ERROR, PMIX_ERROR);
NUMBER(PMIX_ABI_NOT_FOUND, PMIX_ERR_NOT_FOUND);
NUMBER(PMIX_ABI_LOST_CONNECTION, PMIX_ERR_LOST_CONNECTION);
NUMBER(PMIX_ABI_NOT_SUPPORTED, PMIX_ERR_NOT_SUPPORTED);
NUMBER(PMIX_ABI_DONE, PMIX_OPERATION_SUCCEEDED);
NUMBER(PMIX_ABI_STRING, PMIX_STRING);
NUMBER(PMIX_ABI_UINT16, PMIX_UINT16);
NUMBER(PMIX_ABI_UINT32, PMIX_UINT32);
NUMBER(PMIX_ABI_INFO, PMIX_INFO);
NUMBER(PMIX_ABI_DATA_ARRAY, PMIX_DATA_ARRAY);
NUMBER(PMIX_ABI_RANK, PMIX_PROC_RANK);
_Static_assert(PMIX_ABI_RANK_WILDCARD == (PMIX_RANK_WILDCARD), "PMIX_RANK_WILDCARD");

static int bad;
static void same(const char *ours, const char *theirs, const char *name)
{
	if (strcmp(ours, theirs)) {
		printf("%s is %s, not %s\n", name, theirs, ours);
		bad = 1;
	}
}

int main(void)
{
#define KEY(name) same(PMIX_ABI_KEY_##name, PMIX_##name, #name)
	KEY(SERVER_TMPDIR);
	KEY(TMPDIR);
	KEY(NSDIR);
	KEY(HOSTNAME);
	KEY(JOBID);
	KEY(UNIV_SIZE);
	KEY(JOB_SIZE);
	KEY(MAX_PROCS);
	KEY(JOB_NUM_APPS);
	KEY(NUM_NODES);
	KEY(NODE_MAP);
	KEY(PROC_MAP);
	KEY(LOCAL_SIZE);
	KEY(NODE_SIZE);
	KEY(LOCAL_PEERS);
	KEY(LOCALLDR);
	KEY(PROC_DATA);
	KEY(RANK);
	KEY(APPNUM);
	KEY(LOCAL_RANK);
	KEY(NODE_RANK);
	KEY(GLOBAL_RANK);
	KEY(APP_RANK);
	KEY(NODEID);
	return bad;
}
