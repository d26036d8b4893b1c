/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code objects and executables of the model runtime. A code object is text (t0_device.h); loading
 * it gives each kernel an object (an address in device memory) and each variable memory.
 */
#include "hsa_standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SYMBOLS     64
#define MAX_EXECUTABLES 64

struct symbol {
	char name[128]; /* of kernels with ".kd" at its end */
	const struct kernel_type *kernel;
	uint32_t bytes;
	bool is_const;
	uint64_t address; /* kernel object, or of the variable */
	struct agent *agent;
};
struct executable {
	bool live, frozen;
	struct symbol symbols[MAX_SYMBOLS];
	unsigned n_symbols;
	void *kernels, *variables; /* device memory */
};
struct reader {
	char *text;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct executable *executables[MAX_EXECUTABLES]; /* live ones; slots are used again */

static struct executable *executable_of(uint64_t handle)
{
	for (unsigned i = 0; i < MAX_EXECUTABLES; i++)
		if (executables[i] && (uint64_t)(uintptr_t)executables[i] == handle)
			return executables[i];
	return NULL;
}

const struct kernel_type *code_find(uint64_t kernel_object, struct executable **executable_out)
{
	const struct kernel_type *found = NULL;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < MAX_EXECUTABLES && !found; i++) {
		struct executable *e = executables[i];
		for (unsigned k = 0; e && e->frozen && k < e->n_symbols; k++)
			if (e->symbols[k].kernel && e->symbols[k].address == kernel_object) {
				found = e->symbols[k].kernel;
				*executable_out = e;
			}
	}
	pthread_mutex_unlock(&lock);
	return found;
}

uint64_t code_variable(struct executable *e, const char *name)
{
	for (unsigned i = 0; i < e->n_symbols; i++)
		if (!e->symbols[i].kernel && !strcmp(e->symbols[i].name, name))
			return e->symbols[i].address;
	return 0;
}

/* ---- readers ---- */

uint32_t t0_hsa_code_object_reader_create_from_memory(const void *object, size_t bytes,
						      uint64_t *reader_out)
{
	if (!object || !bytes || !reader_out)
		return HSA_INVALID_ARGUMENT;
	struct reader *r = calloc(1, sizeof *r);
	if (!r || !(r->text = calloc(1, bytes + 1)))
		t0_abort("no memory");
	memcpy(r->text, object, bytes);
	*reader_out = (uint64_t)(uintptr_t)r;
	return HSA_OK;
}

uint32_t t0_hsa_code_object_reader_create_from_file(int file, uint64_t *reader_out)
{
	struct stat st;
	if (fstat(file, &st) || st.st_size <= 0 || st.st_size > 1 << 20)
		return HSA_INVALID_CODE_OBJECT;
	char *text = malloc((size_t)st.st_size);
	if (!text || pread(file, text, (size_t)st.st_size, 0) != st.st_size) {
		free(text);
		return HSA_INVALID_CODE_OBJECT;
	}
	uint32_t status =
		t0_hsa_code_object_reader_create_from_memory(text, (size_t)st.st_size, reader_out);
	free(text);
	return status;
}

uint32_t t0_hsa_code_object_reader_destroy(uint64_t handle)
{
	struct reader *r = (struct reader *)(uintptr_t)handle;
	if (!r)
		return HSA_INVALID_CODE_OBJECT_READER;
	free(r->text);
	free(r);
	return HSA_OK;
}

/* ---- executables ---- */

uint32_t t0_hsa_executable_create_alt(uint32_t profile, uint32_t rounding, const char *options,
				      uint64_t *executable_out)
{
	(void)profile, (void)rounding, (void)options;
	struct executable *e = calloc(1, sizeof *e);
	if (!e)
		return HSA_OUT_OF_RESOURCES;
	e->live = true;
	uint32_t status = HSA_OUT_OF_RESOURCES;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < MAX_EXECUTABLES; i++)
		if (!executables[i]) {
			executables[i] = e;
			*executable_out = (uint64_t)(uintptr_t)e;
			status = HSA_OK;
			break;
		}
	pthread_mutex_unlock(&lock);
	if (status != HSA_OK)
		free(e);
	return status;
}

static const struct kernel_type *type_named(const char *name)
{
	for (unsigned i = 0; i < t0_n_kernels; i++)
		if (!strcmp(t0_kernels[i].name, name))
			return &t0_kernels[i];
	return NULL;
}

