/* SPDX-License-Identifier: MIT */
/*
 * dlopen finds libraries by the RUNPATH and the $ORIGIN of its caller, which it knows by the return
 * address: a hook must not get in between. Built with -DLOAD_CALLER this file is a library, to be
 * preloaded, with a RUNPATH that leads to the one built with -DLOAD_SIBLING; its constructor opens
 * that too, which is before the shim's if it is named after the shim. Built without, it is the
 * program. Both libraries have a who(): with RTLD_DEEPBIND the sibling finds its own.
 */
#include <dlfcn.h>
#include <stddef.h>

#if defined LOAD_SIBLING

const char *who(void)
{
	return "itself";
}

const char *load_who(void)
{
	return who();
}

#elif defined LOAD_CALLER

const char *load_before;

const char *who(void)
{
	return "the preload";
}

/* Not a tail call: the return address must be in this library. */
void *load_open(const char *name, int flags)
{
	void *library = dlopen(name, flags);

	__asm__ volatile("" ::: "memory");
	return library;
}

__attribute__((constructor)) static void begin(void)
{
	void *library = load_open("libsibling.so", RTLD_NOW);

	load_before = library ? "found" : dlerror();
	if (library)
		dlclose(library);
}

#else

#include "calls.h"

static void opened(const char *what, void *library)
{
	int err = errno;
	const char *(*load_who)(void) = NULL;
	const char *error = dlerror();
	void *found;

	printf("dlopen %s: %s %s\n", what,
	       library ? "found"
	       : error ? error
	               : "no error",
	       library && err == UNTOUCHED ? "untouched" : "");
	if (library == NULL)
		return;
	found = dlsym(library, "load_who");
	dlerror();
	memcpy(&load_who, &found, sizeof(found));
	if (load_who != NULL)
		printf("who: %s\n", load_who());
	dlclose(library);
}

#define OPEN(what, call) (errno = UNTOUCHED, opened(what, call))

static void by_the_caller(void *(*load_open)(const char *, int))
{
	OPEN("by RUNPATH", load_open("libsibling.so", RTLD_NOW));
	OPEN("by $ORIGIN", load_open("$ORIGIN/plug/libsibling.so", RTLD_LAZY));
	OPEN("deeply bound", load_open("libsibling.so", RTLD_NOW | RTLD_DEEPBIND));
	OPEN("missing", load_open("libno-such-thing.so", RTLD_NOW));
	OPEN("loaded?", load_open("libsibling.so", RTLD_NOW | RTLD_NOLOAD));
}

int main(void)
{
	void *(*load_open)(const char *, int) = NULL;
	const char **before = dlsym(RTLD_DEFAULT, "load_before");
	void *found = dlsym(RTLD_DEFAULT, "load_open");

	dlerror();
	OPEN("the program", dlopen(NULL, RTLD_NOW));
	OPEN("by name", dlopen("libm.so.6", RTLD_NOW));
	OPEN("global", dlopen("libm.so.6", RTLD_LAZY | RTLD_GLOBAL));
	OPEN("deeply bound", dlopen("libm.so.6", RTLD_NOW | RTLD_DEEPBIND));
	OPEN("nowhere", dlopen("/no/such/file.so", RTLD_NOW));
	OPEN("not a library", dlopen("/proc/self/status", RTLD_NOW));
	OPEN("without a mode", dlopen("libm.so.6", 0));
	OPEN("the caller's", dlopen("libsibling.so", RTLD_NOW));
	memcpy(&load_open, &found, sizeof(found));
	if (before != NULL)
		printf("before: %s\n", *before);
	if (load_open != NULL)
		by_the_caller(load_open);
	return 0;
}

#endif
