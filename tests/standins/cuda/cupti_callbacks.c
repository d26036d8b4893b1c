/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of the stand-in CUPTI: one listener a process, told by the stand-in driver. */
#include "cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct cupti_subscriber {
	cupti_callback *callback;
	void *user;
};
static struct cupti_subscriber the_subscriber;

struct standin_driver *driver(void)
{
	static struct standin_driver *found;
	void *library;

	if (!found && (library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)))
		found = dlsym(library, "standin_driver");
	return found && found->initialised() ? found : NULL;
}

static void hook(int domain, uint32_t id, const void *data)
{
	cupti_callback *callback = the_subscriber.callback;

	if (callback)
		callback(the_subscriber.user, domain, id, data);
}

STANDIN_API int cuptiSubscribe(struct cupti_subscriber **subscriber, cupti_callback *callback,
			       void *user);
STANDIN_API int cuptiSubscribe(struct cupti_subscriber **subscriber, cupti_callback *callback,
			       void *user)
{
	if (!callback || !subscriber)
		return refuse(CUPTI_INVALID_PARAMETER, "%s: no callback", __func__);
	if (the_subscriber.callback || standin_fault("subscriber", NULL))
		return CUPTI_MULTIPLE_SUBSCRIBERS;
	the_subscriber = (struct cupti_subscriber){callback, user};
	*subscriber = &the_subscriber;
	if (driver())
		driver()->hook = hook;
	return 0;
}

STANDIN_API int cuptiSubscribe_v2(struct cupti_subscriber **subscriber, cupti_callback *callback,
				  void *user, struct cupti_subscriber_params *p);
STANDIN_API int cuptiSubscribe_v2(struct cupti_subscriber **subscriber, cupti_callback *callback,
				  void *user, struct cupti_subscriber_params *p)
{
	int rc;

	if (!p || p->size != sizeof(*p) || !p->name || strlen(p->name) > 53 ||
	    (p->old_name && p->old_size < 64))
		return refuse(CUPTI_INVALID_PARAMETER, "%s: the parameters", __func__);
	rc = cuptiSubscribe(subscriber, callback, user);
	if (rc == CUPTI_MULTIPLE_SUBSCRIBERS && p->old_name)
		snprintf(p->old_name, p->old_size, "another tool");
	return rc;
}

STANDIN_API int cuptiUnsubscribe(struct cupti_subscriber *subscriber);
STANDIN_API int cuptiUnsubscribe(struct cupti_subscriber *subscriber)
{
	if (subscriber != &the_subscriber || !the_subscriber.callback)
		return refuse(CUPTI_INVALID_PARAMETER, "%s: nobody is subscribed", __func__);
	if (driver())
		driver()->hook = NULL;
	the_subscriber.callback = NULL;
	return 0;
}

static int enable(const char *function, uint32_t on, const struct cupti_subscriber *subscriber,
		  int domain, uint32_t first, uint32_t last)
{
	unsigned char *table;
	uint32_t room;

	if (subscriber != &the_subscriber || !the_subscriber.callback || on > 1 || !driver())
		return refuse(CUPTI_INVALID_PARAMETER, "%s: no subscriber", function);
	if (domain == CUPTI_DRIVER_API) {
		table = driver()->calls;
		room = driver()->n_calls + 1;
	} else if (domain == CUPTI_RESOURCE) {
		table = driver()->resources;
		room = STANDIN_EVENTS;
	} else {
		return 0; /* known, and nothing ever comes */
	}
	if (last >= room && last != UINT32_MAX)
		return refuse(CUPTI_INVALID_PARAMETER, "%s: callback %u", function, last);
	for (uint32_t i = first; i < room && i <= last; i++)
		table[i] = (unsigned char)on;
	return 0;
}

STANDIN_API int cuptiEnableCallback(uint32_t on, struct cupti_subscriber *subscriber, int domain,
				    uint32_t id);
STANDIN_API int cuptiEnableCallback(uint32_t on, struct cupti_subscriber *subscriber, int domain,
				    uint32_t id)
{
	return enable(__func__, on, subscriber, domain, id, id);
}

STANDIN_API int cuptiEnableDomain(uint32_t on, struct cupti_subscriber *subscriber, int domain);
STANDIN_API int cuptiEnableDomain(uint32_t on, struct cupti_subscriber *subscriber, int domain)
{
	return enable(__func__, on, subscriber, domain, 1, UINT32_MAX);
}

STANDIN_API int cuptiGetCallbackName(int domain, uint32_t id, const char **name);
STANDIN_API int cuptiGetCallbackName(int domain, uint32_t id, const char **name)
{
	if (domain != CUPTI_DRIVER_API || !driver() || id > driver()->n_calls)
		return CUPTI_INVALID_PARAMETER;
	*name = driver()->call_names[id];
	return 0;
}
