/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a PMIx server tells the processes of one job: which rank is on which node, and for each of
 * them its place. Open MPI needs these and no others (measured with 4.1 and 5.0).
 */
#ifndef RETALLY_LAUNCH_PMIX_JOB_H
#define RETALLY_LAUNCH_PMIX_JOB_H

#include "base/error.h"
#include "launch/pmix_api.h"

struct pmix_job {
	int size;
	int node;        /* ours */
	int n_nodes;     /* in the order of their first ranks */
	int n_local;     /* ranks on our node */
	char **hosts;    /* of each rank, owned */
	int *nodes;      /* of each rank */
	int *local_rank; /* of each rank, on its node */
	int *local;      /* the n_local ranks of our node, ascending */
	char *node_list; /* "a,b" */
	char *rank_list; /* "0,1;2,3" */
	char *peers;     /* "0,1" of our node */
};

/* From the host of each rank; `rank` is one of our node. */
int pmix_job_init(struct pmix_job *job, const char *const *hosts, int size, int rank,
		  struct error *err);
void pmix_job_release(struct pmix_job *job);

/* The information to register a namespace with; refers to job, space and folder and must be kept
 * until the registration is over. */
struct pmix_job_info {
	struct pmix_abi_info *items;
	size_t n;
	struct pmix_abi_array *arrays;    /* one per rank */
	struct pmix_abi_info *rank_items; /* theirs */
	char *node_map, *proc_map;        /* of libpmix */
};
/* space: the name of the namespace; folder: a directory that may be removed after the job. */
int pmix_job_describe(const struct pmix_job *job, const struct pmix_api *api, char *space,
		      char *folder, struct pmix_job_info *info_out, struct error *err);
void pmix_job_info_release(struct pmix_job_info *info);

#endif
