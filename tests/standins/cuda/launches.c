/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, kernels and their launches in the stand-in driver. */
#include "driver.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- modules ---- */

/* What a listener is shown of a module: an ELF image with its variables as symbols in
 * .nv.global and .nv.constant3, and nothing else. */
struct image {
	Elf64_Ehdr header;
	/* none, .shstrtab, .nv.global, .symtab, .strtab, .nv.constant3 */
	Elf64_Shdr sections[6];
	char section_names[64];
	Elf64_Sym symbols[9];
	char names[9 * 48];
};

static void image_make(struct image *image, const struct CUmod_st *m)
{
	static const char section_names[] =
		"\0.shstrtab\0.nv.global\0.symtab\0.strtab\0.nv.constant3";
	size_t name = 1;

	memset(image, 0, sizeof(*image));
	memcpy(image->header.e_ident, ELFMAG, SELFMAG);
	image->header.e_ident[EI_CLASS] = ELFCLASS64;
	image->header.e_ident[EI_DATA] = ELFDATA2LSB;
	image->header.e_ident[EI_VERSION] = EV_CURRENT;
	image->header.e_machine = EM_CUDA;
	image->header.e_shoff = offsetof(struct image, sections);
	image->header.e_shentsize = sizeof(Elf64_Shdr);
	image->header.e_shnum = 6;
	image->header.e_shstrndx = 1;
	memcpy(image->section_names, section_names, sizeof(section_names));
	image->sections[1] = (Elf64_Shdr){.sh_name = 1,
					  .sh_type = SHT_STRTAB,
					  .sh_offset = offsetof(struct image, section_names),
					  .sh_size = sizeof(image->section_names)};
	image->sections[2] = (Elf64_Shdr){.sh_name = 11, .sh_type = SHT_NOBITS, .sh_size = 1 << 20};
	image->sections[3] = (Elf64_Shdr){.sh_name = 22,
					  .sh_type = SHT_SYMTAB,
					  .sh_offset = offsetof(struct image, symbols),
					  .sh_size = (m->n_globals + 1) * sizeof(Elf64_Sym),
					  .sh_link = 4,
					  .sh_entsize = sizeof(Elf64_Sym)};
	image->sections[4] = (Elf64_Shdr){.sh_name = 30,
					  .sh_type = SHT_STRTAB,
					  .sh_offset = offsetof(struct image, names),
					  .sh_size = sizeof(image->names)};
	image->sections[5] = (Elf64_Shdr){.sh_name = 38, .sh_type = SHT_NOBITS, .sh_size = 1 << 16};
	for (unsigned i = 0; i < m->n_globals; i++) {
		if (m->globals[i].hidden)
			continue;
		image->symbols[i + 1] =
			(Elf64_Sym){.st_name = (Elf64_Word)name,
				    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
				    .st_shndx = m->globals[i].constant ? 5 : 2,
				    .st_size = m->globals[i].size};
		memcpy(image->names + name, m->globals[i].name, strlen(m->globals[i].name) + 1);
		name += strlen(m->globals[i].name) + 1;
	}
}

static bool module_function(struct CUmod_st *m, const char *name, size_t length)
{
	struct CUfunc_st *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->module = m;
	f->kernel = gpu_kernel_find(name, length);
	f->next = m->functions;
	m->functions = f;
	return f->kernel != NULL;
}

static bool module_global(struct CUmod_st *m, const char *name, size_t size, bool constant)
{
	struct gpu_global *g = &m->globals[m->n_globals];

	if (m->n_globals == 8 || !size || strlen(name) >= sizeof(g->name))
		return false;
	strcpy(g->name, name);
	g->size = size;
	g->constant = constant;
	g->address = gpu_allocate(size, 512);
	if (!g->address)
		return false;
	memset(gpu_at(g->address, size), 0, size);
	m->n_globals++;
	return true;
}

/* "standin-module" and then lines "kernel NAME", "global NAME BYTES", "constant NAME BYTES",
 * "hidden NAME BYTES"; or PTX, of which only the names of the entries are read. */
