/* SPDX-License-Identifier: Apache-2.0 */
/* The filter (seccomp) of replayed executions, and the names of system calls. */
#include "runtime/region/region_guard.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define GUARD_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define GUARD_ARCH AUDIT_ARCH_AARCH64
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define GUARD_ARCH AUDIT_ARCH_PPC64LE
#elif defined(__riscv) && __riscv_xlen == 64
#define GUARD_ARCH AUDIT_ARCH_RISCV64
#endif

/* Calls that change nothing outside the process, whatever their arguments. Those that ask for the
 * state of a file are here, because the C library asks before the first output. */
static const int harmless[] = {
	SYS_futex,
	SYS_munmap,
	SYS_brk,
	SYS_madvise,
	SYS_mprotect,
	SYS_mremap,
	SYS_sched_yield,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_gettimeofday,
	SYS_getpid,
	SYS_gettid,
	SYS_getppid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_set_robust_list,
	SYS_get_robust_list,
	SYS_rseq,
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_rt_sigpending,
	SYS_exit,
	SYS_exit_group,
	SYS_sched_getaffinity,
	SYS_sched_setaffinity,
	SYS_getrandom,
	SYS_getcpu,
	SYS_membarrier,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_getrusage,
	SYS_times,
	SYS_sysinfo,
	SYS_uname,
	SYS_restart_syscall,
	SYS_set_tid_address,
	SYS_get_mempolicy,
	SYS_mbind,
	SYS_set_mempolicy,
	SYS_mincore,
	SYS_mlock,
	SYS_munlock,
	SYS_sched_getparam,
	SYS_sched_getscheduler,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_sched_get_priority_max,
	SYS_sched_get_priority_min,
#ifdef SYS_time
	SYS_time,
#endif
#ifdef SYS_getrlimit
	SYS_getrlimit,
#endif
};
#define N_HARMLESS (sizeof(harmless) / sizeof(*harmless))

struct program {
	struct sock_filter code[N_HARMLESS * 2 + REGION_GUARD_READABLE_MAX + 64];
	unsigned short n;
};

static void emit(struct program *p, unsigned code, uint32_t k, unsigned yes, unsigned no)
{
	p->code[p->n++] = (struct sock_filter){(uint16_t)code, (uint8_t)yes, (uint8_t)no, k};
}

static void load(struct program *p, size_t offset)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void load_argument(struct program *p, unsigned i)
{
	/* The low half; both machines are little-endian. */
	load(p, offsetof(struct seccomp_data, args) + i * sizeof(uint64_t));
}

static void end_with(struct program *p, uint32_t action)
{
	emit(p, BPF_RET | BPF_K, action, 0, 0);
}

/* Begins a rule for one call; the rule is `length` instructions long and ends by itself. */
static void for_call(struct program *p, int number, unsigned length)
{
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, length);
}

/* Call allowed when its argument has all bits / none of the bits of a mask. */
static void allow_when_bits(struct program *p, int number, unsigned argument, uint32_t mask,
			    bool set)
{
	for_call(p, number, 4);
	load_argument(p, argument);
	emit(p, BPF_JMP | BPF_JSET | BPF_K, mask, set ? 0 : 1, set ? 1 : 0);
	end_with(p, SECCOMP_RET_ALLOW);
	end_with(p, SECCOMP_RET_TRAP);
}

static void allow_values(struct program *p, int number, unsigned argument, const uint32_t *values,
			 unsigned n)
{
	for_call(p, number, 2 * n + 2);
	load_argument(p, argument);
	for (unsigned i = 0; i < n; i++) {
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, values[i], 0, 1);
		end_with(p, SECCOMP_RET_ALLOW);
	}
	end_with(p, SECCOMP_RET_TRAP);
}

