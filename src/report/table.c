/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as text, CSV and JSON from one description. */
#include "report/table.h"

#include "base/vec.h"
#include "report/table_arrays.h"
#include "report/table_text.h"

#include <stdlib.h>
#include <string.h>

#define FLUSH_SIZE 65536

enum cell_kind {
	CELL_NONE,
	CELL_STRING,
	CELL_NUMBER,
	CELL_BOOL
};
struct cell {
	enum cell_kind kind;
	struct number number;
	bool boolean;
	size_t text; /* offset into `strings` */
};
struct table {
	const struct table_column *columns;
	size_t n, at; /* columns; the next cell */
	struct table_options options;
	struct cell *row;
	struct str strings; /* of the row's cells, NUL between */
	struct str out;
	struct json_writer own_json, *json;
	VEC(char *) cells; /* text: every cell of every row */
	bool *used;        /* text: some row has a value in this column */
	struct table_arrays arrays;
	bool failed, write_failed;
};

static bool is_shown(const struct table *t, size_t c)
{
	unsigned hidden = t->options.format == TABLE_TEXT ? TABLE_ONLY_DATA : TABLE_ONLY_TEXT;

	return !(t->columns[c].flags & hidden);
}

static void flush(struct table *t, struct str *s, size_t at_least)
{
	if (s->failed)
		t->failed = true;
	if (s->size < at_least || !s->size || s->failed)
		return;
	if (fwrite(s->text, 1, s->size, t->options.out) != s->size)
		t->write_failed = true;
	str_clear(s);
}

static void begin_output(struct table *t)
{
	bool first = true;

	if (t->options.format == TABLE_CSV) {
		for (size_t c = 0; c < t->n; c++) {
			if (!is_shown(t, c))
				continue;
			if (!first)
				str_add_char(&t->out, ',');
			first = false;
			str_add_csv(&t->out, t->columns[c].id);
		}
		str_add(&t->out, "\n");
	} else if (t->options.format == TABLE_JSON) {
		if (!t->json) {
			t->json = &t->own_json;
			json_writer_init(t->json, &t->out, false);
			json_begin_object(t->json);
			json_key(t->json, "version");
			json_uint(t->json, TABLE_SCHEMA_VERSION);
			json_key(t->json, "rows");
		}
		json_begin_array(t->json);
	}
}

int table_begin(struct table **table_out, const struct table_column *columns, size_t n,
		const struct table_options *options, struct error *err)
{
	struct table *t = calloc(1, sizeof(*t));

	*table_out = NULL;
	if (t) {
		t->columns = columns;
		t->n = n;
		t->options = *options;
		t->json = options->json;
		t->row = calloc(n, sizeof(*t->row));
		t->used = calloc(n, sizeof(*t->used));
	}
	if (!t || !t->row || !t->used ||
	    (options->format == TABLE_ARRAYS && !table_arrays_init(&t->arrays, n))) {
		if (t) {
			free(t->row);
			free(t->used);
		}
		free(t);
		return error_set(err, RC_NO_MEMORY, "out of memory for a table");
	}
	begin_output(t);
	*table_out = t;
	return 0;
}

static struct cell *next_cell(struct table *t, enum cell_kind kind)
{
	struct cell *c;

	if (t->at == t->n) { /* a mistake of the caller's; the table says so at its end */
		t->failed = true;
		t->at--;
	}
	c = &t->row[t->at++];
	*c = (struct cell){.kind = kind, .text = t->strings.size};
	return c;
}

void table_add_string(struct table *t, const char *text)
{
	next_cell(t, text && *text ? CELL_STRING : CELL_NONE);
	str_add_bytes(&t->strings, text ? text : "", text ? strlen(text) + 1 : 1);
}

void table_add_number(struct table *t, struct number n)
{
	next_cell(t, CELL_NUMBER)->number = n;
}

void table_add_u64(struct table *t, uint64_t v)
{
	table_add_number(t, NUMBER_U64(v));
}

void table_add_bool(struct table *t, bool v)
{
	next_cell(t, CELL_BOOL)->boolean = v;
}

void table_add_none(struct table *t)
{
	next_cell(t, CELL_NONE);
}

static const char *text_of(const struct table *t, const struct cell *cell)
{
	return t->strings.text ? t->strings.text + cell->text : "";
}

