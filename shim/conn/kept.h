/* SPDX-License-Identifier: MIT */
/* Requests on kept connections that may be a request sent again. */
#ifndef RETRYBUDGET_CONN_KEPT_H
#define RETRYBUDGET_CONN_KEPT_H

#include "conn/attempt.h"

/* A request that may be sent again on a kept connection whose replies are read (TRAIT_HTTP), after
 * a reply that was a failure. fingerprint: of the request (dest/fingerprint.h), 0 = not known;
 * flags: as for send. False: it is new work. */
bool attempt_begin_request(struct attempt *try, int fd, uint32_t fingerprint, int flags);

/* Notes that such a request is about to go. */
void attempt_start_request(struct attempt *try);

#endif
