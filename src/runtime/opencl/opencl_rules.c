/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which calls of the program end a window, in one table. A window ends before anything by which the
 * host could see or change the device's state; what the device does by itself is recorded instead.
 */
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

enum rule {
	/* Ends the windows of the device, or of all devices of the context; but nothing is done
	 * while there is a user event that is not set, for then a wait might never end. No window
	 * is open at such a time: making the user event ended it, and nothing is recorded until it
	 * is set. */
	RULE_ENDS,
	/* The same, whatever there is: a window must not outlive what it uses. */
	RULE_ENDS_ALWAYS,
};
static const struct {
	const char *call;
	enum rule rule;
} rules[] = {
	/* The host waits. */
	{"clFinish", RULE_ENDS},
	{"clWaitForEvents", RULE_ENDS},
	{"clEnqueueReadBuffer", RULE_ENDS},
	{"clEnqueueReadBufferRect", RULE_ENDS},
	{"clEnqueueReadImage", RULE_ENDS},
	{"clEnqueueMapBuffer", RULE_ENDS},
	{"clEnqueueMapImage", RULE_ENDS},
	{"clEnqueueWriteBuffer (blocking)", RULE_ENDS},
	{"clEnqueueWriteBufferRect (blocking)", RULE_ENDS},
	{"clEnqueueWriteImage (blocking)", RULE_ENDS},
	/* The host may learn that something is done, or changes memory by itself. */
	{"clGetEventInfo", RULE_ENDS},
	{"clGetEventProfilingInfo", RULE_ENDS},
	{"clEnqueueUnmapMemObject", RULE_ENDS},
	{"clEnqueueMigrateMemObjects", RULE_ENDS},
	{"clSetEventCallback", RULE_ENDS},
	/* Something ends that recorded operations use. */
	{"clReleaseMemObject", RULE_ENDS_ALWAYS},
	{"clReleaseCommandQueue", RULE_ENDS_ALWAYS},
	{"clReleaseContext", RULE_ENDS_ALWAYS},
	{"clReleaseSampler", RULE_ENDS_ALWAYS},
	{"clBuildProgram", RULE_ENDS_ALWAYS},
	{"clCompileProgram", RULE_ENDS_ALWAYS},
	/* What comes later may wait for the host. */
	{"clCreateUserEvent", RULE_ENDS_ALWAYS},
	/* Memory and work that the layer cannot follow. */
	{"clEnqueueNativeKernel", RULE_ENDS},
	{"clEnqueueSVMFree", RULE_ENDS},
	{"clEnqueueSVMMemcpy", RULE_ENDS},
	{"clEnqueueSVMMemFill", RULE_ENDS},
	{"clEnqueueSVMMap", RULE_ENDS},
	{"clEnqueueSVMUnmap", RULE_ENDS},
	{"clEnqueueSVMMigrateMem", RULE_ENDS},
	{"clEnqueueAcquireGLObjects", RULE_ENDS},
	{"clEnqueueReleaseGLObjects", RULE_ENDS},
	{"clEnqueueAcquireEGLObjectsKHR", RULE_ENDS},
	{"clEnqueueReleaseEGLObjectsKHR", RULE_ENDS},
	/* Devices that share memory; more commands than are kept apart. */
	{"another device of the context", RULE_ENDS},
	{"many commands", RULE_ENDS},
	{"an unknown object", RULE_ENDS},
	{"exit", RULE_ENDS_ALWAYS},
};

void rules_apply(const char *call, struct device *d)
{
	const char *name = NULL;
	enum rule rule = RULE_ENDS;

	/* In a callback the vendor's thread must not wait. What is launched from there is never in
	 * a window, and a window waits for callbacks before it ends. */
	if (!d || in_callback)
		return;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules) && !name; i++)
		if (!strcmp(rules[i].call, call)) {
			name = rules[i].call;
			rule = rules[i].rule;
		}
	if (!name)
		return;
	if (rule == RULE_ENDS && atomic_load(&layer.user_events))
		return;
	replay_boundary(d->replay, name);
	order_forget(d);
}

void rules_apply_context(const char *call, struct context *c)
{
	uint32_t n = c ? c->n_devices : layer.n_devices;

	for (uint32_t i = 0; i < n; i++) {
		struct device *d = c ? c->devices[i] : &layer.devices[i];

		if (d->replay)
			rules_apply(call, d);
	}
}
