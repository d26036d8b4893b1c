/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of LAUNCH.resume, shared by the two files that write and use it; never read on another
 * machine. */
#ifndef RETALLY_INJECT_RESUME_FORMAT_H
#define RETALLY_INJECT_RESUME_FORMAT_H

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>

#define RESUME_MAGIC   "retally"
#define RESUME_SIGNALS 65
#define RESUME_LIMITS  16 /* RLIM_NLIMITS of the kernel */

/* Then: n_fds ints, and NUL-terminated: exe, cwd, the arguments, the environment. */
struct resume_fixed {
	char magic[8];
	uint64_t size;     /* of the file */
	uint64_t checksum; /* of the file with 0 here */
	uint32_t n_fds, n_argv, n_envp;
	uint32_t umask;
	sigset_t mask;
	uint64_t ignored; /* bit N - 1: signal N was ignored */
	struct rlimit limits[RESUME_LIMITS];
	int nice, policy;
	struct sched_param sched;
	int has_affinity;
	cpu_set_t affinity;
	uint32_t timers; /* bit N: interval timer N was running */
	int personality, subreaper, death_signal;
	char comm[16];
	uid_t uid[3];
	gid_t gid[3];
	dev_t root_dev, exe_dev, stdin_dev;
	ino_t root_ino, exe_ino, stdin_ino;
	uint32_t stdin_kind; /* enum resume_stdin */
	uint32_t stdin_interactive;
	int64_t stdin_offset;
};

struct resume {
	struct resume_fixed *fixed;
	size_t size;
	const int *fds;
	const char *exe, *cwd, *argv, *envp; /* the latter two: first string of each list */
};

#endif
