/* SPDX-License-Identifier: MIT */
/* Lookups: attempts of their own, and the source of the names that destinations are known by. */
#include "hook/hook.h"
#include "pace/pace.h"
#include "track/state.h"
#include "track/thread.h"

#include <errno.h>

/* The real call, during which connects on this thread are the resolver's own. */
static int look_up(const char *node, const char *service, const struct addrinfo *hints,
                   struct addrinfo **result)
{
	struct lookup_mark mark;
	int code, saved;

	thread_lookup_begin(&mark);
	code = real.getaddrinfo(node, service, hints, result);
	thread_lookup_end(&mark);
	saved = errno;
	if (code == 0 && node && shim_ready())
		names_learn(node, *result);
	errno = saved;
	return code;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **result)
{
	struct attempt try;

	if (!attempt_begin_lookup(&try, node, hints))
		return look_up(node, service, hints, result);
	if (!pace(&try))
		return attempt_refused_lookup(&try);
	return attempt_settle_lookup(&try, look_up(node, service, hints, result));
}
