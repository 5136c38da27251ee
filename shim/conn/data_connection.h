/* SPDX-License-Identifier: MIT */
/*
 * Data connections, as FTP has them: the program says nothing on one, for it has said what it wants
 * on another connection to the same machine, and the peer ends it when all is said, which may be
 * nothing. Async-signal-safe; errno is left alone.
 */
#ifndef RETRYBUDGET_CONN_DATA_CONNECTION_H
#define RETRYBUDGET_CONN_DATA_CONNECTION_H

#include "conn/sockets.h"

/* True if that is what the peer has just ended, without a byte. One system call, and a look at
 * every connection of the process. */
bool data_connection_is_over(int fd, const struct socket_entry *entry);

#endif
