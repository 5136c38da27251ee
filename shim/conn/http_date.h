/* SPDX-License-Identifier: MIT */
/* What Retry-After says. Pure. */
#ifndef RETRYBUDGET_CONN_HTTP_DATE_H
#define RETRYBUDGET_CONN_HTTP_DATE_H

#include <stddef.h>
#include <stdint.h>

/* ns from now until the moment that the text of a Retry-After names: seconds, or a date in one of
 * the three forms of RFC 9110 5.6.7. now: seconds since 1970. -1: it is neither; 0: it has
 * passed. */
int64_t http_retry_after(const char *value, int64_t now);

#endif
