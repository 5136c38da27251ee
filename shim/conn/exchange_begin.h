/* SPDX-License-Identifier: MIT */
/* How an exchange on a connection begins, as traffic.c and tls_traffic.c see it. Async-signal-safe.
 */
#ifndef RETRYBUDGET_CONN_EXCHANGE_BEGIN_H
#define RETRYBUDGET_CONN_EXCHANGE_BEGIN_H

#include "conn/sockets.h"

/* The entry of a watched number, or NULL if it turns out to be somebody else's. errno may change.
 */
struct socket_entry *exchange_entry(int fd);

/* A request is about to be sent. fingerprint: as looked at. Returns TRAFFIC_BEGUN, or fingerprint
 * if that is still to be told to exchange_went(). errno is left alone. */
uint32_t exchange_begin(int fd, uint32_t fingerprint);

/* It went. state: as it was read. errno may change. */
void exchange_went(int fd, struct socket_entry *entry, enum socket_state state,
                   uint32_t fingerprint);

/* The request that has begun did not go. errno may change. */
void exchange_take_back(int fd);

#endif
