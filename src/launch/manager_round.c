/* SPDX-License-Identifier: Apache-2.0 */
/* Votes and what follows from them. */
#include "launch/manager_round.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

void manager_vote_pack(const struct manager_vote *v, unsigned char bytes[MANAGER_VOTE_SIZE])
{
	uint32_t words[6] = {htole32(v->go_on),    htole32((uint32_t)v->reason),
			     htole32(v->position), htole32(v->completed),
			     htole32(v->wanted),   htole32((uint32_t)v->status)};
	uint64_t wall = htole64(v->wall_ns);

	memcpy(bytes, words, sizeof(words));
	memcpy(bytes + sizeof(words), &wall, sizeof(wall));
}

bool manager_vote_unpack(const void *bytes, size_t n, struct manager_vote *v)
{
	uint32_t words[6];
	uint64_t wall;

	if (n != MANAGER_VOTE_SIZE)
		return false;
	memcpy(words, bytes, sizeof(words));
	memcpy(&wall, (const unsigned char *)bytes + sizeof(words), sizeof(wall));
	if (le32toh(words[0]) > 1 || le32toh(words[1]) >= MANAGER_REASONS)
		return false;
	*v = (struct manager_vote){
		.go_on = le32toh(words[0]),
		.reason = (enum manager_reason)le32toh(words[1]),
		.position = le32toh(words[2]),
		.completed = le32toh(words[3]),
		.wanted = le32toh(words[4]),
		.status = (int32_t)le32toh(words[5]),
		.wall_ns = le64toh(wall),
	};
	return true;
}

static void round_describe(int rank, const struct manager_vote *v, char *text, size_t size)
{
	switch (v->reason) {
	case MANAGER_REASON_FAILED:
		if (v->status > 128)
			snprintf(text, size, "the program of rank %d died of signal %d", rank,
				 v->status - 128);
		else
			snprintf(text, size, "the program of rank %d exited with status %d", rank,
				 v->status);
		return;
	case MANAGER_REASON_TIMED_OUT:
		snprintf(text, size, "rank %d met the time limit", rank);
		return;
	case MANAGER_REASON_SPAWNED:
		snprintf(text, size, "the program of rank %d started further MPI processes", rank);
		return;
	case MANAGER_REASON_INTERRUPTED:
		snprintf(text, size, "rank %d was interrupted", rank);
		return;
	case MANAGER_REASON_ORPHANS:
		snprintf(text, size, "processes of rank %d outlived its program", rank);
		return;
	case MANAGER_REASON_DISABLED:
		snprintf(text, size, "rank %d cannot collect any more", rank);
		return;
	case MANAGER_REASON_NONE:
	case MANAGER_REASON_LAST:
	case MANAGER_REASONS:
		break;
	}
	snprintf(text, size, "rank %d is not at the same pass", rank);
}

void manager_round_judge(const struct star_news *round, int rank, int size,
			 const struct manager_vote *mine, struct manager_verdict *verdict)
{
	const unsigned char *part;
	size_t at = 0, n;
	char text[120] = "";
	int i = 0, against = 0;

	*verdict = (struct manager_verdict){.go_on = mine->go_on, .wall_ns = mine->wall_ns};
	for (; star_part(round, &at, &part, &n); i++) {
		struct manager_vote v;
		bool is = manager_vote_unpack(part, n, &v) && v.position == mine->position;

		if (is && v.wall_ns > verdict->wall_ns)
			verdict->wall_ns = v.wall_ns;
		if (is && v.go_on)
			continue;
		verdict->go_on = false;
		if (is && v.reason == MANAGER_REASON_LAST)
			continue;
		if (i == rank)
			continue;
		if (!is)
			v = (struct manager_vote){0};
		if (!against++)
			round_describe(i, &v, text, sizeof(text));
	}
	if (i != size) {
		verdict->go_on = false;
		snprintf(text, sizeof(text), "the ranks do not agree");
		against = 1;
	}
	if (against > 1)
		snprintf(verdict->why, sizeof(verdict->why), "%s, and %d more likewise", text,
			 against - 1);
	else
		snprintf(verdict->why, sizeof(verdict->why), "%s", text);
}

void manager_round_results(const struct star_news *round, int size, char *text, size_t room)
{
	const unsigned char *part;
	struct manager_vote v;
	size_t at = 0, n, used = 0;
	uint32_t most = 0;
	int less = 0;

	text[0] = '\0';
	while (star_part(round, &at, &part, &n))
		if (manager_vote_unpack(part, n, &v) && v.completed > most)
			most = v.completed;
	at = 0;
	for (int i = 0; i < size && star_part(round, &at, &part, &n); i++) {
		if (!manager_vote_unpack(part, n, &v))
			v = (struct manager_vote){0};
		if (v.completed >= most || less++ >= 4 || used >= room)
			continue;
		used += (size_t)snprintf(text + used, room - used, "%srank %d completed %u",
					 used ? ", " : "", i, v.completed);
	}
	if (less > 4 && used < room)
		used += (size_t)snprintf(text + used, room - used, ", %d more less than all",
					 less - 4);
	if (less && used < room)
		snprintf(text + used, room - used, " of the %u passes that others completed", most);
}

void manager_rounds_keep(struct manager_rounds *r, const struct star_news *news)
{
	unsigned kind = (unsigned)news->kind;

	if (kind >= STAR_KINDS)
		return;
	str_clear(&r->of[kind].bytes);
	if (news->size)
		str_add_bytes(&r->of[kind].bytes, (const char *)news->bytes, news->size);
	r->of[kind].complete = true;
}

bool manager_rounds_take(struct manager_rounds *r, enum star_kind kind, struct star_news *news)
{
	if (!r->of[kind].complete)
		return false;
	r->of[kind].complete = false;
	*news = (struct star_news){
		.kind = kind,
		.bytes = (const unsigned char *)str_text(&r->of[kind].bytes),
		.size = str_is_failed(&r->of[kind].bytes) ? 0 : r->of[kind].bytes.size,
	};
	return true;
}

void manager_rounds_release(struct manager_rounds *r)
{
	for (int i = 0; i < STAR_KINDS; i++)
		str_release(&r->of[i].bytes);
}
