/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of the model: their instances, how their records are named, what they count, and which
 * fit together.
 *
 * Values are functions of the event, the instance and the work W of the dispatch, so that a test
 * can tell which pass a value is from. Summed over all instances of a counter: SQ_WAVES,
 * SPI_CSN_WAVE   the wavefronts GRBM_*                   1000 + work-items, in each XCC an
 * accumulator           (1 + event % 16) * work-items * 3 any other                (1 + event % 16)
 * * work-items spread evenly, what is left over on the first instances.
 */
#include "sdk_standin.h"

#include <stdlib.h>
#include <string.h>

#define BASE(name, block, event)  {#name, BLOCK_##block, event, NULL, false, 0, 0},
#define SUM(name, base)           {#name, N_BLOCKS, 0, (const struct counter *)#base, false, 0, 0},
#define ACCUM(name, block, event) {#name, BLOCK_##block, event, NULL, true, 0, 0},
static struct counter of_gfx90a[] = {
#include "sdk_gfx90a.def"
};
static struct counter of_gfx942[] = {
#include "sdk_gfx942.def"
};
#define N_90A (sizeof of_gfx90a / sizeof *of_gfx90a)
#define N_942 (sizeof of_gfx942 / sizeof *of_gfx942)

static const struct {
	const char *name;
	unsigned slots, instances_90a, instances_942;
	bool per_se;
} blocks[N_BLOCKS] = {
	[BLOCK_CPC] = {"CPC", 2, 1, 1, false},   [BLOCK_CPF] = {"CPF", 2, 1, 1, false},
	[BLOCK_GRBM] = {"GRBM", 2, 1, 1, false}, [BLOCK_SPI] = {"SPI", 6, 1, 1, true},
	[BLOCK_SQ] = {"SQ", 8, 1, 1, true},      [BLOCK_TA] = {"TA", 2, 16, 16, true},
	[BLOCK_TCC] = {"TCC", 4, 32, 16, false}, [BLOCK_TCP] = {"TCP", 4, 16, 16, true},
	[BLOCK_TD] = {"TD", 2, 16, 16, true},
};

static void finish(struct counter *list, size_t n, enum t0_gfx gfx, uint64_t first)
{
	for (size_t i = 0; i < n; i++) {
		struct counter *c = &list[i];
		c->gfx = gfx;
		c->id = first + i;
		/* a later SDK has the architecture in the upper half */
		if (t0_config()->mutate & T0_IDS)
			c->id |= (uint64_t)(0x77 + gfx) << 40;
		if (c->block != N_BLOCKS)
			continue;
		const char *base = (const char *)c->base;
		c->base = NULL;
		for (size_t k = 0; k < n; k++)
			if (!list[k].accumulator && list[k].block != N_BLOCKS &&
			    !strcmp(list[k].name, base))
				c->base = &list[k];
		if (!c->base)
			t0_abort("%s has no base counter", c->name);
	}
	for (size_t i = 0; i < n; i++)
		if (list[i].base) {
			list[i].block = list[i].base->block;
			list[i].event = list[i].base->event;
		}
}

static void finish_all(void)
{
	finish(of_gfx90a, N_90A, T0_GFX90A, 1);
	finish(of_gfx942, N_942, T0_GFX942, 1 + N_90A);
}

static void ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, finish_all);
}

static struct counter *list_of(enum t0_gfx gfx, size_t *n_out)
{
	ready();
	*n_out = gfx == T0_GFX90A ? N_90A : N_942;
	return gfx == T0_GFX90A ? of_gfx90a : of_gfx942;
}

const struct counter *counter_of(uint64_t id)
{
	for (int gfx = 0; gfx < 2; gfx++) {
		size_t n;
		const struct counter *list = list_of(gfx ? T0_GFX942 : T0_GFX90A, &n);
		for (size_t i = 0; i < n; i++)
			if (list[i].id == id)
				return &list[i];
	}
	return NULL;
}

/* ---- dimensions ---- */

