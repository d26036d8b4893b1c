/* SPDX-License-Identifier: Apache-2.0 */
/* Scanning /proc for descendants, and ending them. */
#include "launch/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads /proc/PID/stat. The name may hold spaces and parentheses: fields are counted from the last
 * ')' (proc(5)). */
static bool tree_read_stat(pid_t pid, struct tree_process *p)
{
	char path[40], text[512], *open_paren, *close_paren;
	int fd, ppid;
	ssize_t n;
	char state;
	unsigned long long start;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	open_paren = strchr(text, '(');
	close_paren = strrchr(text, ')');
	if (!open_paren || !close_paren || close_paren < open_paren)
		return false;
	*close_paren = 0;
	/* state ppid, then 17 fields to starttime (field 22). */
	if (sscanf(close_paren + 1,
		   " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%llu",
		   &state, &ppid, &start) != 3)
		return false;
	p->pid = pid;
	p->parent = ppid;
	p->state = state;
	p->start = start;
	snprintf(p->name, sizeof(p->name), "%.31s", open_paren + 1);
	return true;
}

static int tree_compare(const void *a, const void *b)
{
	const struct tree_process *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static const struct tree_process *tree_find(const struct tree_process *items, size_t n, pid_t pid)
{
	struct tree_process key = {.pid = pid};

	return n ? bsearch(&key, items, n, sizeof(*items), tree_compare) : NULL;
}

int tree_scan(struct tree *t, pid_t root, const struct tree *known)
{
	VEC(struct tree_process) all = {0};
	enum {
		UNKNOWN,
		INSIDE,
		OUTSIDE
	} *mark = NULL;
	struct dirent *entry;
	bool changed = true;
	DIR *proc;
	int rc = -1;

	vec_clear(&t->processes);
	proc = opendir("/proc");
	if (!proc)
		return -1;
	while ((entry = readdir(proc))) {
		struct tree_process p;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !tree_read_stat((pid_t)strtol(entry->d_name, NULL, 10), &p))
			continue;
		if (!vec_push(&all, p))
			goto out;
	}
	if (all.n)
		qsort(all.items, all.n, sizeof(*all.items), tree_compare);
	mark = calloc(all.n + 1, sizeof(*mark));
	if (!mark)
		goto out;
	for (size_t i = 0; known && i < known->processes.n; i++) {
		const struct tree_process *k = &known->processes.items[i];
		const struct tree_process *p = tree_find(all.items, all.n, k->pid);

		if (p && p->start == k->start)
			mark[p - all.items] = OUTSIDE;
	}
	while (changed) {
		changed = false;
		for (size_t i = 0; i < all.n; i++) {
			const struct tree_process *parent;

			if (mark[i] != UNKNOWN)
				continue;
			if (all.items[i].parent == root) {
				mark[i] = INSIDE;
				changed = true;
				continue;
			}
			parent = tree_find(all.items, all.n, all.items[i].parent);
			if (parent && mark[parent - all.items] != UNKNOWN) {
				mark[i] = mark[parent - all.items];
				changed = true;
			}
		}
	}
	for (size_t i = 0; i < all.n; i++)
		if (mark[i] == INSIDE && all.items[i].state != 'Z' && all.items[i].state != 'X' &&
		    !vec_push(&t->processes, all.items[i]))
			goto out;
	rc = 0;
out:
	closedir(proc);
	free(mark);
	vec_release(&all);
	return rc;
}

int tree_kill(pid_t root, const struct tree *known)
{
	struct tree t = {0};
	int n = -1;

	if (!tree_scan(&t, root, known)) {
		vec_for_each (&t.processes, p)
			kill(p->pid, SIGKILL);
		n = (int)t.processes.n;
	}
	tree_release(&t);
	return n;
}

void tree_describe(const struct tree *t, char *buffer, size_t size)
{
	size_t used = 0;

	buffer[0] = 0;
	for (size_t i = 0; i < t->processes.n && used < size; i++) {
		const struct tree_process *p = &t->processes.items[i];
		int n;

		if (i == 3) {
			snprintf(buffer + used, size - used, " and %zu more", t->processes.n - i);
			return;
		}
		n = snprintf(buffer + used, size - used, "%s%s (%d)", i ? ", " : "", p->name,
			     (int)p->pid);
		used += n > 0 ? (size_t)n : 0;
	}
}

char tree_state(pid_t pid)
{
	struct tree_process p;

	return tree_read_stat(pid, &p) ? p.state : 0;
}

void tree_release(struct tree *t)
{
	vec_release(&t->processes);
}