static bool module_parse(struct CUmod_st *m, const char *text)
{
	static const char entry[] = ".visible .entry ";
	bool good = true, any = false;

	if (!strncmp(text, ".version", 8)) {
		for (const char *at = text; good && (at = strstr(at, entry)); any = true) {
			at += sizeof(entry) - 1;
			good = module_function(m, at, strcspn(at, "("));
		}
		return good && any;
	}
	if (strncmp(text, "standin-module\n", 15))
		return false;
	for (const char *line = text + 15; *line && good; line += strcspn(line, "\n") + 1) {
		char name[48];
		unsigned long size;

		if (sscanf(line, "kernel %47s", name) == 1)
			good = module_function(m, name, strlen(name));
		else if (sscanf(line, "global %47s %lu", name, &size) == 2)
			good = module_global(m, name, size, false);
		else if (sscanf(line, "constant %47s %lu", name, &size) == 2)
			good = module_global(m, name, size, true);
		else if (sscanf(line, "hidden %47s %lu", name, &size) == 2)
			good = module_global(m, name, size, false) &&
			       (m->globals[m->n_globals - 1].hidden = true);
		else
			good = false;
		any = true;
		if (!line[strcspn(line, "\n")])
			break;
	}
	return good && any;
}

static cu_result module_load(struct CUmod_st **module, const void *data)
{
	struct image image;
	struct cupti_module_data told = {
		.module = 1, .cubin_size = sizeof(image), .cubin = (const char *)&image};
	struct CUmod_st *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->context = context_current();
	if (!module_parse(m, data)) {
		free(m);
		return ERROR_INVALID_IMAGE;
	}
	*module = m;
	image_make(&image, m);
	if (standin_fault("image", NULL))
		told.cubin_size /= 2;
	pthread_mutex_unlock(&gpu.lock);
	tell_resource(CUPTI_MODULE_LOADED, m->context, &told);
	pthread_mutex_lock(&gpu.lock);
	return CU_OK;
}

static cu_result module_unload(struct CUmod_st *m)
{
	if (!m || m->unloaded)
		return ERROR_INVALID_HANDLE;
	gpu_context_wait(context_current());
	for (unsigned i = 0; i < m->n_globals; i++)
		gpu_memory_remove(m->globals[i].address);
	m->unloaded = true; /* the record is kept: a listener may hold its functions */
	return CU_OK;
}

cu_result cuModuleLoadData(struct CUmod_st **module, const void *data)
{
	struct {
		struct CUmod_st **module;
		const void *data;
	} p = {module, data};

	BEGIN(cuModuleLoadData);
	END(module_load(module, data));
}

cu_result cuModuleUnload(struct CUmod_st *module)
{
	struct {
		struct CUmod_st *module;
	} p = {module};

	BEGIN(cuModuleUnload);
	END(module_unload(module));
}

cu_result cuModuleGetFunction(struct CUfunc_st **function, struct CUmod_st *module,
			      const char *name)
{
	struct {
		struct CUfunc_st **function;
		struct CUmod_st *module;
		const char *name;
	} p = {function, module, name};

	BEGIN(cuModuleGetFunction);
	for (struct CUfunc_st *f = module->functions; f; f = f->next)
		if (!strcmp(f->kernel->name, name)) {
			*function = f;
			END(CU_OK);
		}
	END(CU_NOT_FOUND);
}

cu_result cuModuleGetGlobal_v2(cu_ptr *address, size_t *bytes, struct CUmod_st *module,
			       const char *name)
{
	struct {
		cu_ptr *address;
		size_t *bytes;
		struct CUmod_st *module;
		const char *name;
	} p = {address, bytes, module, name};

	unsigned ms;

	BEGIN(cuModuleGetGlobal_v2);
	if (call.injected && standin_fault("slow-names", &ms))
		usleep(1000 * ms);
	for (unsigned i = 0; i < module->n_globals; i++)
		if (!strcmp(module->globals[i].name, name)) {
			if (address)
				*address = module->globals[i].address;
			if (bytes)
				*bytes = module->globals[i].size;
			END(CU_OK);
		}
	END(CU_NOT_FOUND);
}

