/* SPDX-License-Identifier: MIT */
/*
 * Hooks on calls of libraries that a program may or may not have (LIBRARY in sys/hooks.def). They
 * are not exported: a program that asks whether it has OpenSSL, by a weak reference or dlsym(),
 * would be told that it has, and a plug-in with a copy of its own would get ours in its place.
 * Instead the slot through which an object calls (its global offset table) is led to the hook, in
 * those objects only that import the call, and only once the configuration asks for it.
 */
#ifndef RETRYBUDGET_HOOK_IMPORTS_H
#define RETRYBUDGET_HOOK_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>

#define IMPORTS_MOST 16 /* in one list */

struct import {
	const char *name;
	void *hook;
	void **real; /* what the hook calls; NULL until the first slot is led to the hook */
};

/*
 * Leads to the hooks what the objects loaded by now import, if any was loaded since the last time.
 * The real call is the one that the first object in the loader's order defines; objects that call
 * another of the same name (two versions of a library in one process) are left alone, and so are
 * objects that define it themselves.
 *
 * Thread-safe; what loses a race with the loader's lazy binding stays as it was. Takes the
 * loader's lock of dl_iterate_phdr, as every C++ exception does: not for a signal handler that may
 * have interrupted dlopen. errno is left alone.
 */
void imports_place(const struct import *imports, size_t count);

#endif