enum {
	DIM_XCC = 1,
	DIM_SHADER_ENGINE = 3,
	DIM_INSTANCE = 7,
	DIM_FUTURE = 12, /* RETALLY_T0_MUTATE=dimension */
};
static uint32_t dims_of(const struct counter *c, struct rocp_dimension_info out[4])
{
	uint32_t n = 0;
	bool mi200 = c->gfx == T0_GFX90A;
	if (!c->base) {
		out[n++] = (struct rocp_dimension_info){"DIMENSION_XCC", mi200 ? 1 : 8, DIM_XCC};
		if (blocks[c->block].per_se)
			out[n++] = (struct rocp_dimension_info){"DIMENSION_SHADER_ENGINE",
								mi200 ? 8 : 4, DIM_SHADER_ENGINE};
		if (t0_config()->mutate & T0_DIMENSION && c->block == BLOCK_SQ)
			out[n++] = (struct rocp_dimension_info){"DIMENSION_FUTURE", 2, DIM_FUTURE};
	}
	size_t instances = c->base ? 1
			   : mi200 ? blocks[c->block].instances_90a
				   : blocks[c->block].instances_942;
	out[n++] = (struct rocp_dimension_info){"DIMENSION_INSTANCE", instances, DIM_INSTANCE};
	return n;
}

uint32_t counter_instances(const struct counter *c, const struct sdk_agent *a)
{
	struct rocp_dimension_info dims[4];
	(void)a;
	uint32_t n = dims_of(c, dims), product = 1;
	for (uint32_t i = 0; i < n; i++)
		product *= (uint32_t)dims[i].instances;
	return product;
}

/* Nobody but the query functions can read these. */
#define RECORD_KEY 0x5ca1ab1e0ddba11u

uint64_t counter_record_id(const struct counter *c, const struct sdk_agent *a, uint32_t instance)
{
	(void)a;
	return ((c->id & 0xffff) << 32 | (uint64_t)c->gfx << 56 | instance) ^ RECORD_KEY;
}

static const struct counter *of_record(uint64_t record, uint32_t *instance_out)
{
	size_t n;
	uint64_t plain = record ^ RECORD_KEY;
	if (plain >> 57 || (plain >> 48 & 0xff))
		return NULL;
	const struct counter *list = list_of(plain >> 56 & 1 ? T0_GFX942 : T0_GFX90A, &n);
	*instance_out = (uint32_t)plain;
	for (size_t i = 0; i < n; i++)
		if ((list[i].id & 0xffff) == (plain >> 32 & 0xffff))
			return &list[i];
	return NULL;
}

uint32_t rocprofiler_query_record_counter_id(uint64_t record_id, uint64_t *counter_out)
{
	uint32_t instance;
	const struct counter *c = of_record(record_id, &instance);
	if (!c) { /* the real library does not look */
		t0_misuse("query_record_counter_id of %#llx, which is no record's id",
			  (unsigned long long)record_id);
		*counter_out = 0;
		return ROCP_OK;
	}
	*counter_out = c->id;
	return ROCP_OK;
}

static size_t position(const struct counter *c, uint32_t instance, uint64_t dimension)
{
	struct rocp_dimension_info dims[4];
	uint32_t n = dims_of(c, dims);
	size_t rest = instance, at = 0;
	/* the last dimension changes fastest */
	for (uint32_t i = n; i-- > 0;) {
		if (dims[i].id == dimension)
			at = rest % dims[i].instances;
		rest /= dims[i].instances;
	}
	return at;
}

uint32_t rocprofiler_query_record_dimension_position(uint64_t record_id, uint64_t dimension,
						     size_t *position_out)
{
	uint32_t instance;
	const struct counter *c = of_record(record_id, &instance);
	*position_out = c ? position(c, instance, dimension) : 0;
	return ROCP_OK;
}

/* ---- descriptions ---- */

static const char *expression_of(const struct counter *c)
{
	static char texts[N_90A + N_942][160];
	size_t n, at = 0;
	if (!c->base && !c->accumulator)
		return "";
	const struct counter *list = list_of(c->gfx, &n);
	at = (size_t)(c - list) + (c->gfx == T0_GFX942 ? N_90A : 0);
	char *t = texts[at];
	if (!*t && c->base) {
		strcpy(t, "reduce(");
		strncat(t, c->base->name, 120);
		strcat(t, ",sum)");
	} else if (!*t) {
		strcpy(t, "accumulate(");
		size_t level = strlen(c->name) - strlen("_ACCUM");
		memcpy(t + strlen(t), c->name, level); /* zeros behind it */
		strcat(t, ", HIGH_RES)");
	}
	return t;
}

