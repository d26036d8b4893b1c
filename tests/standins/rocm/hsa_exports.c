/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the model runtime exports under the names of libhsa-runtime64.so.1. As in ROCr every
 * exported function jumps through the tables that tools patch; the tables are offered to
 * rocprofiler-register in hsa_init. x86-64 only.
 *
 * At the end of the process the runtime checks itself and reports what is left over.
 */
#include "hsa_standin.h"
#include "register.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

bool t0_hsa_up;
static unsigned references;
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- tables ---- */

#define MISSING(name)                                        \
	static void missing_##name(void)                     \
	{                                                    \
		t0_abort("the model runtime has no " #name); \
	}
#define NOTHING(result, name, args)
HSA_CORE_FUNCTIONS(NOTHING, MISSING)
HSA_AMD_FUNCTIONS(NOTHING, MISSING)

#define ENTRY_F(result, name, args) .name = t0_##name,
#define ENTRY_U(name)               .name = missing_##name,
__attribute__((visibility("hidden"))) struct hsa_core_table t0_core = {
	.version = {HSA_CORE_TABLE_MAJOR, sizeof(struct hsa_core_table), 0, 0},
	HSA_CORE_FUNCTIONS(ENTRY_F, ENTRY_U)};
__attribute__((visibility("hidden"))) struct hsa_amd_table t0_amd = {
	.version = {HSA_AMD_TABLE_MAJOR, sizeof(struct hsa_amd_table), 7, 0},
	HSA_AMD_FUNCTIONS(ENTRY_F, ENTRY_U)};
static struct hsa_api_table api = {
	.version = {HSA_API_TABLE_MAJOR, sizeof(struct hsa_api_table), 1, 0},
	.core = &t0_core,
	.amd = &t0_amd,
};

/* ---- exports: jumps through the tables, in their order ---- */

#define JUMP(name)                                                 \
	"\t.globl " #name "\n\t.type " #name ", @function\n" #name \
	":\n\tjmp *t0_core + t0_at(%rip)\n\t.set t0_at, t0_at + 8\n"
#define JUMP_F(result, name, args) JUMP(name)
__asm__("\t.text\n\t.set t0_at, 16\n" HSA_CORE_FUNCTIONS(JUMP_F, JUMP));
#undef JUMP
#define JUMP(name)                                                 \
	"\t.globl " #name "\n\t.type " #name ", @function\n" #name \
	":\n\tjmp *t0_amd + t0_amd_at(%rip)\n\t.set t0_amd_at, t0_amd_at + 8\n"
__asm__("\t.text\n\t.set t0_amd_at, 16\n" HSA_AMD_FUNCTIONS(JUMP_F, JUMP));

/* ---- start and end ---- */

/* Ours and AMD's in one process would be neither. */
static int is_real(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	static const char *const names[] = {"/libhsakmt.so", "/libamdhip64.so",
					    "/libhsa-amd-aqlprofile"};
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (strstr(info->dlpi_name, names[i]))
			*(const char **)data = info->dlpi_name;
	return 0;
}

static void self_check(void)
{
	/* Records and copies still on their way are not waited for: a real process ends, too. */
	if (!t0_hsa_up)
		return;
	t0_say("runtime: %u queues, %u signals, %u allocations are left%s", queues_live(),
	       signals_live(), memory_live(), queues_busy() ? ", work in flight" : "");
}

static void start(void)
{
	const char *real = NULL;
	dl_iterate_phdr(is_real, &real);
	if (real)
		t0_abort("the model runtime does not run beside %s", real);
	agents_init();
	memory_init();
	void *tables[] = {&api};
	struct rocp_register_id id;
	/* before what a tool registers with atexit, so that it comes after that */
	atexit(self_check);
	t0_hsa_up = true;
	rocprofiler_register_library_api_table("hsa", &rocprofiler_register_import_hsa, 11800,
					       tables, 1, &id);
}

uint32_t rocprofiler_register_import_hsa(void)
{
	return 11800;
}

uint32_t t0_hsa_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, start);
	pthread_mutex_lock(&start_lock);
	references++;
	pthread_mutex_unlock(&start_lock);
	return HSA_OK;
}

uint32_t t0_hsa_shut_down(void)
{
	pthread_mutex_lock(&start_lock);
	uint32_t status = references ? HSA_OK : HSA_NOT_INITIALIZED;
	if (references)
		references--;
	pthread_mutex_unlock(&start_lock);
	return status;
}

uint32_t t0_hsa_status_string(uint32_t status, const char **text_out)
{
	*text_out = status == HSA_OK      ? "HSA_STATUS_SUCCESS: The function has been executed."
		    : status == HSA_BREAK ? "HSA_STATUS_INFO_BREAK: The iteration was ended."
					  : "HSA_STATUS_ERROR: The model runtime refused.";
	return HSA_OK;
}
