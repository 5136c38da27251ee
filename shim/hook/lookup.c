/* SPDX-License-Identifier: MIT */
/*
 * Lookups of hosts: attempts of their own, and the source of the names that destinations are known
 * by. A refused one fails with the last real code, said as the call says it: mysql goes on for ever
 * on EAI_AGAIN and stops at others.
 */
#include "conn/settle.h"
#include "dest/names.h"
#include "hook/hook.h"
#include "hook/netdb.h"
#include "pace/pace.h"
#include "region/state.h"
#include "sys/lookup_mark.h"

#include <errno.h>

/* --- getaddrinfo --- */

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

	thread_drop_stale_lookup();
	if (!attempt_begin_lookup(&try, node, hints))
		return look_up(node, service, hints, result);
	if (!pace(&try))
		return attempt_refused_lookup(&try);
	return attempt_settle_lookup(&try, look_up(node, service, hints, result));
}

/* --- gethostbyname and gethostbyname2 --- */

static struct hostent *learned(const char *name, struct hostent *found)
{
	int saved = errno;

	if (found && shim_ready())
		names_learn_host(name, found);
	errno = saved;
	return found;
}

/* family: AF_UNSPEC is gethostbyname, to which an option of the resolver may say otherwise. */
static struct hostent *get_host(const char *name, int family)
{
	struct lookup_mark mark;
	struct hostent *found;

	thread_lookup_begin(&mark);
	found = family ? real.gethostbyname2(name, family) : real.gethostbyname(name);
	thread_lookup_end(&mark);
	return learned(name, found);
}

static struct hostent *judge_host(struct attempt *try, const char *name, int family)
{
	struct hostent *found;

	if (!pace(try)) {
		h_errno = netdb_from_eai(attempt_refused_lookup(try));
		errno = h_errno == TRY_AGAIN ? EAGAIN : 0;
		return NULL;
	}
	found = get_host(name, family);
	attempt_settle_lookup(try, found ? 0 : netdb_to_eai(h_errno));
	return found;
}

struct hostent *gethostbyname(const char *name)
{
	struct attempt try;

	thread_drop_stale_lookup();
	return attempt_begin_query(&try, name, AF_INET) ? judge_host(&try, name, AF_UNSPEC)
	                                                : get_host(name, AF_UNSPEC);
}

struct hostent *gethostbyname2(const char *name, int family)
{
	struct attempt try;

	thread_drop_stale_lookup();
	return attempt_begin_query(&try, name, family) ? judge_host(&try, name, family)
	                                               : get_host(name, family);
}

/* --- gethostbyname_r and gethostbyname2_r --- */

struct host_request {
	const char *name;
	int family; /* as for get_host */
	struct hostent *host;
	char *room;
	size_t size;
	struct hostent **result;
	int *error;
};

static int get_host_r(const struct host_request *ask)
{
	struct lookup_mark mark;
	int code;

	thread_lookup_begin(&mark);
	code = ask->family ? real.gethostbyname2_r(ask->name, ask->family, ask->host, ask->room,
	                                           ask->size, ask->result, ask->error)
	                   : real.gethostbyname_r(ask->name, ask->host, ask->room, ask->size,
	                                          ask->result, ask->error);
	thread_lookup_end(&mark);
	if (code == 0)
		learned(ask->name, *ask->result);
	return code;
}

/* As glibc says it: only "try again" is an error, of which errno tells too. */
static int refuse_host_r(struct attempt *try, const struct host_request *ask)
{
	int error = netdb_from_eai(attempt_refused_lookup(try));

	*ask->result = NULL;
	*ask->error = error;
	errno = error == TRY_AGAIN ? EAGAIN : 0;
	return errno;
}

static int judge_host_r(struct attempt *try, const struct host_request *ask)
{
	int code;

	if (!pace(try))
		return refuse_host_r(try, ask);
	code = get_host_r(ask);
	if (code == 0 && *ask->result)
		attempt_settle_lookup(try, 0);
	else if (code == ERANGE) /* an answer, larger than the room that the program had for it */
		attempt_settle_lookup(try, EAI_OVERFLOW);
	else
		attempt_settle_lookup(try, netdb_to_eai(*ask->error));
	return code;
}

int gethostbyname_r(const char *name, struct hostent *host, char *room, size_t size,
                    struct hostent **result, int *error)
{
	struct host_request ask = { name, AF_UNSPEC, host, room, size, result, error };
	struct attempt try;

	thread_drop_stale_lookup();
	return attempt_begin_query(&try, name, AF_INET) ? judge_host_r(&try, &ask)
	                                                : get_host_r(&ask);
}

int gethostbyname2_r(const char *name, int family, struct hostent *host, char *room, size_t size,
                     struct hostent **result, int *error)
{
	struct host_request ask = { name, family, host, room, size, result, error };
	struct attempt try;

	thread_drop_stale_lookup();
	return attempt_begin_query(&try, name, family) ? judge_host_r(&try, &ask)
	                                               : get_host_r(&ask);
}
