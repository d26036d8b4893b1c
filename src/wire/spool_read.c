/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool's reader. A file is copied, so that nobody can change or cut it meanwhile, and its log
 * put together; then the records are walked. It trusts nothing: a length is believed only when it
 * fits into the file and the checksum agrees, and what the caller will cast was measured against
 * the record's type before.
 */
#include "wire/spool.h"
#include "wire/spool_format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* How much may be hashed in search of a whole record behind a damaged one. A real spool needs a
 * fraction of it; a made-up one would otherwise keep us busy for hours. */
#define SPOOL_SEARCH_BUDGET (64u << 20)
#define SPOOL_HUGE          (4u << 20)

static struct spool_head spool_head_at(const struct spool_reader *r, size_t offset)
{
	struct spool_head head;

	memcpy(&head, r->bytes + offset, sizeof(head));
	return head;
}

/* Is there a head at offset whose record lies within the file? */
static bool spool_fits(const struct spool_reader *r, size_t offset, struct spool_head *head_out)
{
	if (r->size - offset < sizeof(*head_out))
		return false;
	*head_out = spool_head_at(r, offset);
	return head_out->length >= sizeof(*head_out) && head_out->length <= SPOOL_LENGTH_MAX &&
	       spool_round8(head_out->length) <= r->size - offset;
}

static bool spool_is_whole(const struct spool_reader *r, size_t offset,
			   const struct spool_head *head)
{
	return spool_checksum(offset, head->length, head->type,
			      r->bytes + offset + sizeof(*head)) == head->checksum;
}

static bool spool_is_zero(const unsigned char *bytes, size_t n)
{
	for (; n >= 8; n -= 8, bytes += 8) {
		uint64_t word;

		memcpy(&word, bytes, sizeof(word));
		if (word)
			return false;
	}
	for (; n; n--)
		if (*bytes++)
			return false;
	return true;
}

/* Whether a whole record stands anywhere after offset. Then what is at offset was not just the last
 * thing a dying process did. */
static bool spool_goes_on(const struct spool_reader *r, size_t offset)
{
	size_t budget = SPOOL_SEARCH_BUDGET;
	struct spool_head head;

	for (offset += 8; r->size >= sizeof(head) && offset <= r->size - sizeof(head);
	     offset += 8) {
		if (!spool_fits(r, offset, &head))
			continue;
		if (head.length > budget)
			return true; /* no process of ours leaves such a heap behind */
		budget -= head.length;
		if (spool_is_whole(r, offset, &head))
			return true;
	}
	return false;
}

static int spool_check_header(struct spool_reader *r, struct error *err)
{
	const struct spool_header *h = &r->header;

	if ((uintptr_t)r->bytes % 8)
		return error_set(err, RC_INVALID, "%s: the bytes are not 8-byte aligned", r->name);
	if (r->size < sizeof(*h) || spool_is_zero(r->bytes, sizeof(h->magic)))
		return error_set(
			err, RC_CORRUPT,
			"%s: no spool header; the process ended before it was written, or the "
			"file was emptied",
			r->name);
	memcpy(&r->header, r->bytes, sizeof(r->header));
	if (memcmp(h->magic, SPOOL_MAGIC, sizeof(h->magic)))
		return error_set(err, RC_CORRUPT, "%s: not a spool file", r->name);
	if (h->byte_order != SPOOL_BYTE_ORDER)
		return error_set(err, RC_MISMATCH,
				 h->byte_order == __builtin_bswap32(SPOOL_BYTE_ORDER)
					 ? "%s: written on a machine of the other byte order"
					 : "%s: the byte order mark of the header is damaged",
				 r->name);
	if (h->version != SPOOL_VERSION)
		return error_set(err, RC_MISMATCH, "%s: spool version %u, this retally reads %d",
				 r->name, h->version, SPOOL_VERSION);
	if (h->checksum != hash64(h, offsetof(struct spool_header, checksum)))
		return error_set(err, RC_CORRUPT, "%s: the spool header is damaged", r->name);
	if (h->collection[SPOOL_ID_SIZE - 1] || h->launch[SPOOL_ID_SIZE - 1] ||
	    h->plan_hash[SPOOL_ID_SIZE - 1] || h->host[SPOOL_HOST_SIZE - 1])
		return error_set(err, RC_CORRUPT, "%s: an id in the spool header has no end",
				 r->name);
	r->offset = sizeof(*h);
	return 0;
}

