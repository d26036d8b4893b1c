/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenCL runtime of the replay engine: a layer between the program and the vendor's library.
 *
 * The loader of OpenCL opens the object that holds this (OPENCL_LAYERS=/path/libretally.so) when
 * the program makes its first call, runs its constructors, and calls clInitLayer. Whoever wants
 * dispatches counted calls runtime_opencl_attach before that, at the latest in a constructor of the
 * same object; without it clInitLayer hooks nothing and the program runs as if the layer were not
 * there. A library that loads no layers (a vendor's own, ocl-icd before 2.3.0, an old loader
 * bundled with a program) never calls clInitLayer: an object that is preloaded can take its calls
 * with runtime_opencl_take_calls.
 *
 * What is tracked, what ends a window and what is declined: docs/opencl.md, opencl_rules.c.
 */
#ifndef RETALLY_RUNTIME_OPENCL_H
#define RETALLY_RUNTIME_OPENCL_H

#include "replay/replay.h"

#include <stdbool.h>
#include <stdint.h>

struct runtime_opencl_device {
	uint32_t number;
	const char *name;     /* CL_DEVICE_NAME */
	const char *platform; /* CL_PLATFORM_NAME */
	bool is_cpu;          /* its work runs in threads of this process */
};

struct runtime_opencl_options {
	/* The source that counts on a device, or NULL with *why_out (static) set: then its
	 * dispatches are declined with that reason. Called once for each device, from the program's
	 * thread that makes its first context. The native object that the source is given is a
	 * struct runtime_threads for a CPU device, else the vendor's cl_device_id. */
	const struct source *(*choose)(void *data, const struct runtime_opencl_device *device,
				       const char **why_out);
	void *data;
	/* May be NULL. The library has started threads of its own, in a call that this thread of
	 * the program made. */
	void (*threads)(void);
	/* NULL: the layer's own callbacks. Tests put others in their place. */
	const struct runtime *callbacks;
	/* Moves memory by commands also where the device's memory could be reached directly. For
	 * tests of what only other devices need. */
	bool by_commands;
};

/* Once per process, before the program's first call to OpenCL; the engine, and what the options
 * point to, must outlive the process or runtime_opencl_detach. Fails when out of memory. */
int runtime_opencl_attach(struct replay *engine, const struct runtime_opencl_options *options,
			  struct error *err);
/* For who wants to attach no earlier than when the program uses OpenCL: start is called by
 * clInitLayer when nothing is attached, in the program's thread, and may call
 * runtime_opencl_attach.
 */
void runtime_opencl_on_start(void (*start)(void));
/* After runtime_opencl_attach, by an object that is preloaded, before the program runs (its
 * relocation is over, there is one thread): takes the calls of OpenCL that will not come by
 * clInitLayer, of the program, of the libraries it was linked with, and of what it opens and looks
 * up (dlsym with a handle) later. layers: the value of OPENCL_LAYERS or NULL. Where it finds that
 * the program was linked with a loader that loads this layer, nothing changes. Who takes calls
 * registers no exit handler: the caller detaches. */
void runtime_opencl_take_calls(const char *layers);
/* The layer's callbacks. */
const struct runtime *runtime_opencl_callbacks(void);
/* Ends the windows ("exit") as long as the vendor's library still works; the layer does this by
 * itself when the program exits, before the library's own exit handlers. From then on calls go
 * straight through. The engine can be closed afterwards. */
void runtime_opencl_detach(void);

#endif
