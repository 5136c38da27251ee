/* SPDX-License-Identifier: MIT */
/* Descriptors that another process passes to the program (SCM_RIGHTS). */
#ifndef RETRYBUDGET_CONN_PASSED_H
#define RETRYBUDGET_CONN_PASSED_H

#include <sys/socket.h>

/* A message with control data has come (a recvmsg that succeeded): the connections among what was
 * passed are those that the program serves. errno is left alone. Async-signal-safe. */
void passed_look(const struct msghdr *message);

#endif