/* A library is a module; what it gives out are kernels, which pass for functions in a launch only.
 */
cu_result cuLibraryLoadData(struct CUlib_st **library, const void *data, void *jit, void **values,
			    unsigned n, void *options, void **option_values, unsigned n_options)
{
	struct {
		struct CUlib_st **library;
		const void *data;
		void *jit, **values;
		unsigned n;
		void *options, **option_values;
		unsigned n_options;
	} p = {library, data, jit, values, n, options, option_values, n_options};

	BEGIN(cuLibraryLoadData);
	END(module_load((struct CUmod_st **)(void *)library, data));
}

cu_result cuLibraryUnload(struct CUlib_st *library)
{
	struct {
		struct CUlib_st *library;
	} p = {library};

	BEGIN(cuLibraryUnload);
	END(module_unload((struct CUmod_st *)(void *)library));
}

cu_result cuLibraryGetModule(struct CUmod_st **module, struct CUlib_st *library)
{
	struct {
		struct CUmod_st **module;
		struct CUlib_st *library;
	} p = {module, library};

	BEGIN(cuLibraryGetModule);
	*module = (struct CUmod_st *)(void *)library;
	END((*module)->context == context_current() ? CU_OK : ERROR_INVALID_CONTEXT);
}

cu_result cuLibraryGetKernel(struct CUkern_st **kernel, struct CUlib_st *library, const char *name)
{
	struct {
		struct CUkern_st **kernel;
		struct CUlib_st *library;
		const char *name;
	} p = {kernel, library, name};
	struct CUmod_st *m = (struct CUmod_st *)(void *)library;
	struct CUfunc_st *k;

	BEGIN(cuLibraryGetKernel);
	for (struct CUfunc_st *f = m->functions; f; f = f->next)
		if (!strcmp(f->kernel->name, name)) {
			k = calloc(1, sizeof(*k));
			if (!k)
				abort();
			*k = *f;
			k->real = f;
			*kernel = (struct CUkern_st *)(void *)k;
			END(CU_OK);
		}
	END(CU_NOT_FOUND);
}

static struct CUfunc_st *function_of(struct CUkern_st *kernel)
{
	return kernel ? ((struct CUfunc_st *)(void *)kernel)->real : NULL;
}

cu_result cuKernelGetFunction(struct CUfunc_st **function, struct CUkern_st *kernel)
{
	struct {
		struct CUfunc_st **function;
		struct CUkern_st *kernel;
	} p = {function, kernel};

	BEGIN(cuKernelGetFunction);
	*function = function_of(kernel);
	END(*function ? CU_OK : ERROR_INVALID_HANDLE);
}

cu_result cuKernelGetParamInfo(struct CUkern_st *kernel, size_t i, size_t *offset, size_t *size)
{
	struct {
		struct CUkern_st *kernel;
		size_t i, *offset, *size;
	} p = {kernel, i, offset, size};
	const struct CUfunc_st *f;

	BEGIN(cuKernelGetParamInfo);
	f = function_of(kernel);
	if (!f || i >= f->kernel->n)
		END(f ? CU_INVALID_VALUE : ERROR_INVALID_HANDLE);
	*offset = gpu_kernel_offset(f->kernel, (unsigned)i);
	if (size)
		*size = f->kernel->sizes[i];
	END(CU_OK);
}

cu_result cuKernelGetAttribute(int *value, int attribute, struct CUkern_st *kernel, int device)
{
	struct {
		int *value, attribute;
		struct CUkern_st *kernel;
		int device;
	} p = {value, attribute, kernel, device};

	BEGIN(cuKernelGetAttribute);
	*value = attribute == CU_FUNCTION_REGISTERS ? 26 : 0;
	END(function_of(kernel) && device >= 0 && device < standin_devices()
		    ? CU_OK
		    : ERROR_INVALID_HANDLE);
}

