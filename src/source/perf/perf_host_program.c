/* SPDX-License-Identifier: Apache-2.0 */
/* Which file runs when a program is started, and which libraries its loader would map. */
#include "base/vec.h"
#include "source/perf/perf_host_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SCRIPTS_MAX      5     /* nesting of "#!" lines; the kernel's own bound is 5 */
#define LOADER_TIME_MS   10000 /* for a loader that reads from a slow network file system */
#define LOADER_BYTES_MAX (1u << 20)

static const char *search_path(struct arena *arena, const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return name;
	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t n = strcspn(path, ":");
		char *full = arena_printf(arena, "%.*s/%s", n ? (int)n : 1, n ? path : ".", name);

		if (full && !access(full, X_OK))
			return full;
		if (!path[n])
			return NULL;
		path += n + 1;
	}
}

/* The first words of a "#!" line: the interpreter, and for env(1) its argument. */
static const char *interpreter_of(struct arena *arena, const char *line)
{
	const char *word = line + 2 + strspn(line + 2, " \t");
	size_t n = strcspn(word, " \t\r\n");
	const char *base;
	char *path = arena_strndup(arena, word, n);

	if (!path || !n)
		return NULL;
	base = strrchr(path, '/');
	if (strcmp(base ? base + 1 : path, "env"))
		return path;
	do {
		word += n;
		word += strspn(word, " \t");
		n = strcspn(word, " \t\r\n");
	} while (n && (word[0] == '-' || memchr(word, '=', n)));
	return n ? arena_strndup(arena, word, n) : path;
}

int perf_program_resolve(struct arena *arena, const char *program, const char **path_out,
			 const char **script_out, struct error *err)
{
	const char *path = program;

	*script_out = NULL;
	for (int depth = 0; depth <= SCRIPTS_MAX; depth++) {
		const char *found = search_path(arena, path);
		char line[512], *real;
		ssize_t n;
		int fd;

		if (!found)
			return error_set(err, RC_NOT_FOUND, "'%s' is in no folder of PATH", path);
		fd = open(found, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return error_set_errno(err, 0, errno, "cannot read '%s'", found);
		n = read(fd, line, sizeof(line) - 1);
		close(fd);
		if (n < 0)
			return error_set_errno(err, RC_IO, errno, "cannot read '%s'", found);
		line[n] = '\0';
		if (n > 2 && line[0] == '#' && line[1] == '!') {
			if (!*script_out)
				*script_out = arena_strdup(arena, found);
			path = interpreter_of(arena, line);
			if (!path)
				return error_set(err, RC_INVALID,
						 "script '%s' names no interpreter", found);
			continue;
		}
		if (n < 4 || memcmp(line, "\177ELF", 4))
			return error_set(err, RC_INVALID, "'%s' is not an ELF program", found);
		real = realpath(found, NULL);
		if (!real)
			return error_set_errno(err, 0, errno, "cannot resolve '%s'", found);
		*path_out = arena_strdup(arena, real);
		free(real);
		return *path_out ? 0 : error_set(err, RC_NO_MEMORY, "no memory for a path");
	}
	return error_set(err, RC_INVALID, "'%s': too many scripts that run scripts", program);
}

/* PT_INTERP, or NULL when the file has none. */
static const char *loader_of(struct arena *arena, const char *path)
{
	const char *loader = NULL;
	char text[PATH_MAX];
	size_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);

	if (elf && !elf_getphdrnum(elf, &n)) {
		for (size_t i = 0; i < n && i < INT_MAX; i++) {
			GElf_Phdr p;
			size_t size;

			if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_INTERP)
				continue;
			size = p.p_filesz < sizeof(text) ? (size_t)p.p_filesz : 0;
			if (size && pread(fd, text, size, (off_t)p.p_offset) == (ssize_t)size &&
			    memchr(text, '\0', size))
				loader = arena_strdup(arena, text);
		}
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return loader;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Runs `LOADER --list PATH`, which maps the libraries and prints them without running any code of
 * theirs, and returns what it printed. */
static int ask_loader(const char *loader, const char *path, char *text, size_t size,
		      struct error *err)
{
	int ends[2], status;
	size_t used = 0;
	long deadline;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return error_set_errno(err, RC_IO, errno, "cannot make a pipe");
	pid = fork();
	if (pid < 0) {
		int saved = errno;

		close(ends[0]);
		close(ends[1]);
		return error_set_errno(err, RC_ERROR, saved, "cannot start '%s'", loader);
	}
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		if (null >= 0) {
			dup2(null, 0);
			dup2(null, 2);
		}
		dup2(ends[1], 1);
		execl(loader, loader, "--list", path, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	deadline = now_ms() + LOADER_TIME_MS;
	for (;;) {
		struct pollfd p = {ends[0], POLLIN, 0};
		long left = deadline - now_ms();
		ssize_t n;

		if (left <= 0 || used == size - 1) {
			kill(pid, SIGKILL);
			break;
		}
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		n = read(ends[0], text + used, size - 1 - used);
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	text[used] = '\0';
	close(ends[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return error_set(err, RC_ERROR,
				 "'%s --list %s' failed: are all its libraries there?", loader,
				 path);
	return 0;
}

int perf_program_libraries(struct arena *arena, const char *path, const char ***libraries_out,
			   size_t *n_out, struct error *err)
{
	VEC(const char *) found = {0};
	const char *loader, *base, **copy;
	char *text, *line, *rest;
	int rc;

	*libraries_out = NULL;
	*n_out = 0;
	elf_version(EV_CURRENT);
	loader = loader_of(arena, path);
	if (!loader)
		return 0;
	base = strrchr(loader, '/');
	/* The file may be anybody's: run nothing that does not at least call itself a loader. */
	if (loader[0] != '/' || strncmp(base + 1, "ld", 2))
		return error_set(err, RC_UNSUPPORTED, "'%s' has the unusual loader '%s'", path,
				 loader);
	text = arena_alloc(arena, LOADER_BYTES_MAX);
	if (!text)
		return error_set(err, RC_NO_MEMORY, "no memory for the libraries of '%s'", path);
	rc = ask_loader(loader, path, text, LOADER_BYTES_MAX, err);
	if (rc)
		return rc;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *arrow = strstr(line, "=> "), *end, *real;
		const char *kept;

		line = arrow ? arrow + 3 : line + strspn(line, " \t");
		end = strstr(line, " (0x");
		if (line[0] != '/' || !end)
			continue; /* the vDSO, or "not found" */
		*end = '\0';
		real = realpath(line, NULL);
		kept = real ? arena_strdup(arena, real) : NULL;
		free(real);
		if (kept && !vec_push(&found, kept)) {
			rc = error_set(err, RC_NO_MEMORY, "no memory for the libraries of '%s'",
				       path);
			goto out;
		}
	}
	copy = arena_array(arena, found.n ? found.n : 1, sizeof(*copy));
	if (!copy) {
		rc = error_set(err, RC_NO_MEMORY, "no memory for the libraries of '%s'", path);
		goto out;
	}
	if (found.n)
		memcpy(copy, found.items, found.n * sizeof(*copy));
	*libraries_out = copy;
	*n_out = found.n;
out:
	vec_release(&found);
	return rc;
}
