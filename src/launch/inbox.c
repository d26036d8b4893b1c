/* SPDX-License-Identifier: Apache-2.0 */
/* Matching the two copies of a signal that was sent to a whole process group. */
#include "launch/inbox.h"

#include <string.h>

bool inbox_ends(int signal)
{
	return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

void inbox_signals(sigset_t *set_out)
{
	static const int taken[] = {SIGCHLD, SIGCONT, SIGTSTP, SIGHUP,  SIGINT,
				    SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM};

	sigemptyset(set_out);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaddset(set_out, taken[i]);
}

static bool inbox_takes(int signal)
{
	return signal > 0 && signal < INBOX_SIGNALS && signal != SIGCHLD && signal != SIGTSTP;
}

bool inbox_own(struct inbox *b, int signal, int code, uint64_t now_ns, struct inbox_event *event)
{
	if (!inbox_takes(signal))
		return false;
	if (b->of[signal].relayed_ns)
		b->of[signal].relayed_ns = 0;
	else
		b->of[signal].own_ns = now_ns;
	*event = (struct inbox_event){.signal = signal, .kernel = code == SI_KERNEL};
	return true;
}

bool inbox_relayed(struct inbox *b, int signal, int code, uint64_t now_ns,
		   struct inbox_event *event)
{
	if (!inbox_takes(signal))
		return false;
	if (b->of[signal].own_ns && now_ns - b->of[signal].own_ns < INBOX_KEEP_NS) {
		b->of[signal].own_ns = 0;
		return false; /* acted on when ours came */
	}
	b->of[signal].own_ns = 0;
	if (b->of[signal].relayed_ns) {
		/* Two in a row to the caller alone: the first need not wait any longer. */
		b->of[signal].relayed_ns = now_ns;
		*event = (struct inbox_event){.signal = signal, .direct = true};
		return true;
	}
	b->of[signal].relayed_ns = now_ns;
	b->of[signal].code = code;
	return false;
}

bool inbox_due(struct inbox *b, uint64_t now_ns, struct inbox_event *event)
{
	for (int i = 1; i < INBOX_SIGNALS; i++) {
		if (!b->of[i].relayed_ns || now_ns < b->of[i].relayed_ns + INBOX_WAIT_NS)
			continue;
		b->of[i].relayed_ns = 0;
		*event = (struct inbox_event){
			.signal = i, .direct = true, .kernel = b->of[i].code == SI_KERNEL};
		return true;
	}
	return false;
}

uint64_t inbox_deadline(const struct inbox *b)
{
	uint64_t first = 0;

	for (int i = 1; i < INBOX_SIGNALS; i++) {
		uint64_t at = b->of[i].relayed_ns ? b->of[i].relayed_ns + INBOX_WAIT_NS : 0;

		if (at && (!first || at < first))
			first = at;
	}
	return first;
}
