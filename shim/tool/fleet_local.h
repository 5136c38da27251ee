/* SPDX-License-Identifier: MIT */
/* What the daemon of this machine says of its part of the fleet. */
#ifndef RETRYBUDGET_TOOL_FLEET_LOCAL_H
#define RETRYBUDGET_TOOL_FLEET_LOCAL_H

#include <stdio.h>

#define FLEET_LOCAL_REPLY 65536

/* Its answer, in reply[size]; *lines: where its lines begin. Returns NULL, or why there is none. */
const char *fleet_local_get(int port, char *reply, size_t size, char **lines);

/* Prints its lines, each behind two blanks, or why there are none. */
void fleet_local_print(int port, FILE *out);

#endif
