/* SPDX-License-Identifier: Apache-2.0 */
/* The planning half of the stand-in CUPTI; it works without a driver, as the real one. */
#include "cupti.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char standin_name[] = "libcupti";

int refuse(int result, const char *format, ...)
{
	char text[160];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	standin_violation("%s (refused with %d)", text, result);
	return result;
}

int cupti_size(const char *function, size_t got, size_t wanted)
{
	if (got == wanted)
		return 0;
	return refuse(CUPTI_INVALID_PARAMETER, "%s: a struct of %zu bytes, not %zu", function, got,
		      wanted);
}

uint64_t config_check(const struct config_image *c)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < offsetof(struct config_image, check); i++)
		h = (h ^ ((const unsigned char *)c)[i]) * 0x100000001b3u;
	return h;
}

#define CUPTI(name, params)              \
	STANDIN_API int name(params *p); \
	STANDIN_API int name(params *p)

STANDIN_API int cuptiGetVersion(uint32_t *version);
STANDIN_API int cuptiGetVersion(uint32_t *version)
{
	*version = 130001;
	return 0;
}

static int host_of(const char *function, const struct cupti_host *h)
{
	if (h && h->magic == HOST_MAGIC)
		return 0;
	return refuse(CUPTI_INVALID_PARAMETER, "%s: no host object", function);
}

CUPTI(cuptiProfilerHostInitialize, struct cupti_host_initialize)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_host_initialize, host));

	if (rc)
		return rc;
	if (!p->chip || strcmp(p->chip, STANDIN_CHIP) || p->profiler_type != CUPTI_RANGE_PROFILER)
		return CUPTI_INVALID_PARAMETER;
	if (p->availability && memcmp(p->availability, "SDAVAILS", 8))
		return refuse(CUPTI_INVALID_PARAMETER, "%s: no availability image", __func__);
	p->host = calloc(1, sizeof(*p->host));
	if (!p->host)
		return RESULT_OUT_OF_MEMORY;
	p->host->magic = HOST_MAGIC;
	memcpy(p->host->config.magic, CONFIG_MAGIC, 8);
	strcpy(p->host->config.chip, STANDIN_CHIP);
	return 0;
}

CUPTI(cuptiProfilerHostDeinitialize, struct cupti_host_deinitialize)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_host_deinitialize, host));

	rc = rc ? rc : host_of(__func__, p->host);
	if (rc)
		return rc;
	p->host->magic = 0;
	free(p->host);
	return 0;
}

CUPTI(cuptiProfilerHostGetSupportedChips, struct cupti_host_chips)
{
	static const char *const chips[] = {STANDIN_CHIP};
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_host_chips, names));

	p->n = 1;
	p->names = chips;
	return rc;
}

CUPTI(cuptiProfilerHostGetBaseMetrics, struct cupti_host_metrics)
{
	static const char *names[3][64];
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_host_metrics, n));

	rc = rc ? rc : host_of(__func__, p->host);
	if (rc)
		return rc;
	if (p->type < 0 || p->type > 2)
		return CUPTI_INVALID_PARAMETER;
	p->n = 0;
	for (unsigned i = 0; metric_at(i); i++)
		if (metric_at(i)->type == p->type)
			names[p->type][p->n++] = metric_at(i)->name;
	p->names = names[p->type];
	return 0;
}

CUPTI(cuptiProfilerHostGetMetricProperties, struct cupti_host_properties)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_host_properties, type));
	const struct metric *m;
	const char *suffix;

	rc = rc ? rc : host_of(__func__, p->host);
	if (rc)
		return rc;
	m = metric_find(p->name, &suffix);
	if (!m)
		return CUPTI_INVALID_PARAMETER;
	p->description = m->help;
	p->hw_unit = "";
	p->dim_unit = m->unit;
	p->type = m->type;
	return 0;
}

/* ---- scheduling ---- */

static unsigned slots_used(const struct config_image *c, uint32_t pass, enum unit unit)
{
	unsigned n = 0;

	for (int i = 0; i < RAWS; i++)
		n += c->pass_of[i] == pass &&
		     (unit == UNITS || raw_unit((enum standin_raw)i) == unit);
	return n;
}

/* Counters on patched code and those of the hardware never share a pass. */
static bool fits(const struct config_image *c, uint32_t pass, enum standin_raw raw)
{
	enum unit unit = raw_unit(raw);
	unsigned of_sass = slots_used(c, pass, UNIT_SASS), all = slots_used(c, pass, UNITS);

	if (unit == UNIT_SASS ? all != of_sass : of_sass != 0)
		return false;
	return slots_used(c, pass, unit) < unit_slots(unit);
}

