/* SPDX-License-Identifier: MIT */
/* What the daemon of this machine says of its part of the fleet. */
#ifndef RETRYBUDGET_TOOL_FLEET_LOCAL_H
#define RETRYBUDGET_TOOL_FLEET_LOCAL_H

#include <stdio.h>

/* Prints its lines, each behind two blanks, or why there are none. */
void fleet_local_print(int port, FILE *out);

#endif
