/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over a sequenced-packet socket pair. */
#include "launch/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int channel_open(int fds_out[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds_out);
}

bool channel_send(int fd, const struct channel_message *m)
{
	ssize_t n;

	do
		n = send(fd, m, sizeof(*m), MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*m);
}

int channel_receive(int fd, struct channel_message *m)
{
	bool reset = false;
	ssize_t n;

	/* ECONNRESET: the other side ended with a message of ours unread. It is told once, before
	 * what the other side had sent. */
	do {
		n = recv(fd, m, sizeof(*m), MSG_DONTWAIT);
		if (n < 0 && errno == ECONNRESET && !reset) {
			reset = true;
			errno = EINTR;
		}
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(*m)) {
		m->text[sizeof(m->text) - 1] = 0;
		return 1;
	}
	if (n < 0 && errno == EAGAIN)
		return 0;
	return -1;
}
