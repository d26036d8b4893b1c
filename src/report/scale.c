/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people. */
#include "report/scale.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EXACT_BELOW 1e5 /* counts this small are shown with all their digits */

double number_f64(struct number n)
{
	return n.is_f64 ? n.f64 : (double)n.u64;
}

void number_print(struct number n, struct str *out)
{
	struct json_writer w;

	if (!n.is_f64) {
		str_addf(out, "%llu", (unsigned long long)n.u64);
		return;
	}
	json_writer_init(&w, out, true); /* the shortest text that reads back, in every locale */
	json_double(&w, n.f64);
}

static bool is_one_of(const char *unit, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(unit, *list))
			return true;
	}
	return false;
}

static struct scale of(double divisor, const char *prefix, const char *unit)
{
	struct scale s = {.divisor = divisor};

	snprintf(s.unit, sizeof(s.unit), "%s%s", prefix, unit);
	s.exact = divisor >= 1 && divisor <= 1;
	return s;
}

static struct scale scale_time(double size)
{
	if (size < 1e3)
		return of(1, "", "ns");
	if (size < 1e6)
		return of(1e3, "", "us");
	return size < 1e9 ? of(1e6, "", "ms") : of(1e9, "", "s");
}

static struct scale scale_bytes(double size)
{
	static const char *const prefixes[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
	double divisor = 1;
	int i = -1;

	for (; size >= (i < 0 ? 10240 : 1024) && i < 4; size /= 1024, divisor *= 1024)
		i++;
	return i < 0 ? of(1, "", "B") : of(divisor, "", prefixes[i]);
}

struct scale scale_pick(struct number n, const char *unit, bool base)
{
	static const char *const plain[] = {"%", "percent", "ratio", "", NULL};
	static const char *const prefixes[] = {"k", "M", "G", "T", "P", "E"};
	double size = fabs(number_f64(n)), divisor = 1;
	char joined[48];
	int i = -1;

	if (base || !isfinite(size) || (is_one_of(unit, plain) && *unit))
		return of(1, "", unit);
	if (!strcmp(unit, "ns"))
		return scale_time(size);
	if (!strcmp(unit, "bytes") || !strcmp(unit, "B"))
		return scale_bytes(size);
	if (size < EXACT_BELOW)
		return of(1, "", unit);
	for (; size >= 1000 && i < 5; size /= 1000, divisor *= 1000)
		i++;
	/* "GHz", "MB/s", but "M cycles". */
	if (!strncmp(unit, "bytes/", 6))
		snprintf(joined, sizeof(joined), "B/%s", unit + 6);
	else if (!strcmp(unit, "Hz") || !strncmp(unit, "B/", 2))
		snprintf(joined, sizeof(joined), "%s", unit);
	else
		snprintf(joined, sizeof(joined), "%s%s", *unit ? " " : "", unit);
	return of(divisor, prefixes[i], joined);
}

/* printf's decimal point follows the locale; a report does not. */
static void add_fixed(struct str *out, double v, int digits)
{
	char text[64];
	char *comma;

	snprintf(text, sizeof(text), "%.*f", digits, v);
	comma = strpbrk(text, ",");
	if (comma)
		*comma = '.';
	str_add(out, text);
}

void scale_print(const struct scale *s, struct number n, struct str *out)
{
	double v = number_f64(n) / s->divisor, size = fabs(v);

	if (s->exact && (!n.is_f64 || !isfinite(v))) {
		number_print(n, out);
		return;
	}
	if (size >= 1e7 || (size < 1e-3 && size > 0))
		number_print(NUMBER_F64(v), out);
	else if (size >= 1000)
		add_fixed(out, v, size < EXACT_BELOW ? 1 : 0);
	else
		add_fixed(out, v, size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

void share_print(double share, struct str *out)
{
	double percent = 100 * share;
	int digits = percent >= 9.95 || percent <= 0 ? 0 : percent >= 0.995 ? 1 : 2;

	str_addf(out, "%.*f %%", digits, percent);
}
