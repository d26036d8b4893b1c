/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the PMIx interface that we use, most of it the server's, declared by ourselves: the C
 * ABI that the PMIx standard (version 4) fixes and that OpenPMIx 4.2 and later keep. libpmix is
 * opened at run time (pmix_api.h). tests/unit/launch/check_pmix_abi.c compares this file with the
 * real headers where those are installed.
 */
#ifndef RETALLY_LAUNCH_PMIX_ABI_H
#define RETALLY_LAUNCH_PMIX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PMIX_ABI_NAMESPACE_SIZE 256 /* with the NUL */
#define PMIX_ABI_KEY_SIZE       512
#define PMIX_ABI_RANK_WILDCARD  (UINT32_MAX - 1) /* all ranks of a namespace */

enum pmix_abi_status {
	PMIX_ABI_SUCCESS = 0,
	PMIX_ABI_ERROR = -1,
	PMIX_ABI_NOT_FOUND = -46,
	PMIX_ABI_LOST_CONNECTION = -61, /* an event */
	PMIX_ABI_NOT_SUPPORTED = -47,
	PMIX_ABI_DONE = -157, /* done at once: no callback follows */
};
enum pmix_abi_type {
	PMIX_ABI_STRING = 3,
	PMIX_ABI_UINT16 = 13,
	PMIX_ABI_UINT32 = 14,
	PMIX_ABI_INFO = 24,
	PMIX_ABI_DATA_ARRAY = 39,
	PMIX_ABI_RANK = 40,
};

/* Names of what a server tells about a job. */
#define PMIX_ABI_KEY_SERVER_TMPDIR "pmix.srvr.tmpdir"
#define PMIX_ABI_KEY_TMPDIR        "pmix.tmpdir"
#define PMIX_ABI_KEY_NSDIR         "pmix.nsdir"
#define PMIX_ABI_KEY_HOSTNAME      "pmix.hname"
#define PMIX_ABI_KEY_JOBID         "pmix.jobid"
#define PMIX_ABI_KEY_UNIV_SIZE     "pmix.univ.size"
#define PMIX_ABI_KEY_JOB_SIZE      "pmix.job.size"
#define PMIX_ABI_KEY_MAX_PROCS     "pmix.max.size"
#define PMIX_ABI_KEY_JOB_NUM_APPS  "pmix.job.napps"
#define PMIX_ABI_KEY_NUM_NODES     "pmix.num.nodes"
#define PMIX_ABI_KEY_NODE_MAP      "pmix.nmap"
#define PMIX_ABI_KEY_PROC_MAP      "pmix.pmap"
#define PMIX_ABI_KEY_LOCAL_SIZE    "pmix.local.size"
#define PMIX_ABI_KEY_NODE_SIZE     "pmix.node.size"
#define PMIX_ABI_KEY_LOCAL_PEERS   "pmix.lpeers"
#define PMIX_ABI_KEY_LOCALLDR      "pmix.lldr"
#define PMIX_ABI_KEY_PROC_DATA     "pmix.pdata"
#define PMIX_ABI_KEY_RANK          "pmix.rank"
#define PMIX_ABI_KEY_APPNUM        "pmix.appnum"
#define PMIX_ABI_KEY_LOCAL_RANK    "pmix.lrank"
#define PMIX_ABI_KEY_NODE_RANK     "pmix.nrank"
#define PMIX_ABI_KEY_GLOBAL_RANK   "pmix.grank"
#define PMIX_ABI_KEY_APP_RANK      "pmix.apprank"
#define PMIX_ABI_KEY_NODEID        "pmix.nodeid"

struct pmix_abi_proc {
	char space[PMIX_ABI_NAMESPACE_SIZE];
	uint32_t rank;
};
struct pmix_abi_array {
	uint16_t type; /* enum pmix_abi_type of the elements */
	size_t n;
	void *items;
};
struct pmix_abi_value {
	uint16_t type; /* enum pmix_abi_type */
	union {
		char *string;
		uint16_t u16;
		uint32_t u32; /* ranks too */
		struct pmix_abi_array *array;
		void *room[3]; /* the largest member is three words */
	} data;
};
struct pmix_abi_info {
	char key[PMIX_ABI_KEY_SIZE];
	uint32_t flags;
	struct pmix_abi_value value;
};
#if defined(__x86_64__) || defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64) || \
	defined(__powerpc64__)
_Static_assert(sizeof(struct pmix_abi_proc) == 260, "pmix_proc_t");
_Static_assert(sizeof(struct pmix_abi_array) == 24, "pmix_data_array_t");
_Static_assert(sizeof(struct pmix_abi_value) == 32, "pmix_value_t");
_Static_assert(offsetof(struct pmix_abi_value, data) == 8, "pmix_value_t");
_Static_assert(sizeof(struct pmix_abi_info) == 552, "pmix_info_t");
_Static_assert(offsetof(struct pmix_abi_info, value) == 520, "pmix_info_t");
#endif

