/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping and comparing what the passes print. */
#include "launch/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool output_is_regular(const struct output_stream *s, struct stat *st)
{
	return s->fd >= 0 && !fstat(s->fd, st) && S_ISREG(st->st_mode);
}

void output_init(struct output *o, const bool closed[3])
{
	struct stat st[2];
	bool regular[2];

	memset(o, 0, sizeof(*o));
	o->folder = -1;
	for (int i = 0; i < 2; i++) {
		struct output_stream *s = &o->streams[i];
		char path[40];
		int flags;

		s->name = i ? "stderr" : "stdout";
		s->seen = s->kept = s->reference = s->current = -1;
		s->fd = closed[i + 1] ? -1 : i + 1;
		regular[i] = output_is_regular(s, &st[i]);
		if (!regular[i])
			continue;
		flags = fcntl(s->fd, F_GETFL);
		s->append = flags >= 0 && (flags & O_APPEND);
		s->begin = s->append ? st[i].st_size : lseek(s->fd, 0, SEEK_CUR);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", s->fd);
		s->seen = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		s->kept = fcntl(s->fd, F_DUPFD_CLOEXEC, 3);
	}
	o->joined = regular[0] && regular[1] && st[0].st_dev == st[1].st_dev &&
		    st[0].st_ino == st[1].st_ino;
}

void output_end_first(struct output *o, uint32_t pass)
{
	for (int i = 0; i < 2; i++) {
		struct output_stream *s = &o->streams[i];
		struct stat st;

		if (s->seen < 0 || s->kept < 0 || fstat(s->seen, &st))
			continue;
		s->end = s->append ? st.st_size : lseek(s->kept, 0, SEEK_CUR);
		if (i == 1 && o->joined) {
			/* One open file (2>&1) has one offset; two have two, and overlap. */
			if (o->streams[0].reference >= 0 && s->end > o->streams[0].end)
				o->streams[0].reference_size = s->end - o->streams[0].begin;
			continue;
		}
		if (s->end < s->begin)
			continue; /* truncated meanwhile: not comparable */
		s->reference = s->seen;
		s->reference_begin = s->begin;
		s->reference_size = s->end - s->begin;
		s->reference_pass = pass;
	}
}

static int output_folder(int parent, const char *launch)
{
	int output, fd;

	if (mkdirat(parent, "output", 0777) && errno != EEXIST)
		return -1;
	output = openat(parent, "output", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (output < 0)
		return -1;
	if (mkdirat(output, launch, 0777) && errno != EEXIST) {
		close(output);
		return -1;
	}
	fd = openat(output, launch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(output);
	return fd;
}

int output_begin_pass(struct output *o, int parent, const char *launch, uint32_t pass,
		      int fds_out[2], struct error *err)
{
	fds_out[0] = fds_out[1] = -1;
	if (o->folder < 0)
		o->folder = output_folder(parent, launch);
	if (o->folder < 0)
		return error_set_errno(err, 0, errno, "cannot make the folder output/%s", launch);
	for (int i = 0; i < 2; i++) {
		struct output_stream *s = &o->streams[i];
		char name[48];

		if (s->fd < 0)
			continue;
		if (i == 1 && o->joined) {
			fds_out[1] = fds_out[0];
			continue;
		}
		snprintf(name, sizeof(name), "pass-%u.%s", pass, s->name);
		/* Appending keeps two descriptors of one file from writing over each other. */
		s->current = openat(o->folder, name,
				    O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC |
					    (s->append || o->joined ? O_APPEND : 0),
				    0666);
		if (s->current < 0)
			return error_set_errno(err, 0, errno, "cannot create output/%s/%s", launch,
					       name);
		fds_out[i] = s->current;
	}
	return 0;
}

/* Offset of the first difference of two equally long parts, or size when there is none. */
static off_t output_compare(int a, off_t a_begin, int b, off_t size)
{
	static char x[65536], y[65536];
	off_t at = 0;

	while (at < size) {
		size_t want = size - at < (off_t)sizeof(x) ? (size_t)(size - at) : sizeof(x);
		ssize_t n = pread(a, x, want, a_begin + at), m = pread(b, y, want, at);
		ssize_t k = n < m ? n : m;

		if (k <= 0)
			return at;
		if (memcmp(x, y, (size_t)k)) {
			for (ssize_t i = 0; i < k; i++)
				if (x[i] != y[i])
					return at + i;
		}
		at += k;
	}
	return size;
}

bool output_end_pass(struct output *o, uint32_t pass, char *text, size_t size)
{
	bool differs = false;
	size_t used = 0;

	text[0] = 0;
	for (int i = 0; i < 2; i++) {
		struct output_stream *s = &o->streams[i];
		struct stat st;
		off_t at, common;

		if (s->current < 0)
			continue;
		if (fstat(s->current, &st))
			st.st_size = 0;
		if (s->reference < 0) {
			s->reference = s->current;
			s->reference_begin = 0;
			s->reference_size = st.st_size;
			s->reference_pass = pass;
			s->current = -1;
			continue;
		}
		common = st.st_size < s->reference_size ? st.st_size : s->reference_size;
		at = output_compare(s->reference, s->reference_begin, s->current, common);
		if (at < common || st.st_size != s->reference_size) {
			int n = snprintf(
				text + used, size - used,
				"%s%s of pass %u differs from that of pass %u at byte %lld "
				"(%lld and %lld bytes)",
				used ? "; " : "", o->joined ? "output" : s->name, pass,
				s->reference_pass, (long long)at + 1, (long long)st.st_size,
				(long long)s->reference_size);

			if (n > 0)
				used += (size_t)n < size - used ? (size_t)n : size - used - 1;
			differs = true;
		}
		close(s->current);
		s->current = -1;
	}
	return differs;
}

void output_release(struct output *o)
{
	for (int i = 0; i < 2; i++) {
		struct output_stream *s = &o->streams[i];

		if (s->reference >= 0 && s->reference != s->seen)
			close(s->reference);
		if (s->seen >= 0)
			close(s->seen);
		if (s->kept >= 0)
			close(s->kept);
		if (s->current >= 0)
			close(s->current);
		s->seen = s->kept = s->reference = s->current = -1;
	}
	if (o->folder >= 0)
		close(o->folder);
	o->folder = -1;
}
