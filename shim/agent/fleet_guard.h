/* SPDX-License-Identifier: MIT */
/* hiredis asserts that no reply comes but those that were asked for, and so a server that says more
 * would end the daemon, and with it the metrics of the machine. */
#ifndef RETRYBUDGET_AGENT_FLEET_GUARD_H
#define RETRYBUDGET_AGENT_FLEET_GUARD_H

struct redisAsyncContext;

/* Such a reply closes the connection from now on, as an answer that is none does, and the link that
 * is the context's data is told (is_strange). Call before anything is read. */
void guard_replies(struct redisAsyncContext *context);

#endif
