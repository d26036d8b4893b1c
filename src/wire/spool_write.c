/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool's writer. Appending is a copy into a window that was allocated and mapped when the file
 * was made; growing is a write(2), which can fail but never raises SIGBUS in the middle of somebody
 * else's program.
 */
#include "wire/spool.h"
#include "wire/spool_format.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* Whether the windows are all there. Cutting a file takes its end away first, so their last word
 * tells. A futex operation that wakes nobody and waits for nothing reads it: the kernel answers
 * EFAULT where a load would be SIGBUS, and no descriptor is needed, which the program may have
 * closed. */
static bool spool_is_cut(const struct spool_writer *w)
{
	const unsigned char *last;
	int before = errno;
	bool is_cut;

	if (!w->map)
		return false;
	last = w->map + SPOOL_LOG_AT - sizeof(uint32_t);
	is_cut = syscall(SYS_futex, last, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0L, last, 0) < 0 &&
		 errno == EFAULT;
	errno = before;
	return is_cut;
}

static int spool_say_cut(struct spool_writer *w, struct error *err)
{
	return spool_fail(w, error_set(err, RC_IO, "spool file: somebody cut it short"));
}

static void spool_unmap(struct spool_writer *w)
{
	if (w->map)
		munmap(w->map, SPOOL_LOG_AT);
	w->map = w->at = w->end = NULL;
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

/* Whether the file may get that long: going over the limit raises SIGXFSZ, which kills by default.
 */
static bool spool_is_within_limit(uint64_t end)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	       end <= limit.rlim_cur;
}

static int spool_io_error(uint64_t offset, int errno_value, struct error *err)
{
	bool is_full = errno_value == ENOSPC || errno_value == EDQUOT || errno_value == EFBIG;

	return error_set_errno(err, is_full ? RC_NO_SPACE : RC_IO, errno_value,
			       is_full ? "spool file: no room for more than %llu bytes"
				       : "spool file: cannot be written after %llu bytes",
			       (unsigned long long)offset);
}

/* Allocates both windows in a file of `size` bytes. */
static int spool_allocate(struct spool_writer *w, uint64_t size, struct error *err)
{
	int rc;

	if (!spool_is_within_limit(SPOOL_LOG_AT))
		return spool_io_error(0, EFBIG, err);
	do
		rc = fallocate(w->fd, 0, 0, SPOOL_LOG_AT) ? errno : 0;
	while (rc == EINTR);
	if (rc == EOPNOTSUPP || rc == ENOSYS || rc == EINVAL || rc == ENODEV)
		rc = spool_write_zeros(w->fd, size, SPOOL_LOG_AT);
	return rc ? spool_io_error(0, rc, err) : 0;
}

/* Writes the next n bytes of the log, those at log offset w->base. */
static int spool_write_log(struct spool_writer *w, const unsigned char *bytes, size_t n,
			   struct error *err)
{
	uint64_t start = SPOOL_LOG_AT + w->base - SPOOL_LOG_START, at = start;
	int failed = 0;

	if (!spool_owns_fd(w))
		return error_set(err, RC_IO, "spool file: the program closed its descriptor");
	if (!spool_is_within_limit(at + n))
		return spool_io_error(w->offset, EFBIG, err);
	while (n && !failed) {
		ssize_t done = pwrite(w->fd, bytes, n, (off_t)at);

		if (done > 0) {
			bytes += done;
			at += (uint64_t)done;
			n -= (size_t)done;
		} else if (!done || errno != EINTR) {
			failed = done ? errno : ENOSPC;
		}
	}
	if (!failed)
		return 0;
	if (at > start && ftruncate(w->fd, (off_t)start)) {
		/* Half a window stays behind the log; the reader knows where the log ends. */
	}
	return spool_io_error(w->offset, failed, err);
}