static void row_to_csv(struct table *t)
{
	bool first = true;

	for (size_t c = 0; c < t->n; c++) {
		const struct cell *cell = &t->row[c];

		if (!is_shown(t, c))
			continue;
		if (!first)
			str_add_char(&t->out, ',');
		first = false;
		if (cell->kind == CELL_STRING)
			str_add_csv(&t->out, text_of(t, cell));
		else if (cell->kind == CELL_NUMBER)
			number_print(cell->number, &t->out);
		else if (cell->kind == CELL_BOOL)
			str_add(&t->out, cell->boolean ? "true" : "false");
	}
	str_add(&t->out, "\n");
	flush(t, &t->out, FLUSH_SIZE);
}

static void row_to_json(struct table *t)
{
	json_begin_object(t->json);
	for (size_t c = 0; c < t->n; c++) {
		const struct cell *cell = &t->row[c];

		if (!is_shown(t, c))
			continue;
		json_key(t->json, t->columns[c].id);
		if (cell->kind == CELL_STRING)
			json_string(t->json, text_of(t, cell));
		else if (cell->kind == CELL_BOOL)
			json_bool(t->json, cell->boolean);
		else if (cell->kind == CELL_NONE)
			json_null(t->json);
		else if (cell->number.is_f64)
			json_double(t->json, cell->number.f64);
		else
			json_uint(t->json, cell->number.u64);
	}
	json_end_object(t->json);
	flush(t, t->json->out, FLUSH_SIZE);
}

static void row_to_arrays(struct table *t)
{
	for (size_t c = 0; c < t->n; c++) {
		const struct cell *cell = &t->row[c];

		if (!is_shown(t, c))
			continue;
		if (cell->kind == CELL_NUMBER)
			table_arrays_number(&t->arrays, c, cell->number);
		else if (cell->kind == CELL_BOOL)
			table_arrays_bool(&t->arrays, c, cell->boolean);
		else
			table_arrays_string(&t->arrays, c,
					    cell->kind == CELL_STRING ? text_of(t, cell) : NULL);
	}
	table_arrays_end_row(&t->arrays);
	t->failed = t->failed || t->arrays.failed;
}

/* What would move the cursor or make an escape sequence becomes a question mark. */
static void add_safe(struct str *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		str_add_char(out, c < 0x20 || c == 0x7f ? '?' : *text);
	}
}

static void add_text_cell(struct table *t, size_t c, const struct scale *row_scale, struct str *out)
{
	const struct table_column *column = &t->columns[c];
	const struct cell *cell = &t->row[c];
	struct scale own;

	switch (cell->kind) {
	case CELL_NONE:
		if (column->type == TABLE_NUMBER)
			str_add(out, "-");
		return;
	case CELL_BOOL:
		str_add(out, cell->boolean ? "yes" : "no");
		break;
	case CELL_STRING:
		if ((column->flags & TABLE_UNIT) && row_scale->divisor > 0)
			str_add(out, row_scale->unit);
		else
			add_safe(out, text_of(t, cell));
		break;
	case CELL_NUMBER:
		if (column->flags & TABLE_SCALED) {
			scale_print(row_scale, cell->number, out);
		} else {
			own = scale_pick(cell->number, column->unit ? column->unit : "",
					 t->options.base_units || !column->unit);
			scale_print(&own, cell->number, out);
			if (*own.unit)
				str_addf(out, " %s", own.unit);
		}
		break;
	}
	t->used[c] = true;
}

static void row_to_text(struct table *t)
{
	struct scale scale = {0};
	const char *unit = "";

	for (size_t c = 0; c < t->n; c++) {
		if ((t->columns[c].flags & TABLE_UNIT) && t->row[c].kind == CELL_STRING)
			unit = text_of(t, &t->row[c]);
	}
	for (size_t c = t->n; c-- > 0;) { /* the first one decides */
		if ((t->columns[c].flags & TABLE_SCALED) && t->row[c].kind == CELL_NUMBER)
			scale = scale_pick(t->row[c].number, unit, t->options.base_units);
	}
	for (size_t c = 0; c < t->n; c++) {
		struct str text = STR_INIT;
		char *taken;

		if (is_shown(t, c))
			add_text_cell(t, c, &scale, &text);
		str_add(&text, "");
		taken = str_take(&text);
		if (!taken || !vec_push(&t->cells, taken)) {
			free(taken);
			t->failed = true;
			return;
		}
	}
}

