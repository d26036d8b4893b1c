/* SPDX-License-Identifier: Apache-2.0 */
/* Looking through /proc for what a pass left behind. */
#include "inject/orphans.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Reads /proc/PID/NAME from its start; n bytes at most, with a NUL behind them. */
static ssize_t orphans_read(int pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

/* Started before us: cannot be ours, and its environment need not be read. A zombie is over. */
static bool orphans_is_candidate(int pid, uint64_t start, char name[32])
{
	char text[1024], *p, *open_paren;
	bool alive;

	if (orphans_read(pid, "stat", text, sizeof(text)) <= 0)
		return false;
	open_paren = strchr(text, '(');
	p = strrchr(text, ')');
	if (!open_paren || !p || !p[1])
		return false;
	snprintf(name, 32, "%.*s", (int)(p - open_paren - 1), open_paren + 1);
	alive = p[2] != 'Z' && p[2] != 'X';
	for (int field = 2; p && field < 22; field++) {
		p = strchr(p, ' ');
		if (p)
			p++;
	}
	return alive && p && strtoull(p, NULL, 10) >= start;
}

static bool orphans_has_mark(int pid, const char *mark)
{
	size_t n_mark = strlen(mark), have = 0;
	char path[64], text[16384];
	bool found = false;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	for (;;) {
		ssize_t n = read(fd, text + have, sizeof(text) - have);

		if (n <= 0)
			break;
		have += (size_t)n;
		if (memmem(text, have, mark, n_mark)) {
			found = true;
			break;
		}
		if (have > n_mark) { /* the mark may lie across two reads */
			memmove(text, text + have - n_mark, n_mark);
			have = n_mark;
		}
	}
	close(fd);
	return found;
}

static int orphans_count(const struct state *state, struct orphans *o)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	char mark[64], name[32];
	int n = 0;

	snprintf(mark, sizeof(mark), ":%010d:%016llx:%s ", state->pid,
		 (unsigned long long)state->start, state->launch);
	while (dir && (entry = readdir(dir))) {
		int pid = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? atoi(entry->d_name)
									     : 0;

		if (pid <= 0 || pid == state->pid ||
		    !orphans_is_candidate(pid, state->start, name) || !orphans_has_mark(pid, mark))
			continue;
		n++;
		o->pid = pid;
		memcpy(o->name, name, sizeof(o->name));
	}
	if (dir)
		closedir(dir);
	return n;
}

void orphans_wait(const struct state *state, unsigned seconds, struct orphans *o)
{
	struct timespec now, end, pause = {0, 1000000};

	*o = (struct orphans){0};
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += (time_t)seconds;
	o->n = o->left = orphans_count(state, o);
	while (o->left) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > end.tv_sec ||
		    (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec))
			return;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 128000000)
			pause.tv_nsec *= 2;
		o->left = orphans_count(state, o);
	}
}
