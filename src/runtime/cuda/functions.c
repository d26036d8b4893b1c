/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel functions: see functions.h. */
#include "runtime/cuda/functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096

struct entry {
	struct entry *_Atomic next;
	struct cuda_function f;
};
static struct {
	pthread_mutex_t lock;

	struct entry *_Atomic buckets[BUCKETS]; /* read without the lock; entries are never freed */
	struct entry *forgotten;                /* kept: another thread may still look at them */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Names that collectives have: their kernels wait for each other across devices and processes. */
static const char *const collectives[] = {"ncclKernel", "ncclDevKernel", "nvshmem", "nccl_",
					  "ncclDev"};

#define PARAMETERS_MOST (64u << 10) /* bytes, and how many; the driver takes half of that */
#define ASKS            2

static size_t bucket_of(const struct CUfunc_st *function)
{
	return (size_t)(((uintptr_t)function >> 4) * 0x9e3779b97f4a7c15u >> 52) % BUCKETS;
}

static struct entry *find(const struct cuda_context *c, const struct CUfunc_st *function)
{
	for (struct entry *e = table.buckets[bucket_of(function)]; e; e = e->next)
		if (e->f.function == function && e->f.context == c)
			return e;
	return NULL;
}

/* The kernels of CUDA's runtime are CUkernel handles that pass for functions: which of the two
 * questions is the right one is found by trying. */
static cu_result parameter(struct CUfunc_st *function, unsigned how, size_t i, size_t *offset,
			   size_t *size)
{
	const struct cuda_driver *d = &cuda_session.driver;

	if (how == 0)
		return d->function_parameter ? d->function_parameter(function, i, offset, size)
					     : CU_NOT_FOUND;
	return d->kernel_parameter
		       ? d->kernel_parameter((struct CUkern_st *)function, i, offset, size)
		       : CU_NOT_FOUND;
}

static bool add_parameter(struct cuda_function *f, size_t offset, size_t size)
{
	if (offset > PARAMETERS_MOST || size > PARAMETERS_MOST - offset || f->n == PARAMETERS_MOST)
		return false;
	if (!(f->n & (f->n - 1)) && (f->n >= 16 || !f->n)) { /* full */
		struct cuda_parameter *p =
			realloc(f->parameters, (f->n ? 2 * f->n : 16) * sizeof(*p));

		if (!p)
			return false;
		f->parameters = p;
	}
	f->parameters[f->n++] = (struct cuda_parameter){(uint32_t)offset, (uint32_t)size};
	if (offset + size > f->bytes)
		f->bytes = (uint32_t)(offset + size);
	return true;
}

/* Only "there is no such parameter" ends the list. Of what has none, the question that is not the
 * right one says that, too, or that the handle is none; two such answers tell nothing. */
static bool ends_empty(const cu_result answers[ASKS])
{
	return (answers[0] == CU_INVALID_VALUE &&
		(answers[1] == CU_INVALID_VALUE || answers[1] == CU_INVALID_HANDLE)) ||
	       (answers[0] == CU_INVALID_HANDLE && answers[1] == CU_INVALID_VALUE);
}

static void parameters(struct cuda_function *f)
{
	const struct cuda_driver *d = &cuda_session.driver;
	cu_result answers[ASKS];
	size_t offset, size;
	unsigned how = 0;
	bool room = true;

	snprintf(f->why_unknown, sizeof(f->why_unknown), "parameters are not known to the driver");
	if (!d->function_parameter && !d->kernel_parameter)
		return;
	while (how < ASKS && (answers[how] = parameter(f->function, how, 0, &offset, &size)))
		how++;
	f->known = how == ASKS && ends_empty(answers);
	if (how < ASKS) {
		do
			room = add_parameter(f, offset, size);
		while (room && !(answers[how] = parameter(f->function, how, f->n, &offset, &size)));
		f->known = room && answers[how] == CU_INVALID_VALUE;
	}
	if (!f->known)
		snprintf(f->why_unknown, sizeof(f->why_unknown), "its parameters are not known: %s",
			 !room ? "more than there can be, or no memory"
			       : cuda_driver_error(d, answers[how < ASKS ? how : 0]));
}

static uint32_t attribute(const struct cuda_context *c, struct CUfunc_st *function, int which)
{
	const struct cuda_driver *d = &cuda_session.driver;
	int value = 0;

	if (d->function_attribute(&value, which, function) &&
	    (!d->kernel_attribute ||
	     d->kernel_attribute(&value, which, (struct CUkern_st *)function, c->ordinal)))
		return 0;
	return value > 0 ? (uint32_t)value : 0;
}

/* Lazy loading: the image of a module is seen, and with it the names of its variables, once the
 * function is loaded. NULL: not known, or not loaded. */
static struct CUmod_st *load(struct CUfunc_st *function)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct CUmod_st *module = NULL;
	struct CUfunc_st *real = NULL;
	bool loaded;

	if (!d->function_module || !d->function_load)
		return NULL;
	loaded = !d->function_load(function);
	if (d->kernel_function && !d->kernel_function(&real, (struct CUkern_st *)function) &&
	    real && (loaded || !d->function_load(real)) && !d->function_module(&module, real))
		return module;
	return !loaded || d->function_module(&module, function) ? NULL : module;
}

const struct cuda_function *cuda_functions_get(struct cuda_context *c, struct CUfunc_st *function,
					       const char *name)
{
	struct CUmod_st *module;
	struct entry *e, *other;

	e = find(c, function);
	if (e)
		return &e->f;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->f.wanted = replay_matches(cuda_session.replay, name ? name : "?");
	e->f.function = function;
	e->f.context = c;
	module = load(function);
	parameters(&e->f);
	e->f.registers = attribute(c, function, CU_FUNCTION_REGISTERS);
	e->f.shared_bytes = attribute(c, function, CU_FUNCTION_SHARED_BYTES);
	e->f.module = module ? cuda_modules_get(c, module) : NULL;
	for (size_t i = 0; name && i < sizeof(collectives) / sizeof(*collectives); i++)
		if (strstr(name, collectives[i])) {
			e->f.never = true;
			e->f.why = "a collective (NCCL, NVSHMEM)";
		}
	pthread_mutex_lock(&table.lock);
	other = find(c, function); /* another thread was faster: keep its */
	if (!other) {
		e->next = table.buckets[bucket_of(function)];
		table.buckets[bucket_of(function)] = e; /* whole from here on */
	}
	pthread_mutex_unlock(&table.lock);
	if (other) {
		free(e->f.parameters);
		free(e);
		e = other;
	}
	return &e->f;
}

bool cuda_function_talks(const struct cuda_function *f)
{
	return f->never || (f->module && cuda_module_talks(f->module));
}

const char *cuda_function_why_not(const struct cuda_function *f)
{
	if (f->never)
		return f->why;
	if (f->module && cuda_module_talks(f->module))
		return "its module uses NVSHMEM";
	return cuda_module_why_not(f->module);
}

void cuda_functions_forget(void)
{
	pthread_mutex_lock(&table.lock);
	for (size_t i = 0; i < BUCKETS; i++)
		while (table.buckets[i]) {
			struct entry *e = table.buckets[i];

			table.buckets[i] = e->next;
			e->next = table.forgotten;
			table.forgotten = e;
		}
	pthread_mutex_unlock(&table.lock);
	cuda_modules_forget();
}
