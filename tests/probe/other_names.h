/* SPDX-License-Identifier: MIT */
/* The other names that glibc has for calls, and that none of its headers declares. */
#ifndef RETRYBUDGET_TESTS_PROBE_OTHER_NAMES_H
#define RETRYBUDGET_TESTS_PROBE_OTHER_NAMES_H

#include <stdio.h>
#include <sys/socket.h>

#ifdef __GLIBC__
extern ssize_t __recv_chk(int fd, void *data, size_t n, size_t space, int flags);
extern ssize_t __recvfrom_chk(int fd, void *data, size_t n, size_t space, int flags,
                              struct sockaddr *from, socklen_t *len);
extern ssize_t __read_chk(int fd, void *data, size_t n, size_t space);
extern ssize_t __read(int fd, void *data, size_t n);
extern ssize_t __send(int fd, const void *data, size_t n, int flags);
extern ssize_t __write(int fd, const void *data, size_t n);
extern int __close(int fd);
extern int __connect(int fd, const struct sockaddr *address, socklen_t len);
extern int __dup2(int fd, int to);
extern int __fcntl(int fd, int command, ...);
extern int _IO_fclose(FILE *stream);
#endif

#endif