/* ---- functions ---- */

cu_result cuFuncGetModule(struct CUmod_st **module, struct CUfunc_st *function)
{
	struct {
		struct CUmod_st **module;
		struct CUfunc_st *function;
	} p = {module, function};

	BEGIN(cuFuncGetModule);
	if (!function || function->real)
		END(ERROR_INVALID_HANDLE);
	*module = function->module;
	END(CU_OK);
}

cu_result cuFuncGetParamInfo(struct CUfunc_st *function, size_t i, size_t *offset, size_t *size)
{
	struct {
		struct CUfunc_st *function;
		size_t i, *offset, *size;
	} p = {function, i, offset, size};

	BEGIN(cuFuncGetParamInfo);
	if (!function || function->real)
		END(ERROR_INVALID_HANDLE);
	if (i >= function->kernel->n)
		END(CU_INVALID_VALUE);
	*offset = gpu_kernel_offset(function->kernel, (unsigned)i);
	if (size)
		*size = function->kernel->sizes[i];
	END(CU_OK);
}

cu_result cuFuncGetAttribute(int *value, int attribute, struct CUfunc_st *function)
{
	struct {
		int *value, attribute;
		struct CUfunc_st *function;
	} p = {value, attribute, function};

	BEGIN(cuFuncGetAttribute);
	if (!function || function->real)
		END(ERROR_INVALID_HANDLE);
	*value = attribute == CU_FUNCTION_REGISTERS ? 24 : 0;
	END(CU_OK);
}

cu_result cuFuncLoad(struct CUfunc_st *function)
{
	struct {
		struct CUfunc_st *function;
	} p = {function};

	BEGIN(cuFuncLoad);
	if (!function || function->real)
		END(ERROR_INVALID_HANDLE);
	END(CU_OK);
}

cu_result cuFuncGetName(const char **name, struct CUfunc_st *function)
{
	struct {
		const char **name;
		struct CUfunc_st *function;
	} p = {name, function};

	BEGIN(cuFuncGetName);
	if (!function || function->real)
		END(ERROR_INVALID_HANDLE);
	*name = function->kernel->name;
	END(CU_OK);
}

cu_result cuKernelGetName(const char **name, struct CUkern_st *kernel)
{
	struct {
		const char **name;
		struct CUkern_st *kernel;
	} p = {name, kernel};

	BEGIN(cuKernelGetName);
	if (!function_of(kernel))
		END(ERROR_INVALID_HANDLE);
	*name = function_of(kernel)->kernel->name;
	END(CU_OK);
}

/* ---- launches ---- */

bool gpu_launch_arguments(struct gpu_launch *l, void **list, void **extra)
{
	const struct gpu_kernel *k = l->function->kernel;
	const void *from = NULL;

	l->packed = 0;
	for (unsigned i = 0; list && i < k->n; i++)
		memcpy(l->arguments + gpu_kernel_offset(k, i), list[i], k->sizes[i]);
	if (list || !k->n)
		return true;
	for (; extra && *extra; extra += 2)
		if (*extra == CU_EXTRA_POINTER)
			from = extra[1];
		else if (*extra == CU_EXTRA_SIZE)
			l->packed = *(size_t *)extra[1];
		else
			return false;
	if (!from || l->packed < gpu_kernel_offset(k, k->n - 1) + k->sizes[k->n - 1] ||
	    l->packed > GPU_ARGUMENTS)
		return false;
	memcpy(l->arguments, from, l->packed);
	return true;
}

