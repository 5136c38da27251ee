/* SPDX-License-Identifier: MIT */
/* Requests that are begun where they cannot be refused. */
#ifndef RETRYBUDGET_HOOK_REQUEST_H
#define RETRYBUDGET_HOOK_REQUEST_H

#include <stddef.h>
#include <stdint.h>

/* A request inside TLS is about to be encrypted, for a session that fd carries: judged, paced and
 * begun. If it must not be sent, what carries it is not (conn/tls_session.h). Returns what
 * tls_traffic_sent() wants as the fingerprint. errno is left alone. */
uint32_t request_begin_inside(int fd, const void *data, size_t n);

#endif
