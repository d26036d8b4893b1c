/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks functions up in every way and prints what differs from what it must be, or "right". What
 * stands in front of dlsym for the sake of OpenCL must not show: what is found for RTLD_NEXT and
 * RTLD_DEFAULT depends on who asks, and dlerror tells about the last call only.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong;

static void check(int holds, const char *what)
{
	if (holds)
		return;
	printf("wrong: %s\n", what);
	wrong = 1;
}

/* Exported, as libc's is; the program's own comes first. */
__attribute__((visibility("default"))) int daemon(int nochdir, int noclose)
{
	return nochdir + noclose;
}

int main(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW), *self = dlopen(NULL, RTLD_NOW), *found;
	void *(*stored)(void *, const char *) = dlsym;
	Dl_info info = {0};

	check(libc && self, "dlopen");
	check(dlsym(self, "daemon") == (void *)&daemon, "the program's handle");
	check(dlsym(RTLD_DEFAULT, "daemon") == (void *)&daemon, "RTLD_DEFAULT");
	check(stored(RTLD_DEFAULT, "daemon") == (void *)&daemon, "RTLD_DEFAULT, by a pointer");
	/* The next after the program, which is the preloaded object's where one has it. */
	found = dlsym(RTLD_NEXT, "daemon");
	check(found && found != (void *)&daemon, "RTLD_NEXT");
	if (getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "libretally")) {
		check(dladdr(found, &info) && strstr(info.dli_fname, "libretally"),
		      "RTLD_NEXT in front of a preloaded object");
		check(dlsym(libc, "daemon") != found, "libc's handle");
	}
	check(!dlsym(libc, "no_such_function"), "a function that is not there");
	check(dlerror() != NULL, "dlerror after a failure");
	check(dlsym(libc, "getpid") != NULL && !dlerror(), "dlerror after a success");
	check(!dlsym(RTLD_DEFAULT, "clNoSuchFunction") && dlerror() != NULL,
	      "one that might be OpenCL's");
	if (!wrong)
		printf("right\n");
	return wrong;
}