/* ---- from the file's layout (spool_format.h) to one log ---- */

/* The window in use: the one with the larger word. False when no word can be right. *is_sure_out:
 * the other word is right, too, or not in use. */
static bool spool_find_window(const uint64_t words[2], unsigned *window_out, uint64_t *base_out,
			      bool *is_sure_out)
{
	bool is_found = false;

	*is_sure_out = true;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t base = words[i] >> 16;

		if (!words[i])
			continue;
		if (words[i] != spool_word(base) || base < SPOOL_LOG_START || base % 8) {
			*is_sure_out = false;
		} else if (!is_found || base > *base_out) {
			is_found = true;
			*window_out = i;
			*base_out = base;
		}
	}
	return is_found;
}

/* raw: the file's bytes, r->size of them and room for a window more. Puts header, log and window in
 * use next to each other and points r at them: the log stays where it is. */
static void spool_assemble(struct spool_reader *r, unsigned char *raw)
{
	unsigned char window[SPOOL_WINDOW_SIZE];
	size_t have = r->size, log, n;
	unsigned in_use = 0;
	uint64_t words[2], base = 0;
	bool is_sure;

	r->bytes = raw;
	if (have <= SPOOL_WORDS_AT)
		return; /* closed, and all of it in window 0 */
	memset(words, 0, sizeof(words));
	memcpy(words, raw + SPOOL_WORDS_AT,
	       have - SPOOL_WORDS_AT < sizeof(words) ? have - SPOOL_WORDS_AT : sizeof(words));
	log = have > SPOOL_LOG_AT ? have - SPOOL_LOG_AT : 0;
	if (!words[0] && !words[1] && !log) {
		base = SPOOL_LOG_START; /* closed in window 0, and just made longer to go on in it
					 */
		is_sure = true;
	} else if (!spool_find_window(words, &in_use, &base, &is_sure)) {
		base = SPOOL_LOG_START + (uint64_t)log + 8; /* more than there is */
		is_sure = false;
	}
	r->cut = !is_sure;
	n = have > spool_window_at(in_use) ? have - spool_window_at(in_use) : 0;
	if (n > spool_window_capacity(in_use))
		n = spool_window_capacity(in_use);
	memcpy(window, raw + spool_window_at(in_use), n);
	if (base - SPOOL_LOG_START > log) {
		r->cut = true; /* the file lost its end, and what is in the window does not join */
		n = 0;
	} else {
		log = (size_t)(base - SPOOL_LOG_START);
	}
	r->bytes = memmove(raw + SPOOL_LOG_AT - SPOOL_LOG_START, raw, SPOOL_LOG_START);
	memcpy(raw + SPOOL_LOG_AT + log, window, n);
	r->size = (size_t)SPOOL_LOG_START + log + n;
}

/* Memory for a file of this size and what spool_assemble needs; r->map is set. What was there
 * before may still be in it. */
static unsigned char *spool_room(struct spool_reader *r, size_t size, struct error *err)
{
	size_t room = (size > SPOOL_LOG_AT ? size : SPOOL_LOG_AT) + SPOOL_WINDOW_SIZE;
	struct spool_memory *lent = r->memory;
	void *map;

	if (lent && lent->size >= room) {
		r->map = lent->map;
		r->mapped_size = lent->size;
		*lent = (struct spool_memory){0};
		r->mapped = true;
		return r->map;
	}
	map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED) {
		error_set(err, RC_NO_MEMORY, "%s: no memory for %zu bytes", r->name, size);
		return NULL;
	}
	/* In virtual machines the faults of small pages cost more than reading the file. */
	if (room >= SPOOL_HUGE)
		madvise(map, room, MADV_HUGEPAGE);
	r->mapped = true;
	r->mapped_size = room;
	return r->map = map;
}

int spool_open_bytes(struct spool_reader *r, const char *name, const void *bytes, size_t size,
		     struct error *err)
{
	unsigned char *raw;
	int rc;

