/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This process as a client of rocprofiler-sdk: configured when the library calls us, with two
 * contexts. One is always active and tells of code objects (names of kernels) and of rocTX; the
 * other counts and is started for counted passes only, because while it is active the library runs
 * the kernels of a device one after the other: programs whose kernels wait for each other would
 * hang.
 *
 * Contexts are never touched inside the dispatch callback (the queue hangs), and never anywhere
 * after the library said that it is over.
 */
#ifndef RETALLY_SOURCE_ROCM_TOOL_H
#define RETALLY_SOURCE_ROCM_TOOL_H

#include "source/rocm/rocm_api.h"

#include <stdbool.h>

#define ROCM_AGENTS_MAX 64

struct rocm_agent { /* a GPU */
	uint64_t id;
	uint32_t node;   /* HSA_AGENT_DRIVER_NODE of the same device */
	uint32_t number; /* as shown to people, from 0 */
	char name[64];   /* "gfx90a" */
};
struct rocm_kernel {
	uint64_t id;     /* the library's */
	uint64_t object; /* as in the packet */
	char *name;      /* mangled, without ".kd"; never freed: others keep it */
	uint32_t argument_bytes;
	uint32_t group_bytes, registers;
	uint64_t module;           /* the runtime's name of its executable, 0: unknown */
	struct rocm_kernel *older; /* of the same object, gone */
};
struct rocm_tool_hooks {
	void *data;
	/* Inside hsa_init; only pointers may be changed. */
	void (*tables)(void *data, void **tables, uint64_t n);
	/* The program's rocTX ranges; may be NULL. */
	void (*range)(void *data, const char *name, bool begins);
	/* The library is to replay kernels itself, and all of its records about that, on the thread
	 * that submits; NULL: it is not. Then counting is on all the time, and `ready` is called
	 * once the library is set up, before it has devices. */
	void (*replay)(void *data, const struct rocp_tracing_record *record,
		       union rocp_user_data *user_data);
	void (*ready)(void *data);
	/* Counting is over before it began, and why. */
	void (*say)(void *data, const char *text);
	/* Something that the user should know; counting goes on. */
	void (*tell)(void *data, const char *text);
};

/* In rocprofiler_configure. hooks is copied. RC_UNSUPPORTED for versions that we do not know: no
 * function of the library was called then. RC_EXISTS when this was done before. */
int rocm_tool_configure(uint32_t version, const char *text, struct rocp_client_id *id,
			const struct rocm_tool_hooks *hooks,
			struct rocp_configure_result **result_out, struct error *err);
const struct rocm_api *rocm_tool_api(void);
void rocm_tool_tell(const char *text);
/* The GPUs among n agents as the library describes them, at most room of them; returns how many.
 * What is too short or has no name is left out. */
unsigned rocm_tool_read_agents(struct rocm_agent *out, unsigned room, const void **agents,
			       size_t n);
/* NULL: the library has no such GPU. */
const struct rocm_agent *rocm_tool_agent(uint32_t node);
/* All of them. */
unsigned rocm_tool_agents(const struct rocm_agent **agents_out);
/* By the library's number; NULL: unknown. Any thread. */
struct rocm_kernel *rocm_tool_kernel_by_id(uint64_t id);
/* Of the code object that is loaded now; NULL: unknown. Any thread. */
struct rocm_kernel *rocm_tool_kernel(uint64_t object);
/* How counting is started and stopped from now on: turn(call, data) makes the call where the
 * library stands it, and returns false when it did not and never will. Counting is then not
 * started, but stopped all the same. */
void rocm_tool_change_by(bool (*turn)(void (*call)(void *data), void *data));
/* Starts counting, or joins who did; each start that returned 0 wants a stop. */
int rocm_tool_start(struct error *err);
void rocm_tool_stop(void);
/* Whether somebody counts now. Any thread. */
bool rocm_tool_is_counting(void);

#endif