/* Made once for each counter, for ever: v1 hands out pointers to it. */
struct layout {
	struct rocp_dimension_info dims[4];
	const struct rocp_dimension_info *dim_list[4];
	uint32_t n_dims, n;
	const struct rocp_instance_info **instances;
};
static struct layout *layout_of(const struct counter *c)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct layout *layouts[N_90A + N_942];
	size_t n;
	const struct counter *list = list_of(c->gfx, &n);
	pthread_mutex_lock(&lock);
	struct layout **at = &layouts[(size_t)(c - list) + (c->gfx == T0_GFX942 ? N_90A : 0)];
	struct layout *l = *at;
	if (!l && (l = calloc(1, sizeof *l))) {
		size_t more = t0_config()->mutate & T0_SIZES ? 24 : 0;
		l->n_dims = dims_of(c, l->dims);
		l->n = counter_instances(c, NULL);
		for (uint32_t i = 0; i < l->n_dims; i++)
			l->dim_list[i] = &l->dims[i];
		l->instances = calloc(l->n, sizeof(void *));
		for (uint32_t i = 0; l->instances && i < l->n; i++) {
			struct rocp_instance_info *info = calloc(1, sizeof *info + more);
			const struct rocp_instance_dimension **ds = calloc(4, sizeof *ds);
			if (!info || !ds)
				t0_abort("no memory");
			*info = (struct rocp_instance_info){sizeof *info + more,
							    counter_record_id(c, NULL, i), c->id,
							    l->n_dims, ds};
			for (uint32_t k = 0; k < l->n_dims; k++) {
				struct rocp_instance_dimension *d = calloc(1, sizeof *d + more);
				if (!d)
					t0_abort("no memory");
				*d = (struct rocp_instance_dimension){
					sizeof *d + more, l->dims[k].name,
					position(c, i, l->dims[k].id)};
				ds[k] = d;
			}
			l->instances[i] = info;
		}
		*at = l;
	}
	pthread_mutex_unlock(&lock);
	if (!l)
		t0_abort("no memory");
	return l;
}

uint32_t rocprofiler_query_counter_info(uint64_t id, uint32_t version, void *info_out)
{
	const struct counter *c = counter_of(id);
	uint8_t bits = c && (c->base || c->accumulator) ? ROCP_COUNTER_IS_DERIVED : 0;
	const char *block = bits || !c ? "" : blocks[c->block].name;
	if (version == ROCP_COUNTER_INFO_VERSION_0) {
		struct rocp_counter_info_v0 *v0 = info_out;
		if (!c)
			return ROCP_COUNTER_NOT_FOUND;
		*v0 = (struct rocp_counter_info_v0){
			c->id, c->name, "A counter of the model.", block, expression_of(c), bits};
		return ROCP_OK;
	}
	if (version != ROCP_COUNTER_INFO_VERSION_1)
		return ROCP_INCOMPATIBLE_ABI;
	if (!c)
		return ROCP_COUNTER_NOT_FOUND;
	struct layout *l = layout_of(c);
	struct rocp_counter_info_v1 *v1 = info_out;
	*v1 = (struct rocp_counter_info_v1){.size = sizeof *v1,
					    .id = c->id,
					    .name = c->name,
					    .description = "A counter of the model.",
					    .block = block,
					    .expression = expression_of(c),
					    .bits = bits,
					    .n_dimensions = l->n_dims,
					    .dimensions = l->dim_list,
					    .n_instances = l->n,
					    .instances = l->instances};
	if (t0_config()->mutate & T0_SIZES) {
		/* A longer struct of the same version would be written into the caller's: what a
		 * caller can do about it is to have room. */
		v1->size += 32;
		memset((char *)info_out + sizeof *v1, 0xee, 32);
	}
	return ROCP_OK;
}

uint32_t rocprofiler_iterate_agent_supported_counters(uint64_t agent,
						      rocp_counters_callback callback, void *data)
{
	const struct sdk_agent *a = agent_by_id(agent);
	if (!a)
		return ROCP_AGENT_NOT_FOUND;
	if (a->public->type != ROCP_AGENT_GPU)
		return ROCP_AGENT_ARCH_NOT_SUPPORTED;
	size_t n;
	const struct counter *list = list_of(a->gfx, &n);
	uint64_t *ids = calloc(n, sizeof *ids);
	if (!ids)
		return ROCP_OUT_OF_RESOURCES;
	for (size_t i = 0; i < n; i++)
		ids[i] = list[i].id;
	uint32_t status = callback(agent, ids, n, data);
	free(ids);
	return status;
}

/* ---- values ---- */

double counter_value(const struct counter *c, const struct sdk_agent *a, uint32_t instance,
		     const struct t0_counts *w)
{
	uint64_t total = (1 + c->event % 16) * w->items, n = counter_instances(c, a);
	const char *name = c->base ? c->base->name : c->name;
	if (!strcmp(name, "SQ_WAVES") || !strcmp(name, "SPI_CSN_WAVE"))
		total = w->waves;
	else if (c->accumulator)
		total *= 3;
	else if (c->block == BLOCK_GRBM)
		return (double)(1000 + w->items);
	return (double)(total / n + (instance < total % n));
}