/* What the library calls when it is done, and what it gives us to call when we are. */
typedef void pmix_abi_op_done(int status, void *data);
typedef void pmix_abi_release(void *data);
typedef void pmix_abi_modex_done(int status, const char *bytes, size_t n, void *data,
				 pmix_abi_release *release, void *release_data);
typedef void pmix_abi_info_done(int status, struct pmix_abi_info *info, size_t n, void *data,
				pmix_abi_release *release, void *release_data);

/* An event happened; the handler calls `done` with `data`. */
typedef void pmix_abi_event_done(int status, struct pmix_abi_info *results, size_t n_results,
				 pmix_abi_op_done *done, void *done_data, void *data);
typedef void pmix_abi_event(size_t handler, int status, const struct pmix_abi_proc *source,
			    struct pmix_abi_info *info, size_t n_info,
			    struct pmix_abi_info *results, size_t n_results,
			    pmix_abi_event_done *done, void *data);
typedef void pmix_abi_registered(int status, size_t handler, void *data);

/* Our answers to the library, called in a thread of it. A NULL is "not supported". The order is
 * the interface; what later versions added behind must read as NULL, hence the room at the end:
 * the library copies as many as it knows. */
struct pmix_abi_module {
	int (*client_connected)(const struct pmix_abi_proc *proc, void *object,
				pmix_abi_op_done *done, void *data);
	int (*client_finalized)(const struct pmix_abi_proc *proc, void *object,
				pmix_abi_op_done *done, void *data);
	int (*abort)(const struct pmix_abi_proc *proc, void *object, int status, const char *text,
		     struct pmix_abi_proc *procs, size_t n_procs, pmix_abi_op_done *done,
		     void *data);
	/* `bytes` is ours to free. */
	int (*fence)(const struct pmix_abi_proc *procs, size_t n_procs,
		     const struct pmix_abi_info *info, size_t n_info, char *bytes, size_t n,
		     pmix_abi_modex_done *done, void *data);
	int (*direct_modex)(const struct pmix_abi_proc *proc, const struct pmix_abi_info *info,
			    size_t n_info, pmix_abi_modex_done *done, void *data);
	/* publish, lookup, unpublish, spawn, connect, disconnect, register and deregister events,
	 * listener, notify event, query, tool connected, log, allocate */
	void (*unused[14])(void);
	int (*job_control)(const struct pmix_abi_proc *from, const struct pmix_abi_proc *targets,
			   size_t n_targets, const struct pmix_abi_info *directives,
			   size_t n_directives, pmix_abi_info_done *done, void *data);
	void (*later[64])(void);
};
_Static_assert(offsetof(struct pmix_abi_module, job_control) == 19 * sizeof(void *), "order");

/* name, result, parameters */
#define PMIX_ABI_SYMBOLS(X)                                                              \
	X(PMIx_Get_version, const char *, (void))                                        \
	X(PMIx_Error_string, const char *, (int status))                                 \
	X(PMIx_Init, int,                                                                \
	  (struct pmix_abi_proc * me_out, struct pmix_abi_info * info, size_t n_info))   \
	X(PMIx_Abort, int,                                                               \
	  (int status, const char *text, struct pmix_abi_proc *procs, size_t n_procs))   \
	X(PMIx_server_init, int,                                                         \
	  (struct pmix_abi_module * module, struct pmix_abi_info * info, size_t n_info)) \
	X(PMIx_server_finalize, int, (void))                                             \
	X(PMIx_generate_regex, int, (const char *input, char **text_out))                \
	X(PMIx_generate_ppn, int, (const char *input, char **text_out))                  \
	X(PMIx_server_register_nspace, int,                                              \
	  (const char *space, int n_local, struct pmix_abi_info *info, size_t n_info,    \
	   pmix_abi_op_done *done, void *data))                                          \
	X(PMIx_server_deregister_nspace, void,                                           \
	  (const char *space, pmix_abi_op_done *done, void *data))                       \
	X(PMIx_server_register_client, int,                                              \
	  (const struct pmix_abi_proc *proc, uid_t uid, gid_t gid, void *object,         \
	   pmix_abi_op_done *done, void *data))                                          \
	X(PMIx_server_deregister_client, void,                                           \
	  (const struct pmix_abi_proc *proc, pmix_abi_op_done *done, void *data))        \
	X(PMIx_Register_event_handler, int,                                              \
	  (int *codes, size_t n_codes, struct pmix_abi_info *info, size_t n_info,        \
	   pmix_abi_event *handler, pmix_abi_registered *done, void *data))              \
	X(PMIx_server_setup_fork, int, (const struct pmix_abi_proc *proc, char ***environment))

#endif
