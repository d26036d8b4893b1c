/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, ranks and what is said about them. */
#include "launch/pmix_job.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#define JOB_ITEMS  14 /* without the ranks */
#define RANK_ITEMS 8

static void job_place_ranks(struct pmix_job *job, int rank)
{
	for (int i = 0; i < job->size; i++) {
		int same = -1;

		for (int j = i - 1; j >= 0 && same < 0; j--)
			if (!strcmp(job->hosts[i], job->hosts[j]))
				same = j;
		job->nodes[i] = same < 0 ? job->n_nodes++ : job->nodes[same];
		job->local_rank[i] = same < 0 ? 0 : job->local_rank[same] + 1;
	}
	job->node = job->nodes[rank];
	for (int i = 0; i < job->size; i++)
		if (job->nodes[i] == job->node)
			job->local[job->n_local++] = i;
}

static int job_write_lists(struct pmix_job *job)
{
	struct str nodes = STR_INIT, ranks = STR_INIT, peers = STR_INIT;

	for (int node = 0; node < job->n_nodes; node++) {
		const char *before = "";

		str_add(&nodes, node ? "," : "");
		str_add(&ranks, node ? ";" : "");
		for (int i = 0; i < job->size; i++) {
			if (job->nodes[i] != node)
				continue;
			if (!job->local_rank[i])
				str_add(&nodes, job->hosts[i]);
			str_addf(&ranks, "%s%d", before, i);
			before = ",";
		}
	}
	for (int i = 0; i < job->n_local; i++)
		str_addf(&peers, "%s%d", i ? "," : "", job->local[i]);
	job->node_list = str_take(&nodes);
	job->rank_list = str_take(&ranks);
	job->peers = str_take(&peers);
	return job->node_list && job->rank_list && job->peers ? 0 : -1;
}

int pmix_job_init(struct pmix_job *job, const char *const *hosts, int size, int rank,
		  struct error *err)
{
	*job = (struct pmix_job){0};
	if (size < 1 || rank < 0 || rank >= size)
		return error_set(err, RC_INVALID, "there is no rank %d of %d", rank, size);
	job->hosts = calloc((size_t)size, sizeof(*job->hosts));
	job->nodes = calloc((size_t)size, sizeof(*job->nodes));
	job->local_rank = calloc((size_t)size, sizeof(*job->local_rank));
	job->local = calloc((size_t)size, sizeof(*job->local));
	if (!job->hosts || !job->nodes || !job->local_rank || !job->local)
		goto no_memory;
	job->size = size;
	for (int i = 0; i < size; i++) {
		job->hosts[i] = strdup(hosts[i]);
		if (!job->hosts[i])
			goto no_memory;
	}
	job_place_ranks(job, rank);
	if (!job_write_lists(job))
		return 0;
no_memory:
	pmix_job_release(job);
	return error_set(err, RC_NO_MEMORY, "out of memory");
}

void pmix_job_release(struct pmix_job *job)
{
	for (int i = 0; i < job->size; i++)
		free(job->hosts[i]);
	free(job->hosts);
	free(job->nodes);
	free(job->local_rank);
	free(job->local);
	free(job->node_list);
	free(job->rank_list);
	free(job->peers);
	*job = (struct pmix_job){0};
}

/* ---- as PMIx wants it ---- */

static struct pmix_abi_info *info_next(struct pmix_abi_info **at, const char *key,
				       enum pmix_abi_type type)
{
	struct pmix_abi_info *i = (*at)++;

	strncpy(i->key, key, sizeof(i->key) - 1);
	i->value.type = (uint16_t)type;
	return i;
}

static void info_u32(struct pmix_abi_info **at, const char *key, int value)
{
	info_next(at, key, PMIX_ABI_UINT32)->value.data.u32 = (uint32_t)value;
}

static void info_u16(struct pmix_abi_info **at, const char *key, int value)
{
	info_next(at, key, PMIX_ABI_UINT16)->value.data.u16 = (uint16_t)value;
}

static void info_rank(struct pmix_abi_info **at, const char *key, int value)
{
	info_next(at, key, PMIX_ABI_RANK)->value.data.u32 = (uint32_t)value;
}

