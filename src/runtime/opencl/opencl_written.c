/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages of a directly reachable memory were written, without comparing all of it: pages are
 * write-protected through userfaultfd in the mode in which the kernel itself lifts the protection
 * (UFFD_FEATURE_WP_ASYNC) and remembers it, and PAGEMAP_SCAN lists them. Both came with Linux 6.7;
 * the numbers are from its include/uapi/linux. Works without privileges.
 *
 * A page costs about 1 us when it is first written and 0.2 us to compare, so it pays while few are
 * written: a memory of which more than a tenth was written is not tracked again.
 */
#include "runtime/opencl/opencl_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SMALLEST_TRACKED ((size_t)4 << 20)
#define PAGE             ((uintptr_t)4096)
#define HIGH_FD          700

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif

struct scan_region {
	uint64_t start, end, categories;
};
struct scan { /* struct pm_scan_arg */
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
_Static_assert(sizeof(struct scan) == 96, "Linux 6.7");
#define SCAN               _IOWR('f', 16, struct scan)
#define SCAN_WRITTEN       (UINT64_C(1) << 1)
#define SCAN_WP_MATCHING   UINT64_C(1)
#define SCAN_CHECK_WPASYNC UINT64_C(2)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int faults = -1, pagemap = -1;

static int move_high(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static void open_once(void)
{
	struct uffdio_api api = {.api = UFFD_API,
				 .features = UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED};
	struct scan probe = {.size = sizeof(probe)};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		return;
	if (ioctl(fd, UFFDIO_API, &api)) {
		close(fd);
		return;
	}
	pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (pagemap < 0 || ioctl(pagemap, SCAN, &probe) < 0) {
		if (pagemap >= 0)
			close(pagemap);
		pagemap = -1;
		close(fd);
		return;
	}
	pagemap = move_high(pagemap);
	faults = move_high(fd);
}

bool written_is_supported(void)
{
	pthread_once(&once, open_once);
	return faults >= 0;
}

int written_arm(void *begin, size_t bytes, struct error *err)
{
	uintptr_t from = (uintptr_t)begin / PAGE * PAGE;
	uintptr_t to = ((uintptr_t)begin + bytes + PAGE - 1) / PAGE * PAGE;
	struct uffdio_register range = {.range = {from, to - from},
					.mode = UFFDIO_REGISTER_MODE_WP};
	/* Protects what was written since the last time, or ever: of a memory that was armed
	 * before, the few pages that are not protected still. */
	struct scan s = {.size = sizeof(s),
			 .flags = SCAN_WP_MATCHING | SCAN_CHECK_WPASYNC,
			 .start = from,
			 .end = to,
			 .category_mask = SCAN_WRITTEN,
			 .return_mask = SCAN_WRITTEN};

	if (!written_is_supported())
		return error_set(err, RC_UNSUPPORTED,
				 "asynchronous write protection needs Linux 6.7");
	if (ioctl(faults, UFFDIO_REGISTER, &range) || ioctl(pagemap, SCAN, &s) < 0)
		return error_set_errno(err, RC_UNSUPPORTED, errno, "pages cannot be protected");
	return 0;
}

int written_read(void *begin, size_t bytes, uint64_t chunk, uint64_t *bitmap, size_t *pages_out,
		 struct error *err)
{
	uintptr_t base = (uintptr_t)begin;
	uintptr_t at = base / PAGE * PAGE, to = (base + bytes + PAGE - 1) / PAGE * PAGE;
	struct scan_region regions[256];

	*pages_out = 0;
	while (at < to) {
		struct scan s = {.size = sizeof(s),
				 .start = at,
				 .end = to,
				 .vec = (uintptr_t)regions,
				 .vec_len = sizeof(regions) / sizeof(*regions),
				 .category_mask = SCAN_WRITTEN,
				 .return_mask = SCAN_WRITTEN};
		int n = ioctl(pagemap, SCAN, &s);

		if (n < 0)
			return error_set_errno(err, RC_UNSUPPORTED, errno,
					       "written pages cannot be listed");
		for (int i = 0; i < n; i++) {
			uintptr_t first = regions[i].start > base ? regions[i].start - base : 0;
			uintptr_t last = regions[i].end - 1 - base;

			*pages_out += (regions[i].end - regions[i].start) / PAGE;
			last = last < bytes ? last : bytes - 1;
			for (uint64_t c = first / chunk; c <= last / chunk; c++)
				bitmap[c / 64] |= UINT64_C(1) << (c % 64);
		}
		if (s.walk_end <= at)
			break;
		at = s.walk_end;
	}
	return 0;
}

int written_track(void *device, const struct runtime_memory *about, struct error *err)
{
	struct memory *m = about->data;

	(void)device;
	/* The address becomes known when the memory is first compared. */
	if (!m->direct || m->dense || m->size < SMALLEST_TRACKED)
		return error_set(err, RC_UNSUPPORTED, "comparing is cheaper");
	return written_arm(m->direct, m->size, err);
}

int written_changed(void *device, const struct runtime_memory *about, uint64_t chunk,
		    uint64_t *bitmap, struct error *err)
{
	struct memory *m = about->data;
	size_t pages = 0;
	int rc;

	(void)device;
	if (!m->direct)
		return error_set(err, RC_UNSUPPORTED, "the memory is not tracked");
	rc = written_read(m->direct, m->size, chunk, bitmap, &pages, err);
	if (!rc && pages * PAGE > m->size / 10)
		m->dense = true;
	return rc;
}
