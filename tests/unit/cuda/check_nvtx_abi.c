/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of NVTX against its headers, where they are installed: compiling it is the test.
 */
#define NVTX_EXPORT_API
#include <nvtx3/nvToolsExt.h>
#undef NVTX_EXPORT_API
/* Both have some names. */
#define NVTX_MESSAGE_ASCII      OURS_MESSAGE_ASCII
#define NVTX_MESSAGE_REGISTERED OURS_MESSAGE_REGISTERED
#include "inject/nvtx_abi.h"

#define SAME(a, b) _Static_assert((long)(a) == (long)(b), #a)
#define FIELD(ours, theirs)                                             \
	_Static_assert(offsetof(struct nvtx_attributes, ours) ==        \
			       offsetof(nvtxEventAttributes_t, theirs), \
		       #theirs)

_Static_assert(sizeof(struct nvtx_attributes) == sizeof(nvtxEventAttributes_t), "attributes");
FIELD(version, version);
FIELD(size, size);
FIELD(message_type, messageType);
FIELD(message, message);
SAME(OURS_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(OURS_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_CORE2, NVTX_CB_MODULE_CORE2);
SAME(NVTX_RANGE_START_EX, NVTX_CBID_CORE_RangeStartEx);
SAME(NVTX_RANGE_START_A, NVTX_CBID_CORE_RangeStartA);
SAME(NVTX_RANGE_START_W, NVTX_CBID_CORE_RangeStartW);
SAME(NVTX_RANGE_END, NVTX_CBID_CORE_RangeEnd);
SAME(NVTX_RANGE_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME(NVTX_RANGE_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME(NVTX_RANGE_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME(NVTX_RANGE_POP, NVTX_CBID_CORE_RangePop);
SAME(NVTX_DOMAIN_RANGE_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME(NVTX_DOMAIN_RANGE_END, NVTX_CBID_CORE2_DomainRangeEnd);
SAME(NVTX_DOMAIN_RANGE_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(NVTX_DOMAIN_RANGE_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_DOMAIN_REGISTER_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
_Static_assert(sizeof(struct nvtx_callbacks) == sizeof(NvtxExportTableCallbacks), "callbacks");

int main(void)
{
	return 0;
}
