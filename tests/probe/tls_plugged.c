/* SPDX-License-Identifier: MIT */
/*
 * A program that knows nothing of TLS and loads a plug-in that does, long after its start: neither
 * the plug-in nor its library is in the global scope.
 *
 * Usage: tls_plugged lazy|now|deepbind [ARGUMENT]...: opens tls_kept.so, which lies beside it, in
 * this way and calls it with the arguments
 */
#include "probe.h"

#include <dlfcn.h>
#include <limits.h>

int main(int argc, char **argv)
{
	int mode = RTLD_LOCAL;
	int (*entry)(int, char **);
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	void *plugin;

	if (n <= 0 || argc < 2)
		give_up("arguments");
	path[n] = '\0';
	strcpy(strrchr(path, '/'), "/tls_kept.so");
	mode |= strcmp(argv[1], "lazy") == 0 ? RTLD_LAZY : RTLD_NOW;
	mode |= strcmp(argv[1], "deepbind") == 0 ? RTLD_DEEPBIND : 0;
	printf("before: %s\n", dlsym(RTLD_DEFAULT, "SSL_read") ? "SSL_read" : "nothing");
	attempt(refusing_port(&(int) { 0 }), NULL); /* the shim has been at work for a while */
	plugin = dlopen(path, mode);
	entry = plugin ? (int (*)(int, char **))dlsym(plugin, "tls_kept") : NULL;
	if (entry == NULL) {
		printf("%s\n", dlerror());
		return 2;
	}
	printf("after: %s\n", dlsym(RTLD_DEFAULT, "SSL_read") ? "SSL_read" : "nothing");
	return entry(argc - 1, argv + 1);
}
