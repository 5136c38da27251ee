/* SPDX-License-Identifier: MIT */
/* The file that holds the password of a user of the fleet's servers. */
#ifndef RETRYBUDGET_TOOL_FLEET_PASSWORD_H
#define RETRYBUDGET_TOOL_FLEET_PASSWORD_H

#include <sys/types.h>

#define FLEET_PASSWORD 512

/* Reads its first line, which is not ended by a NUL. Returns the length, 0 where path is empty, or
 * -1 with a reason that is no secret. */
ssize_t fleet_password(const char *path, char password[FLEET_PASSWORD], const char **reason);

#endif
