/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is this process? The constructor of this library runs before all others (-z initfirst) and
 * decides: the first image of a program that is to be replayed, a later image of the process that
 * owns the passes, or one of its children, which do nothing.
 *
 * The first image only writes down how it was started, puts the variables of the passes into the
 * environment and executes itself: from then on all passes are started alike, with an environment
 * of the same size, and before any code of the program or its libraries has run.
 */
#include "inject/guard.h"
#include "inject/inject.h"
#include "inject/rank.h"
#include "inject/replay_runtimes.h"
#include "inject/replay_session.h"
#include "inject/resume.h"
#include "inject/say.h"
#include "inject/session.h"
#include "wire/collection.h"
#include "wire/identity.h"
#include "wire/launcher_names.h"
#include "wire/plan.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which process ---- */

struct loaded {
	uintptr_t ours, libc; /* an address within each */
	int n, our_place, libc_place;
};

static int start_look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded *l = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (l->ours >= begin && l->ours < end)
			l->our_place = l->n;
		if (l->libc >= begin && l->libc < end)
			l->libc_place = l->n;
	}
	l->n++;
	return 0;
}

/* Preloaded libraries stand before libc in the loader's list. One that a running program opened
 * stands behind it, and must not execute that program again. */
static bool start_is_preloaded(void)
{
	struct loaded l = {.ours = (uintptr_t)&start_look,
			   .libc = (uintptr_t)dlsym(RTLD_NEXT, "execve"),
			   .our_place = -1,
			   .libc_place = -1};

	dl_iterate_phdr(start_look, &l);
	return l.our_place >= 0 && l.our_place < l.libc_place;
}

static const char *start_base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path ? path : "";
}

static const char *start_get(void *context, const char *name)
{
	return state_variable(context, name);
}

/* ---- the first image ---- */

/* The text of /proc/self/NAME, strings with a NUL behind each, as a list; both are never freed: an
 * exec follows. As the kernel got them, not as a constructor or ld.so left them. */
static char **start_read_list(const char *name, size_t extra, struct error *err)
{
	size_t size = 0, capacity = 65536, n = 0;
	char *text = NULL, **list, path[64];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (;;) {
		char *more = fd < 0 ? NULL : realloc(text, capacity + 1);

		if (!more)
			break;
		text = more;
		got = read(fd, text + size, capacity - size);
		if (got <= 0)
			break;
		size += (size_t)got;
		if (size == capacity)
			capacity *= 2;
	}
	if (fd >= 0)
		close(fd);
	if (got) {
		error_set_errno(err, 0, fd < 0 || got < 0 ? errno : ENOMEM, "cannot read '%s'",
				path);
		return NULL;
	}
	text[size] = '\0';
	for (size_t i = 0; i < size; i++)
		n += !text[i];
	list = calloc(n + extra + 2, sizeof(*list));
	if (!list) {
		error_set(err, RC_NO_MEMORY, "out of memory");
		return NULL;
	}
	n = 0;
	for (size_t i = 0; i < size; i += strlen(text + i) + 1)
		list[n++] = text + i;
	return list;
}

static bool start_is_variable(const char *text, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(text, name, n) && text[n] == '=';
}

/* The environment of all passes: the program's, and ours behind it. */
static char **start_make_environment(const struct state *s, const char *directory,
				     struct error *err)
{
	static char state_text[STATE_TEXT_SIZE], pass_text[32], passes_text[40],
		out_text[SESSION_PATH_SIZE + 16];
	char **envp = start_read_list("environ", 4, err);
	size_t n = 0;

	if (!envp)
		return NULL;
	for (size_t i = 0; envp[i]; i++)
		if (!start_is_variable(envp[i], STATE_VARIABLE) &&
		    !start_is_variable(envp[i], "RETALLY_PASS") &&
		    !start_is_variable(envp[i], "RETALLY_PASSES") &&
		    !start_is_variable(envp[i], "RETALLY_OUT"))
			envp[n++] = envp[i];
	state_format(s, state_text, pass_text);
	snprintf(passes_text, sizeof(passes_text), "RETALLY_PASSES=%u", s->passes);
	snprintf(out_text, sizeof(out_text), "RETALLY_OUT=%s", directory);
	envp[n++] = out_text;
	envp[n++] = passes_text;
	envp[n++] = pass_text;
	envp[n++] = state_text;
	envp[n] = NULL;
	return envp;
}

static int start_choose_directory(char *const *envp, const char *name, char *directory, size_t size,
				  struct error *err)
{
	const char *out = state_variable(envp, "RETALLY_OUT");
	char cwd[4096] = "", fallback[300];
	int n;

