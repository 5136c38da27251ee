/* SPDX-License-Identifier: MIT */
/* A plug-in for deepbind.c: with RTLD_DEEPBIND its calls go to libc, past the shim. */
#include "../probe/probe.h"

int plug_dial(uint16_t port);
bool plug_echo(int fd);
void plug_close(int fd);

/* A connected socket, or -1 with errno set. */
int plug_dial(uint16_t port)
{
	return connected(port);
}

bool plug_echo(int fd)
{
	return echo(fd, "from the plug-in\n");
}

void plug_close(int fd)
{
	close(fd);
}
