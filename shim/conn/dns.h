/* SPDX-License-Identifier: MIT */
/* What the reply of a name server says of the server (RFC 1035 4.1.1). */
#ifndef RETRYBUDGET_CONN_DNS_H
#define RETRYBUDGET_CONN_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#define DNS_PORT 53

/* True if these parts, of which the first n bytes are filled, begin a reply that is no answer:
 * SERVFAIL or REFUSED. That there is no such name is one. Pure. */
bool dns_is_failure(const struct iovec *parts, size_t count, size_t n);

#endif
