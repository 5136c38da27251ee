/* SPDX-License-Identifier: MIT */
/* A list of servers: unix:/path, host:port or [address]:port, parted by commas. Async-signal-safe.
 */
#ifndef RETRYBUDGET_CONFIG_SERVERS_H
#define RETRYBUDGET_CONFIG_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVERS_MOST 8

struct server {
	char host[108]; /* or the path of a socket; the address is without its brackets */
	uint16_t port;  /* 0: host is a path */
};

/* The next of a list, which moves on. False at the end, or where it is none: then *list is NULL. */
bool server_next(const char **list, struct server *server);

/* True if all are good, and there are no more than SERVERS_MOST and one at least. */
bool servers_are_valid(const char *list);

#endif