static void info_string(struct pmix_abi_info **at, const char *key, char *value)
{
	info_next(at, key, PMIX_ABI_STRING)->value.data.string = value;
}

static void job_describe_rank(const struct pmix_job *job, int rank, struct pmix_abi_info *items)
{
	struct pmix_abi_info *at = items;

	info_rank(&at, PMIX_ABI_KEY_RANK, rank); /* the first one says whose these are */
	info_u32(&at, PMIX_ABI_KEY_APPNUM, 0);
	info_u16(&at, PMIX_ABI_KEY_LOCAL_RANK, job->local_rank[rank]);
	info_u16(&at, PMIX_ABI_KEY_NODE_RANK, job->local_rank[rank]);
	info_rank(&at, PMIX_ABI_KEY_GLOBAL_RANK, rank);
	info_rank(&at, PMIX_ABI_KEY_APP_RANK, rank);
	info_u32(&at, PMIX_ABI_KEY_NODEID, job->nodes[rank]);
	info_string(&at, PMIX_ABI_KEY_HOSTNAME, job->hosts[rank]);
}

int pmix_job_describe(const struct pmix_job *job, const struct pmix_api *api, char *space,
		      char *folder, struct pmix_job_info *info, struct error *err)
{
	size_t size = (size_t)job->size;
	struct pmix_abi_info *at;

	*info = (struct pmix_job_info){0};
	info->items = calloc(JOB_ITEMS + size, sizeof(*info->items));
	info->arrays = calloc(size, sizeof(*info->arrays));
	info->rank_items = calloc(RANK_ITEMS * size, sizeof(*info->rank_items));
	if (!info->items || !info->arrays || !info->rank_items) {
		pmix_job_info_release(info);
		return error_set(err, RC_NO_MEMORY, "out of memory");
	}
	if (api->PMIx_generate_regex(job->node_list, &info->node_map) ||
	    api->PMIx_generate_ppn(job->rank_list, &info->proc_map)) {
		pmix_job_info_release(info);
		return error_set(err, RC_ERROR, "libpmix cannot describe the nodes '%.200s'",
				 job->node_list);
	}
	at = info->items;
	info_u32(&at, PMIX_ABI_KEY_UNIV_SIZE, job->size);
	info_u32(&at, PMIX_ABI_KEY_JOB_SIZE, job->size);
	info_u32(&at, PMIX_ABI_KEY_MAX_PROCS, job->size);
	info_string(&at, PMIX_ABI_KEY_JOBID, space);
	info_u32(&at, PMIX_ABI_KEY_JOB_NUM_APPS, 1);
	info_u32(&at, PMIX_ABI_KEY_NUM_NODES, job->n_nodes);
	info_string(&at, PMIX_ABI_KEY_NODE_MAP, info->node_map);
	info_string(&at, PMIX_ABI_KEY_PROC_MAP, info->proc_map);
	info_u32(&at, PMIX_ABI_KEY_LOCAL_SIZE, job->n_local);
	info_u32(&at, PMIX_ABI_KEY_NODE_SIZE, job->n_local);
	info_string(&at, PMIX_ABI_KEY_LOCAL_PEERS, job->peers);
	info_rank(&at, PMIX_ABI_KEY_LOCALLDR, job->local[0]);
	info_string(&at, PMIX_ABI_KEY_TMPDIR, folder);
	info_string(&at, PMIX_ABI_KEY_NSDIR, folder);
	for (size_t i = 0; i < size; i++) {
		job_describe_rank(job, (int)i, info->rank_items + i * RANK_ITEMS);
		info->arrays[i] = (struct pmix_abi_array){
			.type = PMIX_ABI_INFO,
			.n = RANK_ITEMS,
			.items = info->rank_items + i * RANK_ITEMS,
		};
		info_next(&at, PMIX_ABI_KEY_PROC_DATA, PMIX_ABI_DATA_ARRAY)->value.data.array =
			&info->arrays[i];
	}
	info->n = (size_t)(at - info->items);
	return 0;
}

void pmix_job_info_release(struct pmix_job_info *info)
{
	free(info->items);
	free(info->arrays);
	free(info->rank_items);
	free(info->node_map);
	free(info->proc_map);
	*info = (struct pmix_job_info){0};
}