	snprintf(fallback, sizeof(fallback), "%.255s.retally", name);
	if (!out || !*out)
		out = fallback;
	if (*out != '/' && !getcwd(cwd, sizeof(cwd)))
		return error_set_errno(err, 0, errno, "cannot find the current directory");
	n = snprintf(directory, size, "%s%s%s", cwd, *out == '/' ? "" : "/", out);
	while (n > 1 && n < (int)size && directory[n - 1] == '/')
		directory[--n] = '\0';
	if (n >= (int)size)
		return error_set(err, RC_INVALID, "the path of the output directory is too long");
	return 0;
}

/* RETALLY_REPLAY=range: one execution, in which each region is replayed for all passes. */
static bool start_wants_range(char *const *envp)
{
	const char *mode = state_variable(envp, "RETALLY_REPLAY");

	return mode && !strcmp(mode, "range");
}

/* Variables that are used later, or whose other values mean nothing. */
static int start_check_others(char *const *envp, struct error *err)
{
	const char *mode = state_variable(envp, "RETALLY_REPLAY");
	const char *wait = state_variable(envp, INJECT_WAIT_VARIABLE);
	uint32_t seconds;

	if (mode && *mode && !start_wants_range(envp))
		return error_set(err, RC_INVALID, "RETALLY_REPLAY is '%.100s', which is not range",
				 mode);
	if (wait && *wait && !state_parse_number(wait, INJECT_WAIT_MAX, &seconds))
		return error_set(err, RC_INVALID,
				 INJECT_WAIT_VARIABLE
				 " is '%.100s', which is not a number of seconds from 1 to %d",
				 wait, INJECT_WAIT_MAX);
	return 0;
}

static int start_choose_pass(struct state *s, char *const *envp, const struct plan *plan,
			     struct error *err)
{
	const char *pass = state_variable(envp, "RETALLY_PASS");
	const char *passes = state_variable(envp, "RETALLY_PASSES");
	uint32_t n;

	*s = (struct state){.pass = 1,
			    .passes = plan->n_passes,
			    .replay = true,
			    .phase = STATE_BEGIN,
			    .pid = getpid(),
			    .stderr_fd = -1};
	if (!plan->n_passes)
		return error_set(err, RC_INVALID, "the plan has no passes");
	if (passes && (!state_parse_number(passes, PLAN_PASSES_MAX, &n) || n != plan->n_passes))
		return error_set(err, RC_INVALID,
				 "RETALLY_PASSES is '%.100s', but the plan has %u passes", passes,
				 plan->n_passes);
	if (pass) {
		s->replay = false;
		if (!state_parse_number(pass, plan->n_passes, &s->pass))
			return error_set(err, RC_INVALID,
					 "RETALLY_PASS is '%.100s', which is not a pass of the "
					 "plan (1 to %u)",
					 pass, plan->n_passes);
	}
	if (start_check_others(envp, err))
		return RC_INVALID;
	if (!pass && start_wants_range(envp)) {
		s->replay = false;
		s->range = true;
	}
	launch_id(s->launch);
	return state_start_time(&s->start, err);
}

/* Executes the program for its first counted pass. Returns only on failure. */
static int start_first(char *const *envp, const char *plan_path, const char *name,
		       const sigset_t *mask, struct error *err)
{
	static struct session_paths paths;
	char directory[sizeof(paths.directory)];
	struct identity here = {0}, identity = {0};
	struct plan plan = {0};
	char **argv, **envp_new;
	struct resume *r;
	struct state s;
	int rc = plan_read_file(&plan, plan_path, err);

	if (rc)
		return error_prefix(err, "RETALLY_PLAN");
	rc = start_choose_pass(&s, envp, &plan, err);
	if (rc)
		return rc;
	identity_read(&here);
	identity_read_from(&identity, start_get, (void *)(uintptr_t)envp);
	rc = start_choose_directory(envp, name, directory, sizeof(directory), err);
	if (!rc)
		rc = session_name_files(&paths, directory, s.launch, here.host, identity.rank, err);
	if (!rc)
		rc = session_make_directory(&paths, plan_path, err);
	if (rc)
		return rc;
	argv = start_read_list("cmdline", 0, err);
	if (argv && (session_check_collection(&paths, plan.hash, argv, err) ||
		     session_describe(&paths, &plan, argv, here.host, err)))
		return err->code;
	envp_new = argv ? start_make_environment(&s, directory, err) : NULL;
	if (!envp_new)
		return err->code;
	rc = resume_save(paths.resume, argv, envp_new, mask, err);
	if (!rc)
		rc = resume_open(&r, paths.resume, err);
	if (!rc)
		rc = resume_exec(r, &s, err);
	unlink(paths.resume);
	return rc;
}

