/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a built program keeps something from one launch to the next, read from LLVM bitcode,
 * which PoCL's binaries contain (file program.bc): the variables of its module with the values they
 * begin with. Only as much of the format is read as this takes (llvm.org/docs/BitCodeFormat.html,
 * LLVM 5 and later); whatever is unexpected is answered with "cannot be told".
 */
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

enum { /* of the format */
	ID_END_BLOCK = 0,
	ID_ENTER_SUBBLOCK = 1,
	ID_DEFINE_ABBREV = 2,
	ID_UNABBREV_RECORD = 3,
	BLOCK_BLOCKINFO = 0,
	BLOCK_MODULE = 8,
	BLOCK_CONSTANTS = 11,
	BLOCKINFO_SETBID = 1,
	MODULE_VERSION = 1,
	MODULE_GLOBALVAR = 7,
	MODULE_FUNCTION = 8,
	MODULE_ALIAS = 14,
	MODULE_IFUNC = 15,
	CONSTANT_SETTYPE = 1,
	CONSTANT_UNDEF = 3,
	CONSTANT_POISON = 26,
	ENCODING_FIXED = 1,
	ENCODING_VBR = 2,
	ENCODING_ARRAY = 3,
	ENCODING_CHAR6 = 4,
	ENCODING_BLOB = 5,
};

/* ---- bits ---- */

struct bits {
	const unsigned char *bytes;
	uint64_t at, end; /* bits */
	bool bad;
};

static uint64_t read_bits(struct bits *b, unsigned n)
{
	uint64_t value = 0;

	if (n > 64 || b->end - b->at < n) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	for (unsigned done = 0; done < n;) {
		unsigned skip = (unsigned)(b->at % 8), take = 8 - skip;

		if (take > n - done)
			take = n - done;
		value |= (uint64_t)(b->bytes[b->at / 8] >> skip & ((1u << take) - 1)) << done;
		done += take;
		b->at += take;
	}
	return value;
}

static uint64_t read_vbr(struct bits *b, unsigned n)
{
	uint64_t value = 0, part, more = n >= 2 && n <= 32 ? UINT64_C(1) << (n - 1) : 0;

	if (!more)
		b->bad = true;
	for (unsigned shift = 0; !b->bad; shift += n - 1) {
		part = read_bits(b, n);
		if (shift < 64)
			value |= (part & (more - 1)) << shift;
		if (!(part & more))
			break;
	}
	return value;
}

static void align32(struct bits *b)
{
	uint64_t at = (b->at + 31) / 32 * 32;

	if (at > b->end)
		b->bad = true;
	b->at = at > b->end ? b->end : at;
}

/* ---- abbreviations ---- */

#define OPERANDS      24u /* of one abbreviation; the longest of LLVM 19 has 19 */
#define ABBREVIATIONS 32u /* of one block */
struct operand {
	bool is_literal;
	unsigned char encoding;
	uint64_t value; /* literal, or width */
};
struct abbreviation {
	unsigned n;
	struct operand operands[OPERANDS];
};
struct abbreviations {
	unsigned n;
	struct abbreviation list[ABBREVIATIONS];
};

static void define_abbreviation(struct bits *b, struct abbreviations *into)
{
	uint64_t n = read_vbr(b, 5);
	struct abbreviation *a = &into->list[into->n];

	if (into->n == ABBREVIATIONS || !n || n > OPERANDS) {
		b->bad = true;
		return;
	}
	a->n = (unsigned)n;
	for (unsigned i = 0; i < a->n; i++) {
		struct operand *o = &a->operands[i];

		*o = (struct operand){.is_literal = read_bits(b, 1)};
		if (o->is_literal) {
			o->value = read_vbr(b, 8);
			continue;
		}
		o->encoding = (unsigned char)read_bits(b, 3);
		if (o->encoding == ENCODING_FIXED || o->encoding == ENCODING_VBR)
			o->value = read_vbr(b, 5);
		else if (o->encoding < ENCODING_ARRAY || o->encoding > ENCODING_BLOB)
			b->bad = true;
	}
	into->n++;
}

/* ---- records ---- */