static bool parse_line(struct executable *e, struct agent *agent, const char *line)
{
	char name[100], word[16] = "";
	unsigned bytes;
	struct symbol *s = &e->symbols[e->n_symbols];
	if (e->n_symbols == MAX_SYMBOLS)
		return false;
	*s = (struct symbol){.agent = agent};
	if (sscanf(line, "kernel %99s", name) == 1) {
		s->kernel = type_named(name);
		snprintf(s->name, sizeof s->name, "%s.kd", name);
		e->n_symbols++;
		return s->kernel != NULL;
	}
	if (sscanf(line, "variable %99s %u %15s", name, &bytes, word) >= 2 && bytes) {
		snprintf(s->name, sizeof s->name, "%s", name);
		s->bytes = bytes;
		s->is_const = !strcmp(word, "const");
		e->n_symbols++;
		return true;
	}
	return false;
}

uint32_t t0_hsa_executable_load_agent_code_object(uint64_t handle, uint64_t agent, uint64_t reader,
						  const char *options, uint64_t *loaded_out)
{
	(void)options;
	struct executable *e = executable_of(handle);
	const struct reader *r = (const struct reader *)(uintptr_t)reader;
	if (!e)
		return HSA_INVALID_EXECUTABLE;
	if (e->frozen)
		return HSA_FROZEN_EXECUTABLE;
	if (!agent_of(agent))
		return HSA_INVALID_AGENT;
	if (!r || strncmp(r->text, T0_CODE_MAGIC, strlen(T0_CODE_MAGIC)) != 0)
		return HSA_INVALID_CODE_OBJECT;
	for (const char *line = r->text + strlen(T0_CODE_MAGIC); *line;) {
		size_t n = strcspn(line, "\n");
		char copy[256];
		snprintf(copy, sizeof copy, "%.*s", (int)n, line);
		if (n && !parse_line(e, agent_of(agent), copy))
			return HSA_INVALID_CODE_OBJECT;
		line += n + (line[n] == '\n');
	}
	if (loaded_out)
		*loaded_out = handle;
	return HSA_OK;
}

uint32_t t0_hsa_executable_load_code_object(uint64_t executable, uint64_t agent,
					    uint64_t code_object, const char *options)
{
	(void)executable, (void)agent, (void)code_object, (void)options;
	return HSA_NOT_SUPPORTED;
}

uint32_t t0_hsa_executable_freeze(uint64_t handle, const char *options)
{
	(void)options;
	struct executable *e = executable_of(handle);
	if (!e)
		return HSA_INVALID_EXECUTABLE;
	if (e->frozen)
		return HSA_FROZEN_EXECUTABLE;
	size_t bytes = 0;
	for (unsigned i = 0; i < e->n_symbols; i++)
		bytes += (e->symbols[i].bytes + 255) / 256 * 256;
	struct agent *agent = e->n_symbols ? e->symbols[0].agent : &t0_agents[0];
	e->kernels = memory_internal(agent, 64 * (MAX_SYMBOLS + 1));
	e->variables = bytes ? memory_internal(agent, bytes) : NULL;
	uint64_t at = (uint64_t)(uintptr_t)e->variables;
	for (unsigned i = 0; i < e->n_symbols; i++) {
		struct symbol *s = &e->symbols[i];
		if (s->kernel) {
			s->address = (uint64_t)(uintptr_t)e->kernels + 64 * i;
		} else if (!s->address) {
			s->address = at;
			at += (s->bytes + 255) / 256 * 256;
		}
	}
	pthread_mutex_lock(&lock);
	e->frozen = true;
	pthread_mutex_unlock(&lock);
	return HSA_OK;
}

uint32_t t0_hsa_executable_destroy(uint64_t handle)
{
	struct executable *e = executable_of(handle);
	if (!e)
		return HSA_INVALID_EXECUTABLE;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < MAX_EXECUTABLES; i++)
		if (executables[i] == e)
			executables[i] = NULL;
	pthread_mutex_unlock(&lock);
	if (e->kernels)
		memory_internal_free(e->kernels);
	if (e->variables)
		memory_internal_free(e->variables);
	free(e);
	return HSA_OK;
}

/* A variable that the program itself gives the memory of. */
static uint32_t define(uint64_t handle, const char *name, void *address)
{
	struct executable *e = executable_of(handle);
	if (!e)
		return HSA_INVALID_EXECUTABLE;
	if (e->frozen)
		return HSA_FROZEN_EXECUTABLE;
	if (e->n_symbols == MAX_SYMBOLS)
		return HSA_OUT_OF_RESOURCES;
	struct symbol *s = &e->symbols[e->n_symbols++];
	*s = (struct symbol){.address = (uint64_t)(uintptr_t)address};
	snprintf(s->name, sizeof s->name, "%s", name);
	return HSA_OK;
}

