/* SPDX-License-Identifier: Apache-2.0 */
/* Objects left in /dev/shm by a pass. */
#include "launch/leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int leftover_compare(const void *a, const void *b)
{
	const struct leftover *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int leftovers_list(struct leftovers *l, const char *folder)
{
	struct dirent *entry;
	DIR *d = opendir(folder);
	int rc = 0;

	vec_clear(&l->items);
	if (!d)
		return -1;
	while (!rc && (entry = readdir(d))) {
		struct leftover item = {0};
		struct stat st;

		if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || st.st_uid != geteuid())
			continue;
		snprintf(item.name, sizeof(item.name), "%s", entry->d_name);
		item.ino = st.st_ino;
		if (!vec_push(&l->items, item))
			rc = -1;
	}
	closedir(d);
	if (l->items.n)
		qsort(l->items.items, l->items.n, sizeof(*l->items.items), leftover_compare);
	return rc;
}

static bool leftovers_is_in(const char *folder, const char *path)
{
	size_t prefix = strlen(folder);

	return !strncmp(path, folder, prefix) && path[prefix] == '/';
}

/* Takes the object with this number out of l. Not by its name: glibc makes a semaphore under
 * another name than it gets in the end, and a process has it mapped under that one. */
static void leftovers_drop(struct leftovers *l, ino_t ino)
{
	for (size_t i = 0; i < l->items.n; i++) {
		struct leftover *items = l->items.items;

		if (items[i].ino != ino)
			continue;
		memmove(&items[i], &items[i + 1], (l->items.n - i - 1) * sizeof(*items));
		l->items.n--;
		return;
	}
}

/* Open and not mapped: a process has just made it, or keeps it to map it later. */
static void leftovers_drop_open(struct leftovers *l, const char *folder, const char *pid)
{
	char path[300], target[4096];
	struct dirent *entry;
	struct stat st;
	DIR *d;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.200s/fd", pid);
	d = opendir(path);
	if (!d)
		return;
	while (l->items.n && (entry = readdir(d))) {
		n = readlinkat(dirfd(d), entry->d_name, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		if (leftovers_is_in(folder, target) && !fstatat(dirfd(d), entry->d_name, &st, 0))
			leftovers_drop(l, st.st_ino);
	}
	closedir(d);
}

/* Takes out of l what some process has mapped or open. */
static void leftovers_drop_used(struct leftovers *l, const char *folder)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	if (!proc) {
		vec_clear(&l->items); /* not known to be unused */
		return;
	}
	while (l->items.n && (entry = readdir(proc))) {
		static char line[4096 + 256];
		char path[300];
		FILE *maps;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/maps", entry->d_name);
		maps = fopen(path, "re");
		if (!maps)
			continue;
		while (fgets(line, sizeof(line), maps)) {
			const char *name = strchr(line, '/');
			unsigned long long ino;

			/* "address perms offset dev inode path" */
			if (name && leftovers_is_in(folder, name) &&
			    sscanf(line, "%*s %*s %*s %*s %llu", &ino) == 1)
				leftovers_drop(l, (ino_t)ino);
		}
		fclose(maps);
		leftovers_drop_open(l, folder, entry->d_name);
	}
	closedir(proc);
}

int leftovers_since(struct leftovers *out, const char *folder, const struct leftovers *before,
		    const struct leftovers *after)
{
	size_t k = 0;

	vec_clear(&out->items);
	for (size_t i = 0; i < after->items.n; i++) {
		const struct leftover *a = &after->items.items[i];

		while (k < before->items.n && strcmp(before->items.items[k].name, a->name) < 0)
			k++;
		if (k < before->items.n && !strcmp(before->items.items[k].name, a->name) &&
		    before->items.items[k].ino == a->ino)
			continue;
		if (!vec_push(&out->items, *a))
			return -1;
	}
	if (out->items.n)
		leftovers_drop_used(out, folder);
	return 0;
}

size_t leftovers_remove(const struct leftovers *l, const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t removed = 0;

	if (fd < 0)
		return 0;
	for (size_t i = 0; i < l->items.n; i++) {
		const struct leftover *item = &l->items.items[i];
		struct stat st;

		if (!fstatat(fd, item->name, &st, AT_SYMLINK_NOFOLLOW) && st.st_ino == item->ino &&
		    st.st_uid == geteuid() && !unlinkat(fd, item->name, 0))
			removed++;
	}
	close(fd);
	return removed;
}

void leftovers_describe(const struct leftovers *l, char *buffer, size_t size)
{
	size_t used = 0;

	buffer[0] = 0;
	for (size_t i = 0; i < l->items.n && used < size; i++) {
		int n;

		if (i == 3) {
			snprintf(buffer + used, size - used, " and %zu more", l->items.n - i);
			return;
		}
		n = snprintf(buffer + used, size - used, "%s%s", i ? ", " : "",
			     l->items.items[i].name);
		used += n > 0 ? (size_t)n : 0;
	}
}

void leftovers_release(struct leftovers *l)
{
	vec_release(&l->items);
}