/* The first numbers of a record, the code first; the rest is read and dropped. */
#define NUMBERS 16u
struct numbers {
	unsigned n;
	uint64_t list[NUMBERS];
};

static void add_number(struct numbers *r, uint64_t value)
{
	if (r->n < NUMBERS)
		r->list[r->n++] = value;
}

static uint64_t read_scalar(struct bits *b, const struct operand *o)
{
	if (o->is_literal)
		return o->value;
	if (o->encoding == ENCODING_CHAR6)
		return read_bits(b, 6);
	if (!o->value) /* a width of zero: nothing is there */
		return 0;
	return o->encoding == ENCODING_FIXED ? read_bits(b, (unsigned)o->value)
					     : read_vbr(b, (unsigned)o->value);
}

static void read_record(struct bits *b, const struct abbreviation *a, struct numbers *r)
{
	r->n = 0;
	if (!a) { /* a record that says its own length */
		uint64_t code = read_vbr(b, 6), n = read_vbr(b, 6);

		add_number(r, code);
		for (uint64_t i = 0; i < n && !b->bad; i++)
			add_number(r, read_vbr(b, 6));
		return;
	}
	for (unsigned i = 0; i < a->n && !b->bad; i++) {
		const struct operand *o = &a->operands[i];
		uint64_t n;

		if (o->is_literal || o->encoding < ENCODING_ARRAY ||
		    o->encoding == ENCODING_CHAR6) {
			add_number(r, read_scalar(b, o));
			continue;
		}
		n = read_vbr(b, 6);
		if (o->encoding == ENCODING_ARRAY) {
			/* The last operand says what is in it. Nothing is dropped without being
			 * read, so a length that lies ends with the bits. */
			if (++i != a->n - 1 || a->operands[i].encoding == ENCODING_ARRAY ||
			    a->operands[i].encoding == ENCODING_BLOB || a->operands[i].is_literal ||
			    (!a->operands[i].value && a->operands[i].encoding != ENCODING_CHAR6)) {
				b->bad = true;
				break;
			}
			for (uint64_t k = 0; k < n && !b->bad; k++)
				add_number(r, read_scalar(b, &a->operands[i]));
			continue;
		}
		align32(b);
		if (n > (b->end - b->at) / 8)
			b->bad = true;
		else
			b->at += n * 8;
		align32(b);
	}
}

/* ---- the module ---- */

#define PENDING 256u
struct module {
	struct bits bits;
	struct abbreviations info[2]; /* that BLOCKINFO has for modules and for constants */
	struct abbreviations own[2];  /* of the block being read, those first */
	uint64_t version, values;     /* values: that have a number by now */
	unsigned n_pending;           /* variables whose first value has not come by yet */
	uint64_t pending[PENDING];    /* its number */
	bool keeps;
};

static void read_blockinfo(struct module *m, unsigned width)
{
	struct bits *b = &m->bits;
	struct abbreviations *into = NULL, *others = &m->own[1];
	struct numbers r;

	while (!b->bad) {
		uint64_t id = read_bits(b, width);

		if (id == ID_END_BLOCK) {
			align32(b);
			return;
		}
		if (id == ID_DEFINE_ABBREV) {
			others->n = 0; /* of blocks that are skipped */
			define_abbreviation(b, into ? into : others);
		} else if (id == ID_UNABBREV_RECORD) {
			read_record(b, NULL, &r);
			if (r.list[0] == BLOCKINFO_SETBID && r.n > 1)
				into = r.list[1] == BLOCK_MODULE      ? &m->info[0]
				       : r.list[1] == BLOCK_CONSTANTS ? &m->info[1]
								      : NULL;
		} else {
			b->bad = true;
		}
	}
}

static void take_variable(struct module *m, const struct numbers *r)
{
	/* [name, length of it, type, flags, first value + 1 or 0, ...]; bit 0 of flags: constant.
	 * Without a value it is declared only, and defined elsewhere: PoCL's own, which it sets
	 * for each group of work-items. */
	uint64_t first = r->n > 5 ? r->list[5] : 0;

	if (r->n < 6 || m->version < 2)
		m->bits.bad = true;
	else if (first && !(r->list[4] & 1)) {
		if (m->n_pending == PENDING)
			m->keeps = true;
		else
			m->pending[m->n_pending++] = first - 1;
	}
}