	*r = (struct spool_reader){.name = name, .bytes = bytes, .size = size};
	rc = spool_check_header(r, err);
	if (!rc && size > SPOOL_WORDS_AT) {
		raw = spool_room(r, size, err);
		if (raw)
			spool_assemble(r, memcpy(raw, bytes, size));
		else
			rc = RC_NO_MEMORY;
	}
	if (rc)
		spool_close_reader(r);
	return rc;
}

/* Fills bytes from the file; returns how many there were, or -1 with errno. */
static ssize_t spool_read_at(int fd, void *bytes, size_t size, size_t offset)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = pread(fd, (char *)bytes + n, size - n, (off_t)(offset + n));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

static void spool_read_words(int fd, uint64_t words[2])
{
	memset(words, 0, 2 * sizeof(*words));
	/* Too short a file: no words, as in a small closed one. */
	if (spool_read_at(fd, words, 2 * sizeof(*words), SPOOL_WORDS_AT) < 0)
		memset(words, 0, 2 * sizeof(*words));
}

/* What was found out about a window that may be written to at the same time. */
struct spool_moment {
	uint64_t words[2];
	unsigned window;
	size_t limit; /* bytes of the window whose records had been published */
	bool is_open; /* the next record had not been: its length was 0 */
};

/* How far the records in the window of raw go, by their lengths. */
static void spool_find_limit(struct spool_moment *m, const unsigned char *raw)
{
	const unsigned char *window;
	size_t capacity, at = 0;
	uint64_t base;
	bool is_sure;
	uint32_t length = 0;

	m->window = 0;
	m->limit = 0;
	m->is_open = false;
	if (!spool_find_window(m->words, &m->window, &base, &is_sure))
		return;
	window = raw + spool_window_at(m->window);
	capacity = spool_window_capacity(m->window);
	while (capacity - at >= sizeof(struct spool_head)) {
		memcpy(&length, window + at, sizeof(length));
		if (length < sizeof(struct spool_head) || spool_round8(length) > capacity - at)
			break;
		at += (size_t)spool_round8(length);
	}
	m->limit = at;
	m->is_open = capacity - at >= sizeof(length) && !length;
}

/* Copies header and windows at a moment when they do not turn. The process may go on writing
 * meanwhile, and a copy shows what it wrote in any order: so the first copy only tells which
 * records are published, and the second, made after it, has them whole. */
static int spool_load_front(struct spool_reader *r, int fd, unsigned char *raw, size_t size,
			    struct spool_moment *m, struct error *err)
{
	uint64_t after[2];
	ssize_t n;

	if (size > SPOOL_LOG_AT)
		size = SPOOL_LOG_AT;
	for (int tries = 0; tries < 100; tries++) {
		spool_read_words(fd, m->words);
		n = spool_read_at(fd, raw, size, 0);
		if (n >= 0) {
			/* Of the file that was in this memory before. */
			memset(raw + n, 0, SPOOL_LOG_AT - (size_t)n);
			spool_find_limit(m, raw);
			n = spool_read_at(fd, raw, size, 0);
		}
		if (n < 0)
			return error_set_errno(err, 0, errno, "cannot read '%s'", r->name);
		r->size = (size_t)n;
		spool_read_words(fd, after);
		if (!memcmp(m->words, after, sizeof(after)))
			return 0;
	}
	/* A writer faster than we are: what is before its window will do. */
	memset(raw + SPOOL_LOG_START, 0, SPOOL_LOG_AT - SPOOL_LOG_START);
	memcpy(raw + SPOOL_WORDS_AT, after, sizeof(after));
	memcpy(m->words, after, sizeof(after));
	spool_find_limit(m, raw);
	return 0;
}

/* What the second copy has behind the published records may be in any state, if somebody is
 * writing: then it is cut off. Otherwise it stays, to be told as torn or damaged. */
static void spool_settle(struct spool_reader *r, int fd, const struct spool_moment *m)
{
	unsigned window;
	uint64_t base, words[2];
	uint32_t now = 0;
	bool is_sure;

	if (!m->is_open || !spool_find_window(m->words, &window, &base, &is_sure) ||
	    base + m->limit > r->size)
		return;
	if (spool_read_at(fd, &now, sizeof(now), spool_window_at(m->window) + m->limit) < 0)
		return;
	spool_read_words(fd, words);
	if (now || memcmp(words, m->words, sizeof(words)))
		r->size = (size_t)base + m->limit;
}