static void allow_reading(struct program *p, const int *readable, uint32_t n)
{
	/* A jump reaches 255 instructions: the rule for read stands last, and needs none. */
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 1, 0);
	end_with(p, SECCOMP_RET_TRAP);
	load_argument(p, 0);
	for (uint32_t i = 0; i < n; i++) {
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)readable[i], 0, 1);
		end_with(p, SECCOMP_RET_ALLOW);
	}
	end_with(p, SECCOMP_RET_TRAP);
}

int region_guard_raise(const int *readable, uint32_t n)
{
#ifdef GUARD_ARCH
	static const uint32_t names[] = {PR_SET_NAME, PR_GET_NAME, 0x53564d41 /* PR_SET_VMA */};
	static struct program p;
	struct sock_fprog program;

	if (n > REGION_GUARD_READABLE_MAX / 2)
		return E2BIG;
	p.n = 0;
	load(&p, offsetof(struct seccomp_data, arch));
	emit(&p, BPF_JMP | BPF_JEQ | BPF_K, GUARD_ARCH, 1, 0);
	end_with(&p, SECCOMP_RET_TRAP);
	load(&p, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < N_HARMLESS; i++) {
		emit(&p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)harmless[i], 0, 1);
		end_with(&p, SECCOMP_RET_ALLOW);
	}
	/* Threads, no processes. The arguments of clone3 are out of a filter's reach; without it
	 * the C library takes clone. */
	allow_when_bits(&p, SYS_clone, 0, CLONE_THREAD, true);
#ifdef SYS_clone3
	for_call(&p, SYS_clone3, 1);
	end_with(&p, SECCOMP_RET_ERRNO | ENOSYS);
#endif
	/* A shared map of a file that the program has open could be written. */
	allow_when_bits(&p, SYS_mmap, 3, MAP_SHARED, false);
	/* Asking for limits, not setting them. */
	allow_when_bits(&p, SYS_prlimit64, 2, 0xffffffff, false);
	allow_values(&p, SYS_prctl, 0, names, sizeof(names) / sizeof(*names));
	allow_reading(&p, readable, n);
	program = (struct sock_fprog){p.n, p.code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return errno;
	/* Before Linux 5.16 a filter slows the processor down (speculative store bypass), unless it
	 * is told not to: the counts are to be the program's. */
	if (!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		     &program) ||
	    !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 0;
	return errno;
#else
	(void)readable;
	(void)n;
	return ENOSYS;
#endif
}

#define NAME(x)             \
	{                   \
		SYS_##x, #x \
	}