/* Says no, once: children find an empty variable, which means none. */
static void start_refuse(char *value)
{
	value[0] = '\0';
}

/* The same, with the signals of our writes kept away: a file size limit is an error like any other.
 */
static void start_guarded(char *const *envp, const char *plan_path, const char *name,
			  struct error *err)
{
	struct guard guard;

	guard_enter(&guard);
	start_first(envp, plan_path, name, &guard.old, err);
	guard_leave(&guard);
}

/* The file that was executed, for scripts the script. */
static const char *start_file(char **argv)
{
	const char *file = (const char *)getauxval(AT_EXECFN);

	return file && *file ? file : argv[0] ? argv[0] : "";
}

/* Below a launcher that the command started: a rank is executed again with the command in front of
 * it, everything else stands aside. */
static void start_below_launcher(char **argv, char **envp)
{
	const char *file = start_file(argv);
	struct error err = {0};
	char *command = (char *)(uintptr_t)state_variable(envp, "RETALLY_LAUNCHER");

	if (!start_is_preloaded() || launcher_is_own(start_base(file)) || !rank_is_here(envp))
		return;
	rank_execute(argv, envp, file, &err);
	say("%s; this rank runs uncounted", err.message);
	start_refuse(command); /* its children shall not try again */
}

static void start_new(char **argv, char **envp, char *plan_path)
{
	const char *name = start_base(start_file(argv));
	const char *mpi = identity_in_mpi_rank_from(start_get, envp);
	struct error err = {0};

	if (!start_is_preloaded() || launcher_is_own(name))
		return;
	if (mpi && !state_variable(envp, "RETALLY_PASS") && !start_wants_range(envp)) {
		struct identity identity = {0};

		identity_read_from(&identity, start_get, envp);
		if (identity.rank <= 0) /* one rank speaks, or all when they do not know */
			say("this is a rank of an MPI launch (%s is set), which cannot be executed "
			    "again in place: use 'mpirun -n N retally run -- %s', or set "
			    "RETALLY_PASS=K to collect one pass a launch; the program runs "
			    "uncounted",
			    mpi, argv[0] ? argv[0] : name);
		start_refuse(plan_path);
		return;
	}
	start_guarded(envp, plan_path, name, &err);
	say("%s; the program runs uncounted", err.message);
	start_refuse(plan_path);
}

void inject_start(char **argv, char **envp)
{
	static bool started;
	struct error err = {0};
	struct state s;
	uint64_t start;
	char *value, *plan_path;

	if (started)
		return;
	started = true;
	if (replay_session_start(envp, launcher_is_own(start_base(start_file(argv))))) {
		if (start_is_preloaded())
			replay_runtimes_take_calls(state_variable(envp, "OPENCL_LAYERS"));
		return;
	}
	if (rank_is_wanted(envp)) {
		start_below_launcher(argv, envp);
		return;
	}
	/* Strings on the process's stack: ours to change, as bash and others change theirs. */
	value = (char *)(uintptr_t)state_variable(envp, STATE_VARIABLE);
	plan_path = (char *)(uintptr_t)state_variable(envp, "RETALLY_PLAN");
	if (!value) {
		if (plan_path && *plan_path)
			start_new(argv, envp, plan_path);
		return;
	}
	if (state_parse(&s, value, state_variable(envp, "RETALLY_PASS"),
			state_variable(envp, "RETALLY_PASSES"), &err)) {
		if (plan_path && *plan_path) {
			say("%s; the program runs uncounted", err.message);
			start_refuse(plan_path);
		}
		return;
	}
	if (s.pid != getpid() || state_start_time(&start, &err) || start != s.start)
		return; /* a child of the program: its parent's counters count it */
	pass_begin(&s, value, envp);
}

__attribute__((constructor)) static void start_constructor(int argc, char **argv, char **envp)
{
	(void)argc;
	inject_start(argv, envp);
}

/* ---- the start of the program ---- */

typedef int start_main(int, char **, char **);
typedef int start_libc(start_main *, int, char **, void (*)(void), void (*)(void), void (*)(void),
		       void *);

start_libc __libc_start_main;

/* The constructor was here before, unless the loader gave the first place to somebody else's
 * -z initfirst library or ran none at all. Here at the latest the pass begins, before main and the
 * constructors of the program itself. */
__attribute__((visibility("default"))) int
__libc_start_main(start_main *program, int argc, char **argv, void (*init)(void),
		  void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	start_libc *next = NULL;

	inject_start(argv, argv + argc + 1);
	*(void **)(void *)&next = dlsym(RTLD_NEXT, "__libc_start_main");
	if (!next) /* there is no program without it */
		return 127;
	return next(program, argc, argv, init, fini, rtld_fini, stack_end);
}