/* Copies the file, and where it is in several pieces, joins them. */
static int spool_load(struct spool_reader *r, int fd, size_t size, struct error *err)
{
	unsigned char *raw = spool_room(r, size, err);
	struct spool_moment moment;
	struct stat st;
	ssize_t log;
	int rc;

	if (!raw)
		return RC_NO_MEMORY;
	rc = spool_load_front(r, fd, raw, size, &moment, err);
	r->bytes = raw;
	if (!rc)
		rc = spool_check_header(r, err);
	if (rc || r->size <= SPOOL_WORDS_AT)
		return rc;
	/* The log before the window does not change any more, but may be longer than at first. */
	if (!fstat(fd, &st) && (size_t)st.st_size > size) {
		void *map = mremap(r->map, r->mapped_size, (size_t)st.st_size + SPOOL_WINDOW_SIZE,
				   MREMAP_MAYMOVE);

		if (map == MAP_FAILED)
			return error_set(err, RC_NO_MEMORY, "%s: no memory for %lld bytes", r->name,
					 (long long)st.st_size);
		r->map = raw = map;
		size = (size_t)st.st_size;
		r->mapped_size = size + SPOOL_WINDOW_SIZE;
	}
	if (r->size == SPOOL_LOG_AT && size > SPOOL_LOG_AT) {
		log = spool_read_at(fd, raw + SPOOL_LOG_AT, size - SPOOL_LOG_AT, SPOOL_LOG_AT);
		if (log < 0)
			return error_set_errno(err, 0, errno, "cannot read '%s'", r->name);
		r->size += (size_t)log;
	}
	spool_assemble(r, raw);
	spool_settle(r, fd, &moment);
	return 0;
}

int spool_open(struct spool_reader *r, const char *path, struct error *err)
{
	return spool_open_with(r, path, NULL, err);
}

int spool_open_with(struct spool_reader *r, const char *path, struct spool_memory *memory,
		    struct error *err)
{
	int fd, rc;

