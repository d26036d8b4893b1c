/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that end a run. */
#include "report/summary.h"

#include "report/ranks.h"
#include "store/store.h"

static bool is_complete(const struct store *s)
{
	const struct plan *plan = store_plan(s);
	struct str why = STR_INIT;
	bool complete = !plan->n_dropped;

	for (uint32_t i = 0; complete && i < plan->n_counters; i++)
		complete = !store_why_missing(s, i, &why);
	for (uint32_t k = 1; complete && k <= plan->n_passes; k++) /* a rank of it may be cut off */
		complete = !store_pass_has_run(s, k) || store_pass_is_complete(s, k);
	str_release(&why);
	return complete;
}

int summary_write(const char *dir, FILE *f, bool *complete_out, struct error *err)
{
	struct str text = STR_INIT;
	struct store *s;
	int rc = store_open(&s, dir, err);

	if (rc)
		return rc;
	if (complete_out)
		*complete_out = is_complete(s);
	if (f)
		rc = store_summary(s, &text, err);
	if (f && !rc)
		coverage_of_store(s, &text);
	if (text.text)
		str_tame(text.text);
	if (f && !rc && fputs(str_text(&text), f) < 0)
		rc = error_set(err, RC_IO, "cannot write the summary");
	str_release(&text);
	store_close(s);
	return rc;
}
