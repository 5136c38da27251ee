/* SPDX-License-Identifier: MIT */
/* The calls that carry data, made on a number with WATCH_DATAGRAM. */
#ifndef RETRYBUDGET_HOOK_DATAGRAM_CALLS_H
#define RETRYBUDGET_HOOK_DATAGRAM_CALLS_H

#include <sys/socket.h>
#include <sys/uio.h>

ssize_t datagram_send(int fd, const void *data, size_t n, int flags);
ssize_t datagram_sendto(int fd, const void *data, size_t n, int flags, const struct sockaddr *to,
                        socklen_t len);
ssize_t datagram_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t datagram_write(int fd, const void *data, size_t n);
ssize_t datagram_writev(int fd, const struct iovec *parts, int n);
ssize_t datagram_recvfrom(int fd, void *data, size_t n, int flags, struct sockaddr *from,
                          socklen_t *len);
ssize_t datagram_recvmsg(ssize_t (*next)(int, struct msghdr *, int), int fd, struct msghdr *message,
                         int flags);

/* Several at once, each an attempt of its own: as in the kernel in order, up to the first that
 * fails. Fills in msg_len, and returns how many went, or -1 with errno if none did. */
int datagram_sendmmsg(int fd, struct mmsghdr *messages, unsigned int n, int flags);

/* After a recvmmsg: what each of the `result` messages answers. Returns result. */
int datagram_recvmmsg(int fd, int result, const struct mmsghdr *messages, int flags);

#endif