	*r = (struct spool_reader){.name = path, .memory = memory};
	/* O_NONBLOCK: a pipe of that name must not make us wait. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set_errno(err, 0, errno, "cannot open '%s'", path);
	rc = spool_open_fd(r, fd, path, memory, err);
	close(fd);
	return rc;
}

int spool_open_fd(struct spool_reader *r, int fd, const char *name, struct spool_memory *memory,
		  struct error *err)
{
	struct stat st;
	int rc;

	*r = (struct spool_reader){.name = name, .memory = memory};
	if (fstat(fd, &st))
		rc = error_set_errno(err, 0, errno, "cannot inspect '%s'", name);
	else if (!S_ISREG(st.st_mode))
		rc = error_set(err, RC_INVALID, "'%s' is not a regular file", name);
	else
		rc = spool_load(r, fd, (size_t)st.st_size, err);
	if (rc)
		spool_close_reader(r);
	return rc;
}

int spool_read_header(int fd, const char *name, struct spool_header *header_out, struct error *err)
{
	union {
		struct spool_header header;
		unsigned char bytes[sizeof(struct spool_header)];
	} front;
	struct spool_reader r = {.name = name, .bytes = front.bytes};
	ssize_t n = spool_read_at(fd, front.bytes, sizeof(front.bytes), 0);
	int rc;

	if (n < 0)
		return error_set_errno(err, 0, errno, "%s: cannot be read", name);
	r.size = (size_t)n;
	rc = spool_check_header(&r, err);
	if (!rc)
		*header_out = r.header;
	return rc;
}

/* Whether a payload of this size may be cast to what the type promises. */
static bool spool_is_shaped(const struct spool_record *record)
{
	struct spool_samples samples;
	struct spool_carry carry;

	switch (record->type) {
	case SPOOL_PASS_BEGIN:
		return record->size >= sizeof(struct spool_pass_begin);
	case SPOOL_PASS_END:
		return record->size >= sizeof(struct spool_pass_end);
	case SPOOL_KERNEL:
		return record->size >= sizeof(struct spool_kernel);
	case SPOOL_DISPATCH:
		return record->size >= sizeof(struct spool_dispatch);
	case SPOOL_SAMPLES:
		if (record->size < sizeof(samples))
			return false;
		memcpy(&samples, record->payload, sizeof(samples));
		return (record->size - sizeof(samples)) / sizeof(struct spool_sample) >= samples.n;
	case SPOOL_NOTE:
		return record->size >= sizeof(struct spool_note);
	case SPOOL_CARRY:
		if (record->size < sizeof(carry))
			return false;
		memcpy(&carry, record->payload, sizeof(carry));
		return (record->size - sizeof(carry)) / sizeof(struct spool_sample) >= carry.n;
	case SPOOL_WINDOW:
		return record->size >= sizeof(struct spool_window);
	case SPOOL_DECLINE:
		return record->size >= sizeof(struct spool_decline);
	case SPOOL_LEFT:
		return record->size >= sizeof(struct spool_left);
	default:
		return true; /* of a newer writer, for callers to skip */
	}
}

/* At a place that is no whole record: a torn tail (0), or damage. */
static int spool_stop(struct spool_reader *r, const char *what, struct error *err)
{
	if (r->cut || spool_goes_on(r, r->offset))
		return error_set(
			err, RC_CORRUPT, "%s: damaged at offset %zu: %s", r->name, r->offset,
			r->cut ? "the rest of the log is missing or its windows are damaged"
			       : what);
	r->torn = true;
	return 0;
}

int spool_next(struct spool_reader *r, struct spool_record *record_out, struct error *err)
{
	size_t left = r->size - r->offset;
	struct spool_head head;

	if (r->closed || r->torn)
		return 0;
	if (!left)
		return r->cut ? spool_stop(r, "", err) : 0;
	if (left < sizeof(head)) {
		if (r->cut || !spool_is_zero(r->bytes + r->offset, left))
			return spool_stop(r, "a piece of a record", err);
		return 0;
	}
	head = spool_head_at(r, r->offset);
	if (!head.length) {
		if (!r->cut && spool_is_zero(r->bytes + r->offset, left))
			return 0;
		return spool_stop(r, "a record without a length, and records follow", err);
	}
	if (!spool_fits(r, r->offset, &head))
		return spool_stop(r, "a record that is longer than the file, and records follow",
				  err);
	/* The length was published after everything else, so dying cannot explain this. */
	if (!spool_is_whole(r, r->offset, &head))
		return error_set(err, RC_CORRUPT,
				 "%s: damaged at offset %zu: the checksum of a record is wrong",
				 r->name, r->offset);
	*record_out = (struct spool_record){
		.type = head.type,
		.size = head.length - (uint32_t)sizeof(head),
		.payload = r->bytes + r->offset + sizeof(head),
		.offset = r->offset,
	};
	if (head.type == SPOOL_TYPE_END) {
		if (spool_round8(head.length) != left &&
		    !spool_is_zero(r->bytes + r->offset + spool_round8(head.length),
				   left - (size_t)spool_round8(head.length)))
			return error_set(err, RC_CORRUPT,
					 "%s: damaged at offset %zu: something follows the end",
					 r->name, r->offset);
		r->closed = true;
		return 0;
	}
	if (!spool_is_shaped(record_out))
		return error_set(
			err, RC_CORRUPT,
			"%s: damaged at offset %zu: %u bytes are too few for a record of type %u",
			r->name, r->offset, record_out->size, record_out->type);
	r->offset += (size_t)spool_round8(head.length);
	return 1;
}

void spool_close_reader(struct spool_reader *r)
{
	if (r->mapped && r->memory) {
		spool_memory_release(r->memory);
		*r->memory = (struct spool_memory){r->map, r->mapped_size};
	} else if (r->mapped) {
		munmap(r->map, r->mapped_size);
	}
	r->map = NULL;
	r->bytes = NULL;
	r->size = r->offset = r->mapped_size = 0;
	r->mapped = false;
}

void spool_memory_release(struct spool_memory *m)
{
	if (m->map)
		munmap(m->map, m->size);
	*m = (struct spool_memory){0};
}
