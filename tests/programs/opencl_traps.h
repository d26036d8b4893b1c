/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of opencl_traps share: a context of all devices, queues, the program with the
 * kernels of opencl_traps.c, and what makes, runs and shows. A case gets its name, which begins its
 * line.
 */
#ifndef OPENCL_TRAPS_H
#define OPENCL_TRAPS_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* clang-format off */
#ifdef WITH_DLOPEN
#include "opencl_traps_calls.h"
#endif
#include "opencl_program.h"
/* clang-format on */

#pragma GCC visibility push(hidden)

#define N 256u
extern cl_context context;
extern cl_device_id device, devices[4];
extern cl_uint n_devices;
extern cl_program program;
extern cl_command_queue queue, other, loose; /* in order, in order, out of order */
extern const size_t items;                   /* N */
extern int host[N];

cl_mem buffer_of(cl_context c, cl_mem_flags flags, size_t bytes, void *from);
cl_mem buffer(void);
cl_kernel kernel_of(const char *name);
cl_program build_as(cl_context c, const char *text, const char *options);
cl_program build(cl_context c, const char *text);
void arg(cl_kernel k, cl_uint i, cl_mem m);
void fill(cl_command_queue q, cl_mem m, int v);
void run(cl_command_queue q, cl_kernel k, cl_uint n, const cl_event *wait, cl_event *event);
uint64_t sum_of(const void *bytes, size_t n);
void say(const char *name, const char *what, uint64_t sum, int first, int last);
void show(const char *name, const char *what, cl_command_queue q, cl_mem m);

/* opencl_traps_buffers.c */
void case_plain(const char *name);
void case_const(const char *name);
void case_parts(const char *name);
void case_host_ptr(const char *name);
void case_no_access(const char *name);
void case_unset(const char *name);
void case_sparse(const char *name);
void case_write_behind(const char *name);
void case_copies(const char *name);
void case_map_between(const char *name);

/* opencl_traps_kernels.c */
void case_local(const char *name);
void case_atomic(const char *name);
void case_changed_args(const char *name);
void case_clone(const char *name);
void case_all_kernels(const char *name);
void case_printf(const char *name);
void case_program_scope(const char *name);
void case_task(const char *name);
void case_native(const char *name);
void case_rebuilt(const char *name);

/* opencl_traps_queues.c */
void case_callback(const char *name);
void case_callback_enqueues(const char *name);
void case_user_event(const char *name);
void case_user_event_two(const char *name);
void case_chain(const char *name);
void case_two_queues(const char *name);
void case_threads(const char *name);
void case_flags(const char *name);

/* opencl_traps_objects.c */
void case_retained(const char *name);
void case_reused(const char *name);
void case_two_contexts(const char *name);
void case_devices(const char *name);
void case_image(const char *name);
void case_layers(const char *name);

#pragma GCC visibility pop

#endif
