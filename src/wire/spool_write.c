/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool's writer. Appending is a copy into a mapped chunk; everything that can fail happens
 * when a chunk is made: space is really allocated before it is mapped, so that a store never meets
 * a full disk (that would be SIGBUS, in the middle of somebody else's program).
 */
#include "wire/spool.h"
#include "wire/spool_format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14, madvise(2) */
#endif

static int spool_fail(struct spool_writer *w, int code)
{
	w->failed = true;
	w->failure = code == RC_NO_SPACE ? RC_NO_SPACE : RC_IO;
	return code;
}

/* A program may close descriptors that it does not know, and then open a file of its own that gets
 * the same number. That file must never be grown or cut. */
static bool spool_owns_fd(const struct spool_writer *w)
{
	struct stat st;

	return w->fd >= 0 && !fstat(w->fd, &st) && (uint64_t)st.st_dev == w->device &&
	       (uint64_t)st.st_ino == w->inode;
}

static void spool_unmap(struct spool_writer *w)
{
	if (w->map)
		munmap(w->map, (size_t)w->mapped_size);
	w->map = NULL;
	w->mapped_at = w->mapped_size = 0;
}

/* For file systems without fallocate: written zeros are allocated space, too. Returns 0 or an
 * errno. */
static int spool_write_zeros(int fd, uint64_t at, uint64_t end)
{
	static const unsigned char zeros[16384];

	while (at < end) {
		uint64_t n = end - at < sizeof(zeros) ? end - at : sizeof(zeros);
		ssize_t done = pwrite(fd, zeros, (size_t)n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? errno : ENOSPC;
		at += (uint64_t)done;
	}
	return 0;
}

/* Makes the file `end` bytes long with every byte allocated. Returns 0 or an errno; the file has
 * its old length then. */
static int spool_allocate(struct spool_writer *w, uint64_t end)
{
	struct rlimit limit;
	int rc;

	/* Going over the limit would raise SIGXFSZ, whose default is to kill the program. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    end > limit.rlim_cur)
		return EFBIG;
	do
		rc = fallocate(w->fd, 0, (off_t)w->allocated, (off_t)(end - w->allocated)) ? errno
											   : 0;
	while (rc == EINTR);
	if (rc == EOPNOTSUPP || rc == ENOSYS || rc == EINVAL || rc == ENODEV)
		rc = spool_write_zeros(w->fd, w->allocated, end);
	if (rc && ftruncate(w->fd, (off_t)w->allocated)) {
		/* The space stays taken; nothing to be done about that, and no data is lost. */
	}
	return rc;
}

/* Allocates room for `need` more bytes: a whole chunk where there is space for it, else less, down
 * to what the record takes. */
static int spool_extend(struct spool_writer *w, uint64_t need, struct error *err)
{
	uint64_t least = w->offset + need, chunk = SPOOL_CHUNK_MIN, end;
	int rc = 0;

	while (chunk < w->allocated && chunk < SPOOL_CHUNK_MAX)
		chunk *= 2;
	for (; chunk >= 4096; chunk /= 2) {
		end = (least + chunk) & ~(uint64_t)4095;
		rc = spool_allocate(w, end);
		if (!rc) {
			w->allocated = end;
			return 0;
		}
		if (rc != ENOSPC && rc != EDQUOT && rc != EFBIG)
			break;
	}
	if (rc == ENOSPC || rc == EDQUOT || rc == EFBIG) {
		if (!spool_allocate(w, least)) {
			w->allocated = least;
			return 0;
		}
		return error_set_errno(err, RC_NO_SPACE, rc,
				       "spool file: no room for more than %llu bytes",
				       (unsigned long long)w->offset);
	}
	return error_set_errno(err, 0, rc, "spool file: cannot grow it");
}

/* Maps the file from the current offset to the end of what is allocated. */
static int spool_map(struct spool_writer *w, struct error *err)
{
	uint64_t at = w->offset - w->offset % SPOOL_MAP_ALIGN, size = w->allocated - at;
	void *map;
	int rc;

	map = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, (off_t)at);
	if (map == MAP_FAILED)
		return error_set_errno(err, errno == ENODEV ? RC_UNSUPPORTED : 0, errno,
				       "spool file: cannot map it for writing (another file system "
				       "may do it)");
	/* Meets now, as an error, what would be SIGBUS later. Older kernels: EINVAL, no matter. */
	if (madvise(map, (size_t)size, MADV_POPULATE_WRITE) && errno != EINVAL && errno != EAGAIN &&
	    errno != ENOSYS) {
		rc = error_set_errno(err, errno == EFAULT ? RC_NO_SPACE : 0, errno,
				     "spool file: its pages cannot be written");
		munmap(map, (size_t)size);
		return rc;
	}
	w->map = map;
	w->mapped_at = at;
	w->mapped_size = size;
	return 0;
}

static int spool_grow(struct spool_writer *w, uint64_t need, struct error *err)
{
	int rc = 0;

	if (!spool_owns_fd(w))
		return spool_fail(
			w, error_set(err, RC_IO, "spool file: the program closed its descriptor"));
	if (w->offset + need > w->allocated)
		rc = spool_extend(w, need, err);
	if (!rc) {
		spool_unmap(w);
		rc = spool_map(w, err);
	}
	return rc ? spool_fail(w, rc) : 0;
}