void table_end_row(struct table *t)
{
	while (t->at < t->n)
		table_add_none(t);
	if (t->strings.failed)
		t->failed = true;
	if (!t->failed && t->options.format == TABLE_CSV)
		row_to_csv(t);
	else if (!t->failed && t->options.format == TABLE_TEXT)
		row_to_text(t);
	else if (!t->failed && t->options.format == TABLE_JSON)
		row_to_json(t);
	else if (!t->failed)
		row_to_arrays(t);
	t->at = 0;
	str_clear(&t->strings);
}

static void print_lines(struct table *t, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n && t->options.indent)
			str_add(&t->out, t->options.indent);
		str_add_bytes(&t->out, text, n);
		str_add_char(&t->out, '\n');
		text += n + (text[n] == '\n');
	}
}

static void print_text(struct table *t)
{
	size_t n_rows = t->cells.n / t->n, n = 0;
	const char **headers = calloc(t->n, sizeof(*headers));
	const char **cells = calloc(t->cells.n ? t->cells.n : 1, sizeof(*cells));
	bool *right = calloc(t->n, sizeof(*right));
	struct str text = STR_INIT;
	struct grid g;

	for (size_t c = 0; headers && cells && right && c < t->n; c++) {
		const struct table_column *column = &t->columns[c];

		if (!is_shown(t, c) || ((column->flags & TABLE_HIDE_EMPTY) && !t->used[c]))
			continue;
		headers[n] = column->header ? column->header : column->id;
		right[n] = column->type == TABLE_NUMBER || (column->flags & TABLE_RIGHT);
		n++;
	}
	g = (struct grid){.n_columns = n,
			  .n_rows = n_rows,
			  .headers = headers,
			  .right = right,
			  .cells = cells};
	if (headers && cells && right) {
		size_t at = 0;

		for (size_t r = 0; r < n_rows; r++) {
			for (size_t c = 0; c < t->n; c++) {
				const struct table_column *column = &t->columns[c];

				if (is_shown(t, c) &&
				    (!(column->flags & TABLE_HIDE_EMPTY) || t->used[c]))
					cells[at++] = t->cells.items[r * t->n + c];
			}
		}
		if (!grid_print_smartcols(&g, &text))
			grid_print_plain(&g, &text);
		print_lines(t, str_text(&text));
	}
	t->failed = t->failed || !headers || !cells || !right || text.failed;
	str_release(&text);
	free(headers);
	free(cells);
	free(right);
}

static void write_arrays(struct table *t)
{
	static const char *const types[] = {"string", "number", "bool"};
	struct json_writer *w = t->json;

	json_begin_object(w);
	json_key(w, "columns");
	json_begin_array(w);
	for (size_t c = 0; c < t->n; c++) {
		const struct table_column *column = &t->columns[c];

		if (!is_shown(t, c))
			continue;
		json_begin_object(w);
		json_key(w, "id");
		json_string(w, column->id);
		json_key(w, "header");
		json_string(w, column->header ? column->header : column->id);
		json_key(w, "unit");
		json_string(w, column->unit);
		json_key(w, "type");
		json_string(w, types[column->type]);
		table_arrays_write(&t->arrays, c, w);
		json_end_object(w);
		flush(t, w->out, FLUSH_SIZE);
	}
	json_end_array(w);
	table_arrays_write_end(&t->arrays, w);
	json_end_object(w);
	flush(t, w->out, FLUSH_SIZE);
}

int table_end(struct table *t, struct error *err)
{
	int rc = 0;

	if (t->options.format == TABLE_TEXT) {
		print_text(t);
	} else if (t->options.format == TABLE_JSON) {
		json_end_array(t->json);
		if (t->json == &t->own_json) {
			json_end_object(t->json);
			str_add(&t->out, "\n");
		}
	} else if (t->options.format == TABLE_ARRAYS) {
		write_arrays(t);
	}
	flush(t, &t->out, 0);
	if (t->failed)
		rc = error_set(err, RC_NO_MEMORY, "out of memory for a table");
	else if (t->write_failed)
		rc = error_set(err, RC_IO, "the table could not be written");
	vec_for_each (&t->cells, cell)
		free(*cell);
	vec_release(&t->cells);
	table_arrays_release(&t->arrays);
	str_release(&t->strings);
	str_release(&t->out);
	free(t->row);
	free(t->used);
	free(t);
	return rc;
}
