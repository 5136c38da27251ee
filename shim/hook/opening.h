/* SPDX-License-Identifier: MIT */
/* What the calls that open a connection have in common. */
#ifndef RETRYBUDGET_HOOK_OPENING_H
#define RETRYBUDGET_HOOK_OPENING_H

#include "conn/attempt.h"
#include "hook/tls.h"
#include "pace/pace.h"
#include "pace/timeouts.h"

/* Between the beginning of an attempt and the real call. False: it may not go, and
 * attempt_refused() is what the program gets. True: the real call is made, again as long as
 * timeouts_again() says so, and settled. */
static inline bool opening_goes(struct attempt *try)
{
	if (!pace(try))
		return false;
	attempt_start(try);
	if (!try->quick) {
		tls_look(try);
		timeouts_begin(try);
	}
	return true;
}

#endif
