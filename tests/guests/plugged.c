/* SPDX-License-Identifier: MIT */
/*
 * A C program that loads its C++ at run time, as many servers load plug-ins: libgcc's unwinder
 * comes with it, long after the shim. Usage: plugged PLUG-IN ACTION
 */
#include "thrower.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void *found = library ? dlsym(library, "throw_act") : NULL;
	int (*act)(const char *action);

	if (!found) {
		fprintf(stderr, "plugged: %s\n", dlerror());
		return 2;
	}
	memcpy(&act, &found, sizeof(act));
	return act(argv[2]);
}
