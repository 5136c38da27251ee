/* SPDX-License-Identifier: MIT */
/*
 * Requests and replies inside a TLS session, fd being its carrier (conn/tls_session.h): what
 * traffic.h is for those in clear text. Of what it sees of a carrier only the ends count.
 * Async-signal-safe; errno is left alone.
 */
#ifndef RETRYBUDGET_CONN_TLS_TRAFFIC_H
#define RETRYBUDGET_CONN_TLS_TRAFFIC_H

#include "conn/sockets.h"

#include <sys/types.h>

/* What is to be known of a request before it is sent. Nothing is read that the kernel could not
 * read. */
uint32_t tls_traffic_look(int fd, const void *data, size_t n);

/* fingerprint: as looked at, or what exchange_begin() made of it. went: the library took the
 * request; else it may be handed to it again. */
void tls_traffic_sent(int fd, bool went, uint32_t fingerprint);

/* n: bytes that came; 0 or less: nothing yet, or an end: that is the connection's to tell. */
void tls_traffic_received(int fd, const void *data, ssize_t n);

/* The handshake is over. */
void tls_traffic_opened(int fd);

/* The program ends the session (close_notify): it wants no reply any more, and if it has waited for
 * one in vain that is a timeout, of which nothing will tell later. */
void tls_traffic_close_notify(int fd);

#endif
