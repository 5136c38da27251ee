/* SPDX-License-Identifier: MIT */
/* Who shares a budget. */
#ifndef RETRYBUDGET_CONFIG_SCOPE_H
#define RETRYBUDGET_CONFIG_SCOPE_H

#include <stdbool.h>

enum scope {
	SCOPE_PROCESS,
	SCOPE_USER,
	SCOPE_HOST,
};

#define SHARE_DEFAULT  "default" /* of those who have given none */
#define SHARE_NAME_MAX 63        /* bytes of a share name, without its NUL */

/* True for a share name: [A-Za-z0-9._-]{1,63}, not beginning with '.'. It becomes part of a file
 * name, hence no '/' and nothing hidden. */
bool share_name_valid(const char *share);

#endif
