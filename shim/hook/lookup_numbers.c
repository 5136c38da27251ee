/* SPDX-License-Identifier: MIT */
/*
 * Lookups of protocols and services by name. They are no attempts, but read files, or ask a name
 * service by a connection, which would be taken for work of the thread's: Perl's HTTP clients read
 * /etc/protocols before each try.
 */
#include "hook/hook.h"

#include "sys/lookup_mark.h"

struct protoent *getprotobyname(const char *name)
{
	struct lookup_mark mark;
	struct protoent *found;

	thread_drop_stale_lookup();
	thread_lookup_begin(&mark);
	found = real.getprotobyname(name);
	thread_lookup_end(&mark);
	return found;
}

struct servent *getservbyname(const char *name, const char *protocol)
{
	struct lookup_mark mark;
	struct servent *found;

	thread_drop_stale_lookup();
	thread_lookup_begin(&mark);
	found = real.getservbyname(name, protocol);
	thread_lookup_end(&mark);
	return found;
}

int getservbyname_r(const char *name, const char *protocol, struct servent *service, char *room,
                    size_t size, struct servent **result)
{
	struct lookup_mark mark;
	int code;

	thread_drop_stale_lookup();
	thread_lookup_begin(&mark);
	code = real.getservbyname_r(name, protocol, service, room, size, result);
	thread_lookup_end(&mark);
	return code;
}

#ifdef __GLIBC__

int getprotobyname_r(const char *name, struct protoent *protocol, char *room, size_t size,
                     struct protoent **result)
{
	struct lookup_mark mark;
	int code;

	thread_drop_stale_lookup();
	thread_lookup_begin(&mark);
	code = real.getprotobyname_r(name, protocol, room, size, result);
	thread_lookup_end(&mark);
	return code;
}

#endif