/* Local variables of kernels are variables of the module, too, and those alone begin with nothing.
 */
static void take_constant(struct module *m, const struct numbers *r)
{
	if (r->list[0] == CONSTANT_SETTYPE)
		return;
	for (unsigned i = 0; i < m->n_pending; i++)
		if (m->pending[i] == m->values &&
		    (r->list[0] == CONSTANT_UNDEF || r->list[0] == CONSTANT_POISON)) {
			m->pending[i] = m->pending[--m->n_pending];
			i--;
		}
	m->values++;
}

static void read_block(struct module *m, bool is_module, unsigned width)
{
	struct bits *b = &m->bits;
	struct abbreviations *own = &m->own[is_module ? 0 : 1];
	struct numbers r;

	*own = m->info[is_module ? 0 : 1];
	while (!b->bad) {
		uint64_t id = read_bits(b, width);

		if (id == ID_END_BLOCK) {
			align32(b);
			return;
		}
		if (id == ID_ENTER_SUBBLOCK) {
			uint64_t block = read_vbr(b, 8), inner = read_vbr(b, 4), words;

			align32(b);
			words = read_bits(b, 32);
			if (is_module && block == BLOCK_BLOCKINFO) {
				read_blockinfo(m, (unsigned)inner);
			} else if (is_module && block == BLOCK_CONSTANTS) {
				read_block(m, false, (unsigned)inner);
			} else if (words > (b->end - b->at) / 32) {
				b->bad = true;
			} else {
				b->at += words * 32;
			}
			continue;
		}
		if (id == ID_DEFINE_ABBREV) {
			define_abbreviation(b, own);
			continue;
		}
		if (id > ID_UNABBREV_RECORD && id - ID_UNABBREV_RECORD > own->n) {
			b->bad = true;
			return;
		}
		read_record(b, id == ID_UNABBREV_RECORD ? NULL : &own->list[id - 4], &r);
		if (b->bad || !r.n) {
			b->bad = true;
			return;
		}
		if (!is_module) {
			take_constant(m, &r);
			continue;
		}
		if (r.list[0] == MODULE_VERSION && r.n > 1)
			m->version = r.list[1];
		else if (r.list[0] == MODULE_GLOBALVAR)
			take_variable(m, &r);
		m->values += r.list[0] == MODULE_GLOBALVAR || r.list[0] == MODULE_FUNCTION ||
			     r.list[0] == MODULE_ALIAS || r.list[0] == MODULE_IFUNC;
	}
}

/* The bitcode begins at bytes, and ends somewhere before n. */
static bool module_keeps(struct module *m, const unsigned char *bytes, size_t n)
{
	struct bits *b = &m->bits;

	memset(m, 0, sizeof(*m));
	*b = (struct bits){bytes, 32, (uint64_t)n * 8, false};
	while (!b->bad) {
		uint64_t block, width, words;

		if (read_bits(b, 2) != ID_ENTER_SUBBLOCK)
			return true;
		block = read_vbr(b, 8);
		width = read_vbr(b, 4);
		align32(b);
		words = read_bits(b, 32);
		if (block == BLOCK_MODULE) {
			read_block(m, true, (unsigned)width);
			return b->bad || m->version < 2 || m->keeps || m->n_pending;
		}
		if (words > (b->end - b->at) / 32)
			return true;
		b->at += words * 32;
	}
	return true;
}

bool bitcode_may_keep(const unsigned char *bytes, size_t n)
{
	static const unsigned char magic[] = {'B', 'C', 0xC0, 0xDE};
	const unsigned char *at = bytes, *end = bytes + n;
	struct module *m = pool_get(sizeof(*m));
	bool keeps = false, any = false;

	while (m && !keeps && (at = memmem(at, (size_t)(end - at), magic, sizeof(magic)))) {
		keeps = module_keeps(m, at, (size_t)(end - at));
		any = true;
		at += sizeof(magic);
	}
	pool_put(m);
	return keeps || !any;
}