uint32_t t0_hsa_executable_global_variable_define(uint64_t executable, const char *name,
						  void *address)
{
	return define(executable, name, address);
}

uint32_t t0_hsa_executable_agent_global_variable_define(uint64_t executable, uint64_t agent,
							const char *name, void *address)
{
	return agent_of(agent) ? define(executable, name, address) : HSA_INVALID_AGENT;
}

uint32_t t0_hsa_executable_readonly_variable_define(uint64_t executable, uint64_t agent,
						    const char *name, void *address)
{
	return agent_of(agent) ? define(executable, name, address) : HSA_INVALID_AGENT;
}

/* ---- symbols ---- */

uint32_t t0_hsa_executable_get_symbol_by_name(uint64_t handle, const char *name,
					      const uint64_t *agent, uint64_t *symbol_out)
{
	struct executable *e = executable_of(handle);
	if (!e)
		return HSA_INVALID_EXECUTABLE;
	for (unsigned i = 0; i < e->n_symbols; i++)
		if (!strcmp(e->symbols[i].name, name) &&
		    (!agent || e->symbols[i].agent == agent_of(*agent))) {
			*symbol_out = (uint64_t)(uintptr_t)&e->symbols[i];
			return HSA_OK;
		}
	return HSA_INVALID_SYMBOL_NAME;
}

uint32_t t0_hsa_executable_iterate_agent_symbols(uint64_t handle, uint64_t agent,
						 hsa_symbol_callback callback, void *data)
{
	struct executable *e = executable_of(handle);
	if (!e)
		return HSA_INVALID_EXECUTABLE;
	for (unsigned i = 0; i < e->n_symbols; i++) {
		if (e->symbols[i].agent != agent_of(agent))
			continue;
		uint32_t status =
			callback(handle, agent, (uint64_t)(uintptr_t)&e->symbols[i], data);
		if (status != HSA_OK)
			return status;
	}
	return HSA_OK;
}

uint32_t t0_hsa_executable_symbol_get_info(uint64_t handle, uint32_t attribute, void *value)
{
	const struct symbol *s = (const struct symbol *)(uintptr_t)handle;
	if (!s)
		return HSA_INVALID_EXECUTABLE_SYMBOL;
	switch (attribute) {
	case HSA_SYMBOL_TYPE:
		*(uint32_t *)value = s->kernel ? HSA_SYMBOL_KERNEL : HSA_SYMBOL_VARIABLE;
		return HSA_OK;
	case HSA_SYMBOL_NAME_LENGTH:
		*(uint32_t *)value = (uint32_t)strlen(s->name);
		return HSA_OK;
	case HSA_SYMBOL_NAME: /* without a NUL */
		memcpy(value, s->name, strlen(s->name));
		return HSA_OK;
	case HSA_SYMBOL_AGENT:
		*(uint64_t *)value = (uint64_t)(uintptr_t)s->agent;
		return HSA_OK;
	default:
		break;
	}
	if (s->kernel) {
		switch (attribute) {
		case HSA_SYMBOL_KERNEL_OBJECT:
			*(uint64_t *)value = s->address;
			return HSA_OK;
		case HSA_SYMBOL_KERNARG_SIZE:
			*(uint32_t *)value = s->kernel->kernarg_bytes;
			return HSA_OK;
		case HSA_SYMBOL_KERNARG_ALIGNMENT:
			*(uint32_t *)value = 16;
			return HSA_OK;
		case HSA_SYMBOL_GROUP_SIZE:
			*(uint32_t *)value = s->kernel->group_bytes;
			return HSA_OK;
		case HSA_SYMBOL_PRIVATE_SIZE:
			*(uint32_t *)value = 0;
			return HSA_OK;
		default:
			return HSA_INVALID_ARGUMENT;
		}
	}
	switch (attribute) {
	case HSA_SYMBOL_VARIABLE_ADDRESS:
		*(uint64_t *)value = s->address;
		return HSA_OK;
	case HSA_SYMBOL_VARIABLE_SIZE:
		*(uint32_t *)value = s->bytes;
		return HSA_OK;
	case HSA_SYMBOL_VARIABLE_IS_CONST:
		*(bool *)value = !s->is_const; /* as ROCr 1.18 answers it */
		return HSA_OK;
	default:
		return HSA_INVALID_ARGUMENT;
	}
}
