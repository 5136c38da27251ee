/* SPDX-License-Identifier: MIT */
/* How a connection went that the program gives up, by what the kernel knows of it. */
#ifndef RETRYBUDGET_CONN_UNSEEN_READ_H
#define RETRYBUDGET_CONN_UNSEEN_READ_H

#include "conn/outcome.h"
#include "conn/tcp_info.h"

/* The failure that it was, FAILURE_NONE if none. *alive: it was a success. Counts nothing but how
 * soon answers come. errno may change. Async-signal-safe. */
enum failure unseen_read(int fd, const struct tcp_info *info, const struct socket_entry *entry,
                         struct destination *destination, bool *alive);

#endif
