/* SPDX-License-Identifier: MIT */
/*
 * The listen lines of [admission] sections: which listening sockets a section is for.
 *
 *   :8080  *:8080			every socket that listens on this port
 *   127.0.0.1:80  0.0.0.0:80  [::]:80	those bound to this address
 *   unix:/run/app.sock  unix:@name	those of this path or abstract name
 *
 * A socket that two of them fit gets the one with the address. Pure and async-signal-safe.
 */
#ifndef RETRYBUDGET_CONFIG_LISTEN_H
#define RETRYBUDGET_CONFIG_LISTEN_H

#include "config/config.h"
#include "sys/text.h"

enum listener_kind {
	LISTENER_PORT, /* of any address */
	LISTENER_ADDRESS,
	LISTENER_PATH, /* config.text holds "/path" or "@name" */
};

/* Compiles one address of n bytes for an admission section and appends it to the config. False,
 * with reason and remedy added to why, if it is not one or there is no room. Where the very same
 * one is there already nothing is appended, and *twin is the section that has it; else -1. */
bool listener_add(struct config *config, int admission, const char *string, size_t n, int *twin,
                  struct text *why);

/* The index of the admission section for a socket that is bound to this address, -1: none. */
int listener_find(const struct config *config, const struct sockaddr *address, socklen_t len);

/* Adds the address as an operator would write it. */
void listener_print(const struct config *config, int listener, struct text *out);

#endif