/* ---- configurations ---- */

#define MAX_CONFIGS 65536
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct config *configs[MAX_CONFIGS]; /* by id */
static uint64_t n_configs;

static struct config *find(uint64_t id)
{
	return id && id <= n_configs && configs[id] && !configs[id]->dead ? configs[id] : NULL;
}

struct config *config_use(uint64_t id)
{
	pthread_mutex_lock(&lock);
	struct config *c = find(id);
	if (c)
		c->uses++;
	pthread_mutex_unlock(&lock);
	return c;
}

static void release_if_unused(struct config *c)
{
	if (!c->dead || c->uses)
		return;
	configs[c->id] = NULL;
	free(c->counters);
	free(c);
}

void config_done(struct config *c)
{
	pthread_mutex_lock(&lock);
	c->uses--;
	release_if_unused(c);
	pthread_mutex_unlock(&lock);
}

unsigned configs_live(void)
{
	unsigned n = 0;
	pthread_mutex_lock(&lock);
	for (uint64_t i = 1; i <= n_configs; i++)
		n += find(i) != NULL;
	pthread_mutex_unlock(&lock);
	return n;
}

/* Slots of one block: one for each event, each accumulator another one; as the real check counts
 * them, or with the level event that an accumulator alone brings along. */
static bool fits(const struct config *c, bool hidden)
{
	for (int b = 0; b < N_BLOCKS; b++) {
		bool event[1024] = {false}, accumulated[1024] = {false};
		unsigned n = 0;
		for (uint32_t i = 0; i < c->n; i++) {
			const struct counter *k = c->counters[i];
			if ((int)k->block != b)
				continue;
			bool *seen = k->accumulator ? accumulated : event;
			n += !seen[k->event];
			seen[k->event] = true;
		}
		for (unsigned e = 0; hidden && e < 1024; e++)
			n += accumulated[e] && !event[e];
		if (n > blocks[b].slots)
			return false;
	}
	return true;
}

bool config_buildable(const struct config *c)
{
	return fits(c, true);
}

static void add(struct config *c, const struct counter *k)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->counters[i] == k)
			return;
	c->counters[c->n++] = k;
}

uint32_t rocprofiler_create_counter_config(uint64_t agent, uint64_t *counters, size_t n,
					   uint64_t *config)
{
	const struct sdk_agent *a = agent_by_id(agent);
	if (!a)
		return ROCP_AGENT_NOT_FOUND;
	struct config *c = calloc(1, sizeof *c);
	if (!c || !(c->counters = calloc(n + N_90A + N_942, sizeof *c->counters)))
		t0_abort("no memory");
	c->agent = a;
	uint32_t status = ROCP_OK;
	for (size_t i = 0; i < n && status == ROCP_OK; i++) {
		const struct counter *k = counter_of(counters[i]);
		if (!k)
			status = ROCP_COUNTER_NOT_FOUND;
		else if (a->public->type != ROCP_AGENT_GPU || k->gfx != a->gfx)
			status = ROCP_METRIC_NOT_VALID_FOR_AGENT;
		else
			add(c, k);
	}
	pthread_mutex_lock(&lock);
	const struct config *old = status == ROCP_OK ? find(*config) : NULL;
	if (status == ROCP_OK && *config && !old) {
		t0_misuse("create_counter_config: *config_id is %#llx, not 0 and no configuration",
			  (unsigned long long)*config);
		if (t0_config()->strict)
			t0_abort("that variable was not initialised");
	} else if (old) {
		t0_misuse("create_counter_config: *config_id is %llu: its counters are added",
			  (unsigned long long)*config);
		for (uint32_t i = 0; i < old->n; i++)
			add(c, old->counters[i]);
	}
	if (status == ROCP_OK && (!fits(c, false) || t0_fails(T0_EXCEEDS)))
		status = ROCP_EXCEEDS_HW_LIMIT;
	if (status == ROCP_OK && n_configs + 1 >= MAX_CONFIGS)
		status = ROCP_OUT_OF_RESOURCES;
	if (status == ROCP_OK) {
		c->id = ++n_configs;
		configs[c->id] = c;
		*config = c->id;
	} else {
		free(c->counters);
		free(c);
	}
	pthread_mutex_unlock(&lock);
	return status;
}

uint32_t rocprofiler_destroy_counter_config(uint64_t config)
{
	pthread_mutex_lock(&lock);
	struct config *c = find(config);
	if (c) {
		c->dead = true;
		release_if_unused(c);
	}
	pthread_mutex_unlock(&lock);
	return ROCP_OK;
}