/* Into the first pass with room, from `from` on: what one call adds begins passes of its own. */
static bool schedule(struct config_image *c, enum standin_raw raw, uint32_t from)
{
	if (c->pass_of[raw])
		return true;
	for (uint32_t pass = from; pass <= PASSES_MAX; pass++) {
		if (!fits(c, pass, raw))
			continue;
		c->pass_of[raw] = (uint8_t)pass;
		if (pass > c->passes)
			c->passes = pass;
		return true;
	}
	return false;
}

CUPTI(cuptiProfilerHostConfigAddMetrics, struct cupti_host_add_metrics)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_host_add_metrics, n));
	struct cupti_host *h = p->host;
	uint32_t from;

	rc = rc ? rc : host_of(__func__, h);
	if (rc)
		return rc;
	if (h->spoiled)
		return refuse(CUPTI_INVALID_PARAMETER, "%s: after a name that was refused",
			      __func__);
	h->spoiled = true;
	from = h->config.passes + 1;
	for (size_t i = 0; i < p->n; i++) {
		const char *suffix;
		const struct metric *m = metric_find(p->names[i], &suffix);

		if (!m || !*suffix)
			return CUPTI_INVALID_PARAMETER;
		h->n_added++;
		for (unsigned k = 0; k < m->n; k++)
			if (!schedule(&h->config, (enum standin_raw)m->parts[k], from))
				return RESULT_OUT_OF_MEMORY;
		if (metric_divisor(suffix) != RAWS)
			schedule(&h->config, metric_divisor(suffix), from);
	}
	if (h->config.pass_of[RAW_PCIE] && h->n_added > 1)
		return CUPTI_NOT_SUPPORTED;
	h->spoiled = false;
	return 0;
}

static int host_ready(const char *function, const struct cupti_host *h)
{
	int rc = host_of(function, h);

	if (!rc && (h->spoiled || !h->n_added))
		rc = refuse(RESULT_INVALID_OPERATION, "%s: %s", function,
			    h->spoiled ? "after a name that was refused" : "before any metric");
	return rc;
}

CUPTI(cuptiProfilerHostGetConfigImageSize, struct cupti_host_image_size)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_host_image_size, image_size));

	rc = rc ? rc : host_ready(__func__, p->host);
	if (!rc)
		p->image_size = sizeof(struct config_image);
	return rc;
}

CUPTI(cuptiProfilerHostGetConfigImage, struct cupti_host_image)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_host_image, image));
	struct config_image c;

	rc = rc ? rc : host_ready(__func__, p->host);
	if (rc)
		return rc;
	if (p->image_size < sizeof(c))
		return refuse(RESULT_SIZE_NOT_SUFFICIENT, "%s: %zu bytes", __func__, p->image_size);
	c = p->host->config;
	c.size = sizeof(c);
	c.check = config_check(&c);
	memcpy(p->image, &c, sizeof(c));
	return 0;
}

CUPTI(cuptiProfilerHostGetNumOfPasses, struct cupti_host_passes)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_host_passes, passes));
	struct config_image c;

	if (rc)
		return rc;
	if (p->image_size < sizeof(c) || !p->image)
		return refuse(RESULT_SIZE_NOT_SUFFICIENT, "%s: %zu bytes", __func__, p->image_size);
	memcpy(&c, p->image, sizeof(c));
	if (memcmp(c.magic, CONFIG_MAGIC, 8) || c.check != config_check(&c))
		return refuse(CUPTI_INVALID_PARAMETER, "%s: no configuration image", __func__);
	p->passes = c.passes;
	return 0;
}

CUPTI(cuptiProfilerHostEvaluateToGpuValues, struct cupti_host_evaluate)
{
	int rc = cupti_size(__func__, p->size, SIZE_OF(struct cupti_host_evaluate, values));
	struct data_image d;
	struct data_range r;

	rc = rc ? rc : host_of(__func__, p->host);
	if (rc)
		return rc;
	if (!p->data || p->data_size < sizeof(d))
		return refuse(RESULT_SIZE_NOT_SUFFICIENT, "%s: %zu bytes", __func__, p->data_size);
	memcpy(&d, p->data, sizeof(d));
	if (memcmp(d.magic, DATA_MAGIC, 8) || d.size != p->data_size)
		return refuse(CUPTI_INVALID_PARAMETER, "%s: no counter data image", __func__);
	if (p->range >= d.n)
		return refuse(CUPTI_INVALID_PARAMETER, "%s: range %zu of %u", __func__, p->range,
			      d.n);
	if (standin_fault("evaluate", NULL))
		return CUPTI_UNKNOWN;
	memcpy(&r, p->data + sizeof(d) + p->range * sizeof(r), sizeof(r));
	for (size_t i = 0; i < p->n; i++) {
		const char *suffix;
		const struct metric *m = metric_find(p->names[i], &suffix);

		if (!m)
			return refuse(CUPTI_INVALID_PARAMETER, "%s: no metric '%s'", __func__,
				      p->names[i]);
		p->values[i] = metric_value(m, suffix, r.counted);
	}
	return 0;
}
