/* SPDX-License-Identifier: MIT */
/*
 * Where a throttled connect can be sent so that no packet leaves the machine.
 */
#ifndef RETRYBUDGET_PACE_SINKHOLE_H
#define RETRYBUDGET_PACE_SINKHOLE_H

#include <netinet/in.h>
#include <sys/socket.h>

/* Finds an address of this machine, port 0, which nobody can listen on, that fd can start a connect
 * to in place of one to target; of the socket's family, so *end may hold a sockaddr_in. Returns its
 * length, 0 where there is none. Async-signal-safe; errno is changed. */
socklen_t sinkhole_find(int fd, const struct sockaddr *target, socklen_t target_len,
                        struct sockaddr_in6 *end);

#endif
