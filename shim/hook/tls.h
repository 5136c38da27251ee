/* SPDX-License-Identifier: MIT */
/* Requests and replies inside TLS. */
#ifndef RETRYBUDGET_HOOK_TLS_H
#define RETRYBUDGET_HOOK_TLS_H

#include "conn/attempt.h"

/* Places the hooks of sys/hooks.def that are LIBRARY on what is loaded by now, if any policy has
 * tls = on, and sees to it that this is done again for what is loaded later. From the constructor.
 */
void tls_start(void);

/* Where it is looked for: places the hooks in what is loaded. Before dlopen, under the loader's
 * lock soon; in a forked child, too. */
void tls_prepare(void);

/* Plug-ins may have come since. Async-signal-safe but for the loader's lock (hook/imports.h). */
void tls_place(void);

/* The same before a connection is made on which TLS is looked for. One that only asks how the last
 * connect went has no policy. */
static inline void tls_look(const struct attempt *try)
{
	if (try->account.policy && try->account.policy->tls)
		tls_place();
}

#endif
