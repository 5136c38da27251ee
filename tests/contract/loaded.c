/* SPDX-License-Identifier: MIT */
/*
 * Other ways to a libc call than a call of it: its address, dlsym, a second copy of libc in a
 * namespace of its own (HAZARDS 56), and libraries that come and go.
 */
#include "trap.h"

#include <dlfcn.h>

typedef int connector(int, const struct sockaddr *, socklen_t);

static connector *as_connector(void *found)
{
	connector *call = NULL;

	memcpy(&call, &found, sizeof(call));
	return call;
}

static void try_by(const char *how, connector *call, uint16_t port, uint16_t bad)
{
	struct sockaddr_in to = loopback(port), nowhere = loopback(bad);
	int fd = socket(AF_INET, SOCK_STREAM, 0), refused;

	refused = call(fd, (struct sockaddr *)&nowhere, sizeof(nowhere));
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	printf("%s: %d, %d", how, refused, call(fd, (struct sockaddr *)&to, sizeof(to)));
	printf(", %s\n", echo(fd, "word") ? "works" : "broken");
	close(fd);
}

int main(void)
{
	uint16_t port = start_answering(), bad;
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), *other;
	int held;

	bad = refusing_port(&held);
	try_by("address", connect, port, bad);
	try_by("default", as_connector(dlsym(RTLD_DEFAULT, "connect")), port, bad);
	try_by("of libc", as_connector(dlsym(libc, "connect")), port, bad);
	printf("one address: %s\n",
	       as_connector(dlsym(RTLD_DEFAULT, "connect")) == connect ? "yes" : "no");
	other = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
	if (other != NULL)
		try_by("second libc", as_connector(dlsym(other, "connect")), port, bad);
	for (int i = 0; i < 20; i++) {
		void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);

		if (library == NULL || strcmp(talk(port), "works") != 0 || dlclose(library) != 0)
			printf("broken at %d\n", i);
	}
	printf("message: %s\n", dlerror() == NULL ? "none" : "one");
	return 0;
}