static cu_result launch(const struct call *call, struct CUfunc_st *function, const unsigned grid[3],
			const unsigned block[3], struct CUstream_st *stream, void **list,
			void **extra)
{
	struct CUstream_st *s = stream_of(stream);
	struct gpu_command *c;
	unsigned ms = 0;

	function = function && function->real ? function->real : function;
	if (!s || !function || function->module->unloaded)
		return ERROR_INVALID_HANDLE;
	if (function->module->context != context_current())
		return ERROR_INVALID_CONTEXT;
	for (int i = 0; i < 3; i++)
		if (!grid[i] || !block[i])
			return CU_INVALID_VALUE;
	c = gpu_command_new(COMMAND_KERNEL);
	c->launch.function = function;
	memcpy(c->launch.grid, grid, sizeof(c->launch.grid));
	memcpy(c->launch.block, block, sizeof(c->launch.block));
	if (!gpu_launch_arguments(&c->launch, list, extra)) {
		free(c);
		return CU_INVALID_VALUE;
	}
	if (call->injected && strncmp(function->kernel->name, "retally_", 8)) {
		gpu_peer_turn();
		standin_count("replayed launches", 1);
		if (standin_fault("hang", &ms))
			c->launch.until_ns = gpu_clock_ns() + ms * 1000000ull;
	} else if (!call->injected) {
		standin_count("launches", 1);
		if (standin_fault("lost", NULL)) {
			s->context->error = ERROR_LAUNCH_FAILED;
			free(c);
			return ERROR_LAUNCH_FAILED;
		}
	}
	gpu_enqueue(s, c);
	return CU_OK;
}

static const char *symbol_of(const struct CUfunc_st *function)
{
	return function ? function->kernel->name : NULL;
}

cu_result cuLaunchKernel(struct CUfunc_st *function, unsigned gx, unsigned gy, unsigned gz,
			 unsigned bx, unsigned by, unsigned bz, unsigned shared,
			 struct CUstream_st *stream, void **list, void **extra)
{
	struct cu_launch_params p = {function, {gx, gy, gz}, {bx, by, bz}, shared,
				     stream,   list,         extra};

	BEGIN_(cuLaunchKernel, symbol_of(function), true);
	END(launch(&call, function, p.grid, p.block, stream, list, extra));
}

cu_result cuLaunchKernelEx(const struct cu_launch_config *config, struct CUfunc_st *function,
			   void **list, void **extra)
{
	struct cu_launch_ex_params p = {config, function, list, extra};

	BEGIN_(cuLaunchKernelEx, symbol_of(function), true);
	END(launch(&call, function, config->grid, config->block, config->stream, list, extra));
}

cu_result cuLaunchCooperativeKernel(struct CUfunc_st *function, unsigned gx, unsigned gy,
				    unsigned gz, unsigned bx, unsigned by, unsigned bz,
				    unsigned shared, struct CUstream_st *stream, void **list)
{
	struct cu_launch_params p = {function, {gx, gy, gz}, {bx, by, bz}, shared,
				     stream,   list,         NULL};

	BEGIN_(cuLaunchCooperativeKernel, symbol_of(function), true);
	END(launch(&call, function, p.grid, p.block, stream, list, NULL));
}

cu_result cuLaunchCooperativeKernelMultiDevice(struct standin_launch *launches, unsigned n,
					       unsigned flags)
{
	struct {
		struct standin_launch *launches;
		unsigned n, flags;
	} p = {launches, n, flags};
	cu_result first = CU_OK;

	BEGIN(cuLaunchCooperativeKernelMultiDevice);
	for (unsigned i = 0; i < n && !first; i++)
		first = launch(&call, launches[i].function, launches[i].grid, launches[i].block,
			       launches[i].stream, launches[i].list, NULL);
	END(first);
}

cu_result cuLaunchHostFunc(struct CUstream_st *stream, void (*function)(void *), void *data)
{
	struct {
		struct CUstream_st *stream;
		void (*function)(void *);
		void *data;
	} p = {stream, function, data};
	struct gpu_command *c;

	BEGIN(cuLaunchHostFunc);
	if (!stream_of(stream) || !function)
		END(ERROR_INVALID_HANDLE);
	c = gpu_command_new(COMMAND_HOST);
	c->call = function;
	c->data = data;
	gpu_enqueue(stream_of(stream), c);
	END(CU_OK);
}
