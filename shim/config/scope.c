/* SPDX-License-Identifier: MIT */
/* Names of shares. */
#include "config/scope.h"

#include <string.h>

bool share_name_valid(const char *share)
{
	size_t n = strnlen(share, SHARE_NAME_MAX + 1);

	return n > 0 && n <= SHARE_NAME_MAX && share[0] != '.' &&
	       strspn(share, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
	           n;
}