static const struct {
	int number;
	const char *name;
} call_names[] = {
	NAME(read),
	NAME(write),
	NAME(pread64),
	NAME(pwrite64),
	NAME(readv),
	NAME(writev),
	NAME(preadv),
	NAME(pwritev),
	NAME(preadv2),
	NAME(pwritev2),
	NAME(openat),
	NAME(close),
	NAME(lseek),
	NAME(statfs),
	NAME(fstatfs),
	NAME(ioctl),
	NAME(fcntl),
	NAME(dup),
	NAME(dup3),
	NAME(pipe2),
	NAME(flock),
	NAME(fsync),
	NAME(fdatasync),
	NAME(ftruncate),
	NAME(truncate),
	NAME(fallocate),
	NAME(sendfile),
	NAME(splice),
	NAME(tee),
	NAME(vmsplice),
	NAME(copy_file_range),
	NAME(socket),
	NAME(socketpair),
	NAME(bind),
	NAME(listen),
	NAME(accept),
	NAME(accept4),
	NAME(connect),
	NAME(sendto),
	NAME(recvfrom),
	NAME(sendmsg),
	NAME(recvmsg),
	NAME(sendmmsg),
	NAME(recvmmsg),
	NAME(shutdown),
	NAME(getsockopt),
	NAME(setsockopt),
	NAME(getsockname),
	NAME(getpeername),
	NAME(ppoll),
	NAME(pselect6),
	NAME(epoll_create1),
	NAME(epoll_ctl),
	NAME(epoll_pwait),
	NAME(eventfd2),
	NAME(signalfd4),
	NAME(timerfd_create),
	NAME(timerfd_settime),
	NAME(inotify_init1),
	NAME(clone),
	NAME(execve),
	NAME(execveat),
	NAME(wait4),
	NAME(waitid),
	NAME(kill),
	NAME(tkill),
	NAME(tgkill),
	NAME(rt_sigqueueinfo),
	NAME(rt_sigsuspend),
	NAME(rt_sigtimedwait),
	NAME(mmap),
	NAME(msync),
	NAME(memfd_create),
	NAME(shmget),
	NAME(shmat),
	NAME(shmdt),
	NAME(shmctl),
	NAME(semget),
	NAME(semop),
	NAME(semctl),
	NAME(msgget),
	NAME(msgsnd),
	NAME(msgrcv),
	NAME(mq_open),
	NAME(mq_timedsend),
	NAME(mq_timedreceive),
	NAME(prctl),
	NAME(prlimit64),
	NAME(setrlimit),
	NAME(setuid),
	NAME(setgid),
	NAME(setsid),
	NAME(setpgid),
	NAME(setpriority),
	NAME(umask),
	NAME(chdir),
	NAME(fchdir),
	NAME(getcwd),
	NAME(mkdirat),
	NAME(unlinkat),
	NAME(renameat2),
	NAME(linkat),
	NAME(symlinkat),
	NAME(readlinkat),
	NAME(faccessat),
	NAME(fchmod),
	NAME(fchmodat),
	NAME(fchown),
	NAME(fchownat),
	NAME(utimensat),
	NAME(mknodat),
	NAME(getdents64),
	NAME(setitimer),
	NAME(getitimer),
	NAME(timer_create),
	NAME(timer_settime),
	NAME(clock_settime),
	NAME(perf_event_open),
	NAME(bpf),
	NAME(ptrace),
	NAME(unshare),
	NAME(setns),
	NAME(mount),
	NAME(sched_setscheduler),
	NAME(sched_setparam),
	NAME(io_setup),
	NAME(io_submit),
	NAME(io_uring_setup),
	NAME(io_uring_enter),
	NAME(userfaultfd),
	NAME(process_vm_readv),
	NAME(process_vm_writev),
	NAME(pidfd_open),
	NAME(personality),
	NAME(syslog),
	NAME(capset),
	NAME(seccomp),
	NAME(mlockall),
#if defined(__x86_64__)
	NAME(open),
	NAME(creat),
	NAME(stat),
	NAME(lstat),
	NAME(access),
	NAME(pipe),
	NAME(dup2),
	NAME(fork),
	NAME(vfork),
	NAME(poll),
	NAME(select),
	NAME(epoll_wait),
	NAME(epoll_create),
	NAME(eventfd),
	NAME(signalfd),
	NAME(mkdir),
	NAME(rmdir),
	NAME(unlink),
	NAME(rename),
	NAME(link),
	NAME(symlink),
	NAME(readlink),
	NAME(chmod),
	NAME(chown),
	NAME(utime),
	NAME(utimes),
	NAME(mknod),
	NAME(getdents),
	NAME(alarm),
	NAME(pause),
	NAME(arch_prctl),
#endif
#ifdef SYS_close_range
	NAME(close_range),
#endif
#ifdef SYS_pidfd_send_signal
	NAME(pidfd_send_signal),
#endif
#ifdef SYS_futex_waitv
	NAME(futex_waitv),
#endif
#ifdef SYS_faccessat2
	NAME(faccessat2),
#endif
};
#undef NAME

void region_guard_name(int number, char *name_out, size_t size)
{
	for (size_t i = 0; i < sizeof(call_names) / sizeof(*call_names); i++)
		if (call_names[i].number == number) {
			snprintf(name_out, size, "%s", call_names[i].name);
			return;
		}
	snprintf(name_out, size, "number %d", number);
}