/* Goes on in the other window, which becomes the one in use by the store of its word. */
static void spool_switch(struct spool_writer *w, uint64_t base)
{
	uint64_t *words = (uint64_t *)(void *)(w->map + SPOOL_WORDS_AT);
	unsigned next = !w->window;

	__atomic_store_n(&words[next], 0, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* not zeroed before it is out of use */
	memset(w->map + spool_window_at(next), 0, spool_window_capacity(next));
	__atomic_store_n(&words[next], spool_word(base), __ATOMIC_RELEASE);
	w->window = next;
	w->base = base;
	w->at = w->map + spool_window_at(next);
	w->end = w->at + spool_window_capacity(next);
}

/* Writes the window in use away and starts the other one. */
static int spool_turn(struct spool_writer *w, struct error *err)
{
	const unsigned char *start = w->map + spool_window_at(w->window);
	size_t n = (size_t)(w->at - start);
	int rc = n ? spool_write_log(w, start, n, err) : 0;

	if (n && spool_is_cut(w))
		return spool_say_cut(w, err);
	if (rc)
		return spool_fail(w, rc);
	if (n)
		spool_switch(w, w->base + n);
	return 0;
}

/* Maps the windows and makes sure that a store into them cannot fail any more. */
static int spool_map(struct spool_writer *w, struct error *err)
{
	void *map = mmap(NULL, SPOOL_LOG_AT, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	int rc;

	if (map == MAP_FAILED)
		return error_set_errno(err, errno == ENODEV ? RC_UNSUPPORTED : 0, errno,
				       "spool file: cannot map it for writing (another file system "
				       "may do it)");
	/* Meets now, as an error, what would be SIGBUS later. Older kernels: EINVAL, no matter. */
	if (madvise(map, SPOOL_LOG_AT, MADV_POPULATE_WRITE) && errno != EINVAL && errno != EAGAIN &&
	    errno != ENOSYS) {
		rc = error_set_errno(err, errno == EFAULT ? RC_NO_SPACE : 0, errno,
				     "spool file: its pages cannot be written");
		munmap(map, SPOOL_LOG_AT);
		return rc;
	}
	w->map = map;
	return 0;
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

/* Copy-on-write file systems would look for new space whenever a window is written again, and raise
 * SIGBUS when there is none. btrfs lets an empty file opt out; others do not know the flag. */
static void spool_refuse_copies(int fd)
{
	int flags = 0;

	if (!ioctl(fd, FS_IOC_GETFLAGS, &flags) && !(flags & FS_NOCOW_FL)) {
		flags |= FS_NOCOW_FL;
		ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
}

static int spool_open_file(struct spool_writer *w, const char *path, struct error *err)
{
	struct stat st;
	int rc;

	w->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0666);
	if (w->fd < 0)
		return error_set_errno(err, 0, errno, "cannot create '%s'", path);
	w->fd = spool_raise_fd(w->fd);
	spool_refuse_copies(w->fd);
	rc = fstat(w->fd, &st) ? error_set_errno(err, 0, errno, "cannot inspect the file") : 0;
	if (!rc) {
		w->device = (uint64_t)st.st_dev;
		w->inode = (uint64_t)st.st_ino;
		rc = spool_allocate(w, 0, err);
	}
	if (!rc)
		rc = spool_map(w, err);
	if (rc) {
		error_prefix(err, "%s", path);
		unlink(path);
		close(w->fd);
		w->fd = -1;
	}
	return rc;
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
	memcpy(h.magic, SPOOL_MAGIC, sizeof(h.magic));
	h.version = SPOOL_VERSION;
	h.byte_order = SPOOL_BYTE_ORDER;
	h.collection[SPOOL_ID_SIZE - 1] = h.launch[SPOOL_ID_SIZE - 1] = '\0';
	h.plan_hash[SPOOL_ID_SIZE - 1] = h.host[SPOOL_HOST_SIZE - 1] = '\0';
	h.checksum = hash64(&h, offsetof(struct spool_header, checksum));
	memcpy(w->map + sizeof(h.magic), (const unsigned char *)&h + sizeof(h.magic),
	       sizeof(h) - sizeof(h.magic));
	*(uint64_t *)(void *)(w->map + SPOOL_WORDS_AT) = spool_word(SPOOL_LOG_START);
	w->base = SPOOL_LOG_START;
	w->at = w->map + spool_window_at(0);
	w->end = w->at + spool_window_capacity(0);
	/* The magic last: a header that has one is whole. */
	memcpy(&magic, h.magic, sizeof(magic));
	__atomic_store_n((uint64_t *)(void *)w->map, magic, __ATOMIC_RELEASE);
	w->offset = sizeof(h);
	return 0;
}

/* Finds the end of the whole records, checking them all. */
static int spool_scan(const char *path, const char *launch, spool_take *take, void *context,
		      uint64_t *end_out, struct error *err)
{
	struct spool_record record;
	struct spool_reader r;
	int rc = spool_open(&r, path, err);

	if (rc)
		return rc;
	if (launch && strncmp(r.header.launch, launch, SPOOL_ID_SIZE)) {
		rc = error_set(err, RC_MISMATCH, "'%s' is of launch %s, not %s", path,
			       r.header.launch, launch);
		goto out;
	}
	while ((rc = spool_next(&r, &record, err)) > 0) {
		rc = take ? take(context, &record, err) : 0;
		if (rc)
			goto out;
	}
	*end_out = r.offset;
out:
	spool_close_reader(&r);
	return rc;
}

/* Puts the writer behind the log's end, in the window that was in use. A file that was closed with
 * all of its log in window 0 was cut to it, so that it has no words. */
static int spool_take_place(struct spool_writer *w, uint64_t end, struct error *err)
{
	uint64_t *words = (uint64_t *)(void *)(w->map + SPOOL_WORDS_AT);

	if (!words[0] && !words[1])
		words[0] = spool_word(SPOOL_LOG_START);
	w->base = 0;
	for (unsigned i = 0; i < 2; i++)
		if (words[i] == spool_word(words[i] >> 16) && words[i] >> 16 > w->base) {
			w->window = i;
			w->base = words[i] >> 16;
		}
	if (end < w->base || end - w->base > spool_window_capacity(w->window))
		return error_set(err, RC_CORRUPT, "its log ends outside the window in use");
	w->at = w->map + spool_window_at(w->window) + (end - w->base);
	w->end = w->map + spool_window_at(w->window) + spool_window_capacity(w->window);
	w->offset = end;
	/* A torn record, or the one that says "nothing follows". */
	memset(w->at, 0, (size_t)(w->end - w->at));
	return 0;
}

int spool_resume(struct spool_writer *w, const char *path, const char *launch, spool_take *take,
		 void *context, struct error *err)
{
	uint64_t end = 0;
	struct stat st;
	int rc;

	*w = (struct spool_writer){.fd = -1, .failed = true, .failure = RC_IO};
	rc = spool_scan(path, launch, take, context, &end, err);
	if (rc)
		return rc;
	w->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	if (w->fd < 0)
		return error_set_errno(err, 0, errno, "cannot go on writing '%s'", path);
	w->fd = spool_raise_fd(w->fd);
	rc = fstat(w->fd, &st) ? error_set_errno(err, 0, errno, "cannot inspect the file") : 0;
	if (!rc) {
		w->device = (uint64_t)st.st_dev;
		w->inode = (uint64_t)st.st_ino;
		rc = spool_allocate(w, (uint64_t)st.st_size, err);
	}
	if (!rc)
		rc = spool_map(w, err);
	if (!rc)
		rc = spool_take_place(w, end, err);
	if (rc) {
		error_prefix(err, "%s", path);
		spool_abandon(w);
		return rc;
	}
	w->failed = false;
	w->failure = 0;
	return 0;
}

/* A record that fits into no window goes into the log at once. */
static int spool_append_large(struct spool_writer *w, struct spool_head head, const void *a,
			      size_t na, const void *b, size_t nb, struct error *err)
{
	size_t n = (size_t)spool_round8(head.length);
	unsigned char *copy;
	int rc = spool_turn(w, err);

	if (rc)
		return rc;
	copy = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return spool_fail(w,
				  error_set(err, RC_NO_MEMORY,
					    "spool file: no memory for a record of %zu bytes", n));
	if (na)
		memcpy(copy + sizeof(head), a, na);
	if (nb)
		memcpy(copy + sizeof(head) + na, b, nb);
	head.checksum = spool_checksum(w->offset, head.length, head.type, copy + sizeof(head));
	memcpy(copy, &head, sizeof(head));
	rc = spool_write_log(w, copy, n, err);
	munmap(copy, n);
	if (spool_is_cut(w))
		return spool_say_cut(w, err);
	if (rc)
		return spool_fail(w, rc);
	w->offset += n;
	spool_switch(w, w->offset);
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
	if (need > (uint64_t)(w->end - w->at)) {
		if (need > spool_window_capacity(0)) /* the smaller one */
			return spool_append_large(
				w, (struct spool_head){.length = length, .type = type}, a, na, b,
				nb, err);
		rc = spool_turn(w, err);
		if (rc)
			return rc;
	}
	head = (struct spool_head *)(void *)w->at;
	payload = (unsigned char *)(head + 1);
	if (na)
		memcpy(payload, a, na);
	if (nb)
		memcpy(payload + na, b, nb);
	/* The padding is zero already: nobody has written here. */
	head->type = type;
	head->checksum = spool_checksum(w->offset, length, type, payload);
	__atomic_store_n(&head->length, length, __ATOMIC_RELEASE);
	w->at += need;
	w->offset += need;
	return 0;
}

int spool_append(struct spool_writer *w, enum spool_type type, const void *a, size_t na,
		 const void *b, size_t nb, struct error *err)
{
	return spool_append_raw(w, (uint32_t)type, a, na, b, nb, err);
}

int spool_look(struct spool_writer *w, struct error *err)
{
	return !w->failed && spool_is_cut(w) ? spool_say_cut(w, err) : 0;
}

int spool_append_checked(struct spool_writer *w, enum spool_type type, const void *a, size_t na,
			 const void *b, size_t nb, struct error *err)
{
	int rc = spool_look(w, err);

	return rc ? rc : spool_append(w, type, a, na, b, nb, err);
}

int spool_close(struct spool_writer *w, struct error *err)
{
	bool is_cut = spool_is_cut(w);
	int rc = 0;

	if (w->fd < 0)
		return 0;
	if (!spool_owns_fd(w)) {
		spool_unmap(w);
		w->fd = -1; /* somebody else's now */
		return error_set(err, RC_IO, "spool file: the program closed its descriptor");
	}
	if (!w->failed && is_cut)
		rc = spool_say_cut(w, err);
	else if (!w->failed)
		spool_append_raw(w, SPOOL_TYPE_END, NULL, 0, NULL, 0, NULL);
	spool_unmap(w);
	/* What is in window 1 or behind the windows needs the windows where they are. */
	if (!is_cut && w->base == SPOOL_LOG_START && ftruncate(w->fd, (off_t)w->offset))
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
