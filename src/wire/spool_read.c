/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool's reader. It trusts nothing: a length is believed only when it fits into the file and
 * the checksum agrees, and what the caller will cast was measured against the record's type before.
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
		return error_set(err, RC_CORRUPT,
				 "%s: no spool header; the process ended before it was written",
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

int spool_open_bytes(struct spool_reader *r, const char *name, const void *bytes, size_t size,
		     struct error *err)
{
	int rc;

	*r = (struct spool_reader){.name = name, .bytes = bytes, .size = size};
	rc = spool_check_header(r, err);
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

/* The copy was made front to back while the process may have gone on writing: a record can be
 * missing in it although a later one is there. That looks like damage; it is cut off instead when
 * the file has a length by now where the copy has none. */
static void spool_settle(struct spool_reader *r, int fd)
{
	size_t offset = sizeof(struct spool_header);
	struct spool_head head;
	uint32_t now;

	while (offset <= r->size && spool_fits(r, offset, &head))
		offset += (size_t)spool_round8(head.length);
	if (offset > r->size || r->size - offset < sizeof(head) || spool_head_at(r, offset).length)
		return;
	if (spool_read_at(fd, &now, sizeof(now), offset) == (ssize_t)sizeof(now) && now)
		r->size = offset;
}

static int spool_load(struct spool_reader *r, int fd, size_t size, struct error *err)
{
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t n;

	if (copy == MAP_FAILED)
		return error_set(err, RC_NO_MEMORY, "%s: no memory for %zu bytes", r->name, size);
	r->bytes = copy;
	r->mapped = true;
	r->mapped_size = size;
	n = spool_read_at(fd, copy, size, 0);
	if (n < 0)
		return error_set_errno(err, 0, errno, "cannot read '%s'", r->name);
	r->size = (size_t)n;
	return 0;
}

int spool_open(struct spool_reader *r, const char *path, struct error *err)
{
	struct stat st;
	int fd, rc;

	*r = (struct spool_reader){.name = path};
	/* O_NONBLOCK: a pipe of that name must not make us wait. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set_errno(err, 0, errno, "cannot open '%s'", path);
	if (fstat(fd, &st))
		rc = error_set_errno(err, 0, errno, "cannot inspect '%s'", path);
	else if (!S_ISREG(st.st_mode))
		rc = error_set(err, RC_INVALID, "'%s' is not a regular file", path);
	else if (st.st_size < (off_t)sizeof(struct spool_header))
		rc = spool_check_header(r, err); /* says what is missing */
	else
		rc = spool_load(r, fd, (size_t)st.st_size, err);
	if (!rc)
		rc = spool_check_header(r, err);
	if (!rc)
		spool_settle(r, fd);
	close(fd);
	if (rc)
		spool_close_reader(r);
	return rc;
}

/* Whether a payload of this size may be cast to what the type promises. */
static bool spool_is_shaped(const struct spool_record *record)
{
	struct spool_samples samples;

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
	default:
		return true; /* of a newer writer, for callers to skip */
	}
}

/* At a place that is no whole record: the end, a torn tail (0), or damage. */
static int spool_stop(struct spool_reader *r, const char *what, struct error *err)
{
	if (spool_goes_on(r, r->offset))
		return error_set(err, RC_CORRUPT,
				 "%s: damaged at offset %zu: %s, and records follow it", r->name,
				 r->offset, what);
	r->torn = true;
	return 0;
}

int spool_next(struct spool_reader *r, struct spool_record *record_out, struct error *err)
{
	size_t left = r->size - r->offset;
	struct spool_head head;

	if (r->closed || r->torn || !left)
		return 0;
	if (left < sizeof(head)) {
		r->torn = !spool_is_zero(r->bytes + r->offset, left);
		return 0;
	}
	head = spool_head_at(r, r->offset);
	if (!head.length) {
		if (spool_is_zero(r->bytes + r->offset, left))
			return 0;
		return spool_stop(r, "a record without a length", err);
	}
	if (!spool_fits(r, r->offset, &head))
		return spool_stop(r, "a record that is longer than the file", err);
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
	if (r->mapped)
		munmap((void *)(uintptr_t)r->bytes, r->mapped_size);
	r->bytes = NULL;
	r->size = r->offset = r->mapped_size = 0;
	r->mapped = false;
}
