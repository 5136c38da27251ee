/* SPDX-License-Identifier: MIT */
/*
 * Lookups of DNS records, for programs that speak to the resolver themselves: mail servers,
 * Kerberos, XMPP. Judged as lookups of hosts are, one destination per name and type. NXDOMAIN and
 * an empty answer are answers here too: who asks for records asks a question to which "no" is a
 * good reply and often the usual one, as to a sender's address in a block list (type A), an MX,
 * SRV, TLSA or TXT record that a domain need not have, an AAAA of an IPv4 host. What is a failure
 * is what a resolver that cannot answer says: SERVFAIL, a time-out, REFUSED and the like.
 *
 * The names without a class make destinations as IN does; other classes are not asked in practice.
 */
#include "conn/settle.h"
#include "hook/hook.h"
#include "hook/netdb.h"
#include "pace/pace.h"
#include "sys/lookup_mark.h"

#include <errno.h>
#include <resolv.h>

#undef res_query
#undef res_search
#undef res_nquery
#undef res_nsearch

struct query {
	struct __res_state *state; /* NULL: the thread's own */
	const char *name;
	int class, type;
	unsigned char *answer;
	int size;
	bool search;
};

static int ask_real(const struct query *query)
{
#ifdef __GLIBC__ /* musl has no resolver state */
	if (query->state)
		return (query->search ? real.res_nsearch
		                      : real.res_nquery)(query->state, query->name, query->class,
		                                         query->type, query->answer, query->size);
#endif
	return (query->search ? real.res_search : real.res_query)(
	    query->name, query->class, query->type, query->answer, query->size);
}

static int ask(const struct query *query)
{
	struct lookup_mark mark;
	int n;

	thread_lookup_begin(&mark);
	n = ask_real(query);
	thread_lookup_end(&mark);
	return n;
}

static int refuse(struct attempt *try, const struct query *query)
{
	int error = netdb_from_eai(attempt_refused_lookup(try));

	if (query->state)
		query->state->res_h_errno = error;
	h_errno = error;
	errno = error == TRY_AGAIN ? ETIMEDOUT : 0; /* as after SERVFAIL or silence */
	return -1;
}

static int judge(const struct query *query)
{
	struct attempt try;
	int n, code;

	if (!attempt_begin_query(&try, query->name, LOOKUP_RECORD | (query->type & 0xffff)))
		return ask(query);
	if (!pace(&try))
		return refuse(&try, query);
	n = ask(query);
	code = n < 0 ? netdb_to_eai(h_errno) : 0;
	attempt_settle_lookup(&try, code == EAI_NONAME || code == EAI_NODATA ? 0 : code);
	return n;
}

int res_query(const char *name, int class, int type, unsigned char *answer, int size)
{
	thread_drop_stale_lookup();
	return judge(&(struct query) { NULL, name, class, type, answer, size, false });
}

int res_search(const char *name, int class, int type, unsigned char *answer, int size)
{
	thread_drop_stale_lookup();
	return judge(&(struct query) { NULL, name, class, type, answer, size, true });
}

#ifdef __GLIBC__

int res_nquery(struct __res_state *state, const char *name, int class, int type,
               unsigned char *answer, int size)
{
	thread_drop_stale_lookup();
	return judge(&(struct query) { state, name, class, type, answer, size, false });
}

int res_nsearch(struct __res_state *state, const char *name, int class, int type,
                unsigned char *answer, int size)
{
	thread_drop_stale_lookup();
	return judge(&(struct query) { state, name, class, type, answer, size, true });
}

int __res_query(const char *name, int class, int type, unsigned char *answer, int size)
{
	thread_drop_stale_lookup();
	return judge(&(struct query) { NULL, name, class, type, answer, size, false });
}

int __res_search(const char *name, int class, int type, unsigned char *answer, int size)
{
	thread_drop_stale_lookup();
	return judge(&(struct query) { NULL, name, class, type, answer, size, true });
}

int __res_nquery(struct __res_state *state, const char *name, int class, int type,
                 unsigned char *answer, int size)
{
	thread_drop_stale_lookup();
	return judge(&(struct query) { state, name, class, type, answer, size, false });
}

int __res_nsearch(struct __res_state *state, const char *name, int class, int type,
                  unsigned char *answer, int size)
{
	thread_drop_stale_lookup();
	return judge(&(struct query) { state, name, class, type, answer, size, true });
}

#endif
