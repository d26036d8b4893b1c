/* SPDX-License-Identifier: Apache-2.0 */
/* The same standard input for every pass. */
#include "launch/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int input_init(struct input *in, bool closed, bool several_passes, int folder, struct error *err)
{
	struct stat st;

	memset(in, 0, sizeof(*in));
	in->source = in->copy = in->feed = -1;
	if (closed || !several_passes)
		return 0;
	if (fstat(STDIN_FILENO, &st)) {
		return error_set_errno(err, RC_IO, errno, "cannot examine standard input");
	} else if (S_ISREG(st.st_mode)) {
		in->kind = INPUT_FILE;
		in->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
	} else if (S_ISFIFO(st.st_mode)) {
		in->kind = INPUT_PIPE;
		in->copy = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (in->copy < 0)
			in->copy = memfd_create("retally-stdin", MFD_CLOEXEC);
		if (in->copy < 0)
			return error_set_errno(err, 0, errno, "cannot keep a copy of stdin");
	} else {
		in->kind = INPUT_ONCE;
		return 0;
	}
	in->source = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (in->source < 0)
		return error_set_errno(err, RC_IO, errno, "cannot duplicate standard input");
	return 0;
}

static int input_reopen(struct input *in, struct error *err)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", in->source);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		error_set_errno(err, RC_IO, errno, "cannot open standard input again");
		return -2;
	}
	if (lseek(fd, in->start, SEEK_SET) < 0) {
		error_set_errno(err, RC_IO, errno, "cannot rewind standard input");
		close(fd);
		return -2;
	}
	return fd;
}

int input_begin_pass(struct input *in, bool first, struct error *err)
{
	int ends[2], fd;

	switch (in->kind) {
	case INPUT_KEEP:
		return -1;
	case INPUT_FILE:
		return first ? -1 : input_reopen(in, err);
	case INPUT_ONCE:
		if (first)
			return -1;
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd < 0) {
			error_set_errno(err, RC_IO, errno, "cannot open /dev/null");
			return -2;
		}
		return fd;
	case INPUT_PIPE:
		break;
	}
	if (in->broken) {
		error_set(err, RC_NO_SPACE, "standard input could not be kept for another pass");
		return -2;
	}
	if (pipe2(ends, O_CLOEXEC)) {
		error_set_errno(err, RC_IO, errno, "cannot make a pipe for standard input");
		return -2;
	}
	/* Only our end: the flag belongs to the open file, and each end is one of its own. */
	fcntl(ends[1], F_SETFL, O_WRONLY | O_NONBLOCK);
	in->feed = ends[1];
	in->copied = 0;
	in->held = in->given = 0;
	return ends[0];
}

/* Whether the next chunk has to come from the source. */
static bool input_is_live(const struct input *in)
{
	return in->given == in->held && in->copied == in->kept && !in->ended;
}

int input_polls(const struct input *in, struct pollfd *polls)
{
	if (in->feed < 0)
		return 0;
	/* Without POLLOUT only errors are reported: the program closed its stdin. */
	polls[0] = (struct pollfd){.fd = in->feed, .events = input_is_live(in) ? 0 : POLLOUT};
	if (!input_is_live(in))
		return 1;
	polls[1] = (struct pollfd){.fd = in->source, .events = POLLIN};
	return 2;
}

static bool input_keep(struct input *in, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t k = pwrite(in->copy, in->chunk + done, n - done, (off_t)(in->kept + done));

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		done += (size_t)k;
	}
	return true;
}

/* Gets the next chunk. False: nothing to be had now. */
static bool input_fill(struct input *in)
{
	ssize_t n;

	in->held = in->given = 0;
	if (in->copied < in->kept) {
		uint64_t left = in->kept - in->copied;
		size_t want = left < sizeof(in->chunk) ? (size_t)left : sizeof(in->chunk);

		n = pread(in->copy, in->chunk, want, (off_t)in->copied);
		if (n <= 0) {
			in->broken = true;
			in->ended = true;
			in->kept = in->copied;
			return false;
		}
		in->copied += (uint64_t)n;
	} else if (!in->ended) {
		struct pollfd p = {.fd = in->source, .events = POLLIN};

		if (poll(&p, 1, 0) <= 0)
			return false;
		n = read(in->source, in->chunk, sizeof(in->chunk));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			return false;
		if (n <= 0) {
			in->ended = true;
			return false;
		}
		/* The program gets it in any case; only later passes need the copy. */
		if (!in->broken && !input_keep(in, (size_t)n))
			in->broken = true;
		in->kept += (uint64_t)n;
		in->copied += (uint64_t)n;
	} else {
		return false;
	}
	in->held = (size_t)n;
	return true;
}

void input_pump(struct input *in)
{
	struct pollfd gone = {.fd = in->feed, .events = 0};

	if (in->feed < 0)
		return;
	if (poll(&gone, 1, 0) > 0 && (gone.revents & POLLERR)) {
		input_end_pass(in);
		return;
	}
	while (in->given < in->held || input_fill(in)) {
		ssize_t n = write(in->feed, in->chunk + in->given, in->held - in->given);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			input_end_pass(in);
			return;
		}
		in->given += (size_t)n;
	}
	if (in->ended && in->copied == in->kept)
		input_end_pass(in);
}

void input_end_pass(struct input *in)
{
	if (in->feed >= 0)
		close(in->feed);
	in->feed = -1;
}

void input_release(struct input *in)
{
	input_end_pass(in);
	if (in->source >= 0)
		close(in->source);
	if (in->copy >= 0)
		close(in->copy);
	in->source = in->copy = -1;
}