/* Out of the way of the program: it would otherwise see other numbers from open(2) than alone. */
static int spool_raise_fd(int fd)
{
	struct rlimit limit;
	int least = 960, high;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < 1024)
		least = limit.rlim_cur > 64 ? (int)limit.rlim_cur - 64 : 0;
	high = fcntl(fd, F_DUPFD_CLOEXEC, least);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static int spool_open_file(struct spool_writer *w, const char *path, struct error *err)
{
	struct stat st;
	int saved;

	w->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0666);
	if (w->fd < 0)
		return error_set_errno(err, 0, errno, "cannot create '%s'", path);
	w->fd = spool_raise_fd(w->fd);
	if (fstat(w->fd, &st)) {
		saved = errno;
		unlink(path);
		close(w->fd);
		w->fd = -1;
		return error_set_errno(err, 0, saved, "cannot inspect '%s'", path);
	}
	w->device = (uint64_t)st.st_dev;
	w->inode = (uint64_t)st.st_ino;
	return 0;
}

int spool_create(struct spool_writer *w, const char *path, const struct spool_header *header,
		 struct error *err)
{
	struct spool_header h = *header;
	uint64_t magic;
	int rc;

	*w = (struct spool_writer){.fd = -1};
	rc = spool_open_file(w, path, err);
	if (rc)
		return spool_fail(w, rc);
	rc = spool_grow(w, sizeof(h), err);
	if (rc) {
		error_prefix(err, "%s", path);
		unlink(path);
		spool_abandon(w);
		return rc;
	}
	memcpy(h.magic, SPOOL_MAGIC, sizeof(h.magic));
	h.version = SPOOL_VERSION;
	h.byte_order = SPOOL_BYTE_ORDER;
	h.collection[SPOOL_ID_SIZE - 1] = h.launch[SPOOL_ID_SIZE - 1] = '\0';
	h.plan_hash[SPOOL_ID_SIZE - 1] = h.host[SPOOL_HOST_SIZE - 1] = '\0';
	h.checksum = hash64(&h, offsetof(struct spool_header, checksum));
	memcpy(w->map + sizeof(h.magic), (const unsigned char *)&h + sizeof(h.magic),
	       sizeof(h) - sizeof(h.magic));
	/* The magic last: a header that has one is whole. */
	memcpy(&magic, h.magic, sizeof(magic));
	__atomic_store_n((uint64_t *)(void *)w->map, magic, __ATOMIC_RELEASE);
	w->offset = sizeof(h);
	return 0;
}

static int spool_append_raw(struct spool_writer *w, uint32_t type, const void *a, size_t na,
			    const void *b, size_t nb, struct error *err)
{
	struct spool_head *head;
	unsigned char *payload;
	uint32_t length;
	uint64_t need;
	int rc;

	if (w->failed || w->fd < 0)
		return error_set(err, w->failure ? w->failure : RC_IO,
				 "spool file: nothing is recorded after an earlier failure");
	if (na > SPOOL_RECORD_MAX || nb > SPOOL_RECORD_MAX - na)
		return error_set(err, RC_INVALID, "spool file: a record is longer than %u bytes",
				 SPOOL_RECORD_MAX);
	length = (uint32_t)(sizeof(*head) + na + nb);
	need = spool_round8(length);
	if (w->offset + need > w->mapped_at + w->mapped_size) {
		rc = spool_grow(w, need, err);
		if (rc)
			return rc;
	}
	head = (struct spool_head *)(void *)(w->map + (w->offset - w->mapped_at));
	payload = (unsigned char *)(head + 1);
	if (na)
		memcpy(payload, a, na);
	if (nb)
		memcpy(payload + na, b, nb);
	/* The padding is zero already: nobody has written here. */
	head->type = type;
	head->checksum = spool_checksum(w->offset, length, type, payload);
	__atomic_store_n(&head->length, length, __ATOMIC_RELEASE);
	w->offset += need;
	return 0;
}

int spool_append(struct spool_writer *w, enum spool_type type, const void *a, size_t na,
		 const void *b, size_t nb, struct error *err)
{
	return spool_append_raw(w, (uint32_t)type, a, na, b, nb, err);
}

int spool_close(struct spool_writer *w, struct error *err)
{
	int rc = 0;

	if (w->fd < 0)
		return 0;
	if (!spool_owns_fd(w)) {
		spool_unmap(w);
		w->fd = -1; /* somebody else's now */
		return error_set(err, RC_IO, "spool file: the program closed its descriptor");
	}
	if (!w->failed)
		spool_append_raw(w, SPOOL_TYPE_END, NULL, 0, NULL, 0, NULL);
	spool_unmap(w);
	if (ftruncate(w->fd, (off_t)w->offset))
		rc = error_set_errno(err, 0, errno, "spool file: cannot cut it to its length");
	if (close(w->fd) && !rc && errno != EINTR)
		rc = error_set_errno(err, 0, errno, "spool file: closing it");
	w->fd = -1;
	return rc;
}

void spool_abandon(struct spool_writer *w)
{
	spool_unmap(w);
	if (spool_owns_fd(w))
		close(w->fd);
	w->fd = -1;
}
