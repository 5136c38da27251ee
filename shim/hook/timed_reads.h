/* SPDX-License-Identifier: MIT */
/* Reads on connections with a reply_timeout: where IS_TIMED. */
#ifndef RETRYBUDGET_HOOK_TIMED_READS_H
#define RETRYBUDGET_HOOK_TIMED_READS_H

#include "hook/data.h"

/* Reads where IS_TIMED. */
ssize_t recv_timed(ssize_t (*next)(int, void *, size_t, int), int fd, void *data, size_t n,
                   int flags);
ssize_t recvfrom_timed(int fd, void *data, size_t n, int flags, struct sockaddr *from,
                       socklen_t *len);
ssize_t recvmsg_timed(ssize_t (*next)(int, struct msghdr *, int), int fd, struct msghdr *message,
                      int flags);
ssize_t read_timed(ssize_t (*next)(int, void *, size_t), int fd, void *data, size_t n);
ssize_t readv_timed(int fd, const struct iovec *parts, int n);
ssize_t recv_chk_timed(int fd, void *data, size_t n, size_t space, int flags);
ssize_t recvfrom_chk_timed(int fd, void *data, size_t n, size_t space, int flags,
                           struct sockaddr *from, socklen_t *len);
ssize_t read_chk_timed(int fd, void *data, size_t n, size_t space);

#endif
