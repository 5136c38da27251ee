/* SPDX-License-Identifier: MIT */
/*
 * A plug-in that calls a TLS library which it does not name as needed, and has not called yet when
 * that is unloaded and another version comes: what it calls then is the other. Built four times: as
 * the program, as two versions of a library that only has SSL_read, and as the plug-in.
 */
#include "probe.h"

#include <dlfcn.h>
#include <limits.h>

int SSL_read(void *session, void *data, int n);

#if defined(THE_LIBRARY)

int SSL_read(void *session, void *data, int n)
{
	(void)session, (void)data, (void)n;
	return THE_LIBRARY;
}

#elif defined(A_PLUGIN)

int tls_unloaded_read(void)
{
	return SSL_read(NULL, NULL, 0);
}

#else

/* What lies beside the program, opened lazily. */
static void *beside(const char *name, int mode)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	void *opened;

	if (n <= 0)
		give_up("/proc");
	path[n] = '\0';
	strcpy(strrchr(path, '/') + 1, name);
	opened = dlopen(path, RTLD_LAZY | mode);
	if (opened == NULL)
		give_up(dlerror());
	return opened;
}

int main(void)
{
	int held, (*read_by_it)(void);
	uint16_t port = refusing_port(&held);
	void *first = beside("tls_unloaded_1.so", RTLD_GLOBAL);
	void *plugin = beside("tls_unloaded_plugin.so", 0);
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t place = (uintptr_t)dlsym(first, "SSL_read") & ~(page - 1);

	attempt(port, NULL); /* all that is loaded is looked through */
	dlclose(first);
	/* The other must not come to lie where the first was. */
	if (mmap((void *)place, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
	         -1, 0) != (void *)place)
		give_up("it has not been unloaded");
	beside("tls_unloaded_2.so", RTLD_GLOBAL);
	attempt(port, NULL);
	read_by_it = (int (*)(void))dlsym(plugin, "tls_unloaded_read");
	printf("read by library %d\n", read_by_it());
	return 0;
}

#endif
