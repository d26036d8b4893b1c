/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libOpenCL.so.1 as a vendor ships it for programs to link with, and as bundled old loaders are:
 * all functions of OpenCL, and no layers. Behind it is PoCL's library, libpocl.so.2, which exports
 * nothing but the way to its platform object: each function here jumps to PoCL's, through the
 * dispatch table that the object has. A program calls clGetPlatformIDs first, the others then work.
 */
#include "runtime/opencl/opencl_abi.h"

#include <dlfcn.h>
#include <string.h>

typedef void *find_extension(const char *);
typedef int32_t get_platforms(uint32_t, struct vendor_platform **, uint32_t *);

static get_platforms first_platforms;
extern struct opencl_dispatch vendor_table;
struct opencl_dispatch vendor_table = {.clGetPlatformIDs = first_platforms};

static int32_t first_platforms(uint32_t n, struct vendor_platform **out, uint32_t *n_out)
{
	static get_platforms *get;
	struct vendor_platform *platform = NULL;
	find_extension *find = NULL;
	void *library;

	if (!get) {
		library = dlopen("libpocl.so.2", RTLD_NOW | RTLD_LOCAL);
		if (library)
			*(void **)(void *)&find = dlsym(library, "clGetExtensionFunctionAddress");
		if (find)
			*(void **)(void *)&get = find("clIcdGetPlatformIDsKHR");
		if (!get || get(1, &platform, NULL) || !platform)
			return -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
		memcpy(&vendor_table, *(void **)(void *)platform, sizeof(vendor_table));
		vendor_table.clGetPlatformIDs = first_platforms;
	}
	return get(n, out, n_out);
}

/* Each function in the order of the table: a jump to where its entry points. */
#ifdef __x86_64__
#define JUMP "	endbr64\n	jmp *vendor_table+entry(%rip)\n"
#else
#define JUMP                                                                   \
	"	hint #34\n	adrp x9, vendor_table\n	add x9, x9, :lo12:vendor_table\n" \
	"	ldr x9, [x9, #entry]\n	br x9\n"
#endif
#define FUNCTION(name)                                                                   \
	".globl " #name "\n.type " #name ", %function\n" #name ":\n" JUMP ".set entry, " \
	"entry + 8\n"
__asm__(".text\n.hidden vendor_table\n.set entry, 0\n" OPENCL_ENTRIES(FUNCTION));
