/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing what to export, and what the exporters share. */
#include "export/export.h"

#include "export/parts.h"
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[EXPORT_TARGETS] = {"omniperf", "csv", "perfetto", "rocpd"};

const char *export_target_name(enum export_target target)
{
	return names[target];
}

static int choose_kernels(struct store *s, const struct export_options *o, struct export_kernels *k,
			  struct error *err)
{
	const struct store_kernel *kernels;
	size_t n;
	int rc = report_choose_kernels(s, o->kernels, o->n_kernels, &k->chosen, err);

	kernels = store_kernels(s, &n);
	k->names = arena_array(&k->arena, n + 1, sizeof(*k->names));
	for (size_t i = 0; !rc && k->names && i < n; i++) {
		k->names[i] = values_kernel_name(s, (uint32_t)i);
		if (kernels[i].unit == SPOOL_UNIT_DISPATCH)
			k->names[i] = kernel_name_show(&k->arena, k->names[i], KERNEL_NAME_FULL);
		if (!k->names[i])
			rc = error_set(err, RC_NO_MEMORY, "out of memory");
	}
	if (!rc && !k->names)
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
	return rc;
}

/* A new file; NULL: there is one, or it cannot be made. */
static FILE *create(const char *path, struct error *err)
{
	FILE *f = fopen(path, "wxe");

	if (!f)
		error_set_errno(err, errno == EEXIST ? RC_EXISTS : 0, errno, "cannot make '%s'",
				path);
	return f;
}

int export_write_file(const char *path, const struct str *text, struct error *err)
{
	FILE *f;
	bool good;

	if (str_is_failed(text))
		return error_set(err, RC_NO_MEMORY, "out of memory for '%s'", path);
	f = create(path, err);
	if (!f)
		return err->code;
	good = !text->size || fwrite(text->text, 1, text->size, f) == text->size;
	if (fclose(f) || !good) {
		int code = errno;

		unlink(path);
		return error_set_errno(err, RC_IO, code, "cannot write '%s'", path);
	}
	return 0;
}

/* The report by dispatch. Long is a line for each value of each execution, in an order that does
 * not depend on how the directory came to be, written while the database is read; wide is a line a
 * dispatch over all passes. */
static int write_csv(struct store *s, const struct export_options *o, FILE *f, struct error *err)
{
	struct report_options ro = {.by = REPORT_BY_DISPATCH,
				    .layout = o->wide ? REPORT_WIDE : REPORT_LONG,
				    .format = TABLE_CSV,
				    .kernels = o->kernels,
				    .n_kernels = o->n_kernels};

	return report_write(s, &ro, f, err);
}

/* To stdout, or to a new file that is removed when it does not become whole. */
static int write_stream(struct store *s, const struct export_options *o,
			const struct export_kernels *k, struct error *err)
{
	FILE *f = o->out ? create(o->out, err) : stdout;
	int rc;

	if (!f)
		return err->code;
	rc = o->target == EXPORT_CSV ? write_csv(s, o, f, err) : export_perfetto(s, k, f, err);
	if ((o->out ? fclose(f) : fflush(f)) && !rc)
		rc = error_set_errno(err, RC_IO, errno, "cannot write '%s'",
				     o->out ? o->out : "standard output");
	if (rc && o->out)
		unlink(o->out);
	return rc;
}

#define FOUND 1

static int find_row(void *data, const struct store_row *r, struct error *err)
{
	const uint32_t *units = data;

	(void)err;
	return *units & 1u << r->unit ? FOUND : 0;
}

/* Whether there is anything that the format has a place for: a file without a row says nothing. */
static int check_rows(struct store *s, enum export_target target, const struct export_kernels *k,
		      struct error *err)
{
	bool all = target == EXPORT_CSV || target == EXPORT_PERFETTO;
	uint32_t units = all ? UINT32_MAX : 1u << SPOOL_UNIT_DISPATCH;
	struct store_scan scan = {.pass = STORE_ALL_PASSES, .kernels = k->chosen};
	int rc = store_scan(s, &scan, find_row, &units, err);

	if (rc == FOUND)
		return 0;
	return rc ? rc
		  : error_set(err, RC_INVALID, "there is nothing to export: this run has no %s%s",
			      all ? "counts" : "counts of a kernel's dispatch",
			      k->chosen ? " that -k takes" : "");
}

int export_write(struct store *s, const struct export_options *o, struct str *notes,
		 struct error *err)
{
	struct export_kernels k = {0};
	int rc = choose_kernels(s, o, &k, err);

	if (!rc)
		rc = check_rows(s, o->target, &k, err);
	if (!rc) {
		switch (o->target) {
		case EXPORT_OMNIPERF:
			rc = export_omniperf(s, o, &k, notes, err);
			break;
		case EXPORT_ROCPD:
			rc = export_rocpd(s, o, &k, err);
			break;
		case EXPORT_CSV:
		case EXPORT_PERFETTO:
		default:
			rc = write_stream(s, o, &k, err);
			break;
		}
	}
	if (!rc && store_matching(s)->incomplete && (o->target != EXPORT_CSV || o->wide))
		str_addf(
			notes,
			"%llu dispatches are not in every execution of the program; they have rows "
			"of their own\n",
			(unsigned long long)store_matching(s)->incomplete);
	free(k.chosen);
	arena_release(&k.arena);
	return rc;
}
