/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of memory that are not the device's own: what is taken from them is the host's, managed, or
 * another device's. A pool that is not here is plain memory of its device. */
#include "runtime/cuda/calls.h"

#include <stdlib.h>

struct pool {
	struct pool *next;
	const struct CUmemPoolHandle_st *pool;
	int type;
	struct cu_place place;
};
static struct {
	pthread_mutex_t lock;
	struct pool *list;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock held. */
static struct pool **pool_at(const struct CUmemPoolHandle_st *pool)
{
	struct pool **p = &table.list;

	while (*p && (*p)->pool != pool)
		p = &(*p)->next;
	return p;
}

static void learn(const struct CUmemPoolHandle_st *pool, int type, const struct cu_place *place)
{
	struct pool **p, *new = NULL;

	pthread_mutex_lock(&table.lock);
	p = pool_at(pool);
	if (!*p && (new = calloc(1, sizeof(*new))))
		*p = new;
	if (*p)
		**p = (struct pool){
			.next = (*p)->next, .pool = pool, .type = type, .place = *place};
	else
		cuda_session.why_none = "there was no room to record a pool of memory";
	pthread_mutex_unlock(&table.lock);
}

enum memory_kind cuda_pool_kind(const struct cuda_context *c, const struct CUmemPoolHandle_st *pool)
{
	enum memory_kind kind = MEMORY_DEVICE;
	const struct pool *p;

	pthread_mutex_lock(&table.lock);
	p = *pool_at(pool);
	if (p && p->type == CU_CREATE_MANAGED)
		kind = MEMORY_MANAGED;
	else if (p && p->place.type != CU_PLACE_DEVICE)
		kind = MEMORY_HOST;
	else if (p && p->place.ordinal != c->ordinal)
		kind = MEMORY_FOREIGN;
	pthread_mutex_unlock(&table.lock);
	return kind;
}

static void created(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_pool_create_params *p = data->params;

	(void)c;
	if (!cuda_result(data) && p->properties)
		learn(*p->pool_out, p->properties->type, &p->properties->place);
}

static void got(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_pool_get_params *p = data->params;

	(void)c;
	if (!cuda_result(data) && p->place)
		learn(*p->pool_out, p->type, p->place);
}

/* Before the call: after it the handle may be another's. */
static void destroyed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	struct pool **p, *gone;

	cuda_boundary(c, data->function);
	pthread_mutex_lock(&table.lock);
	p = pool_at(*(struct CUmemPoolHandle_st *const *)data->params);
	gone = *p;
	if (gone)
		*p = gone->next;
	pthread_mutex_unlock(&table.lock);
	free(gone);
}

const struct cuda_call_entry cuda_pool_calls[] = {
	{"cuMemPoolCreate", NULL, created},
	{"cuMemGetMemPool", NULL, got},
	{"cuMemGetDefaultMemPool", NULL, got},
	{"cuMemPoolDestroy", destroyed, NULL},
};
const size_t cuda_n_pool_calls = sizeof(cuda_pool_calls) / sizeof(*cuda_pool_calls);
