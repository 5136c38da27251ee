/* SPDX-License-Identifier: MIT */
/* The resolver of libevent. It is made once, for what is cancelled ends a moment later. */
#include "agent/fleet_name.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/util.h>
#include <net/if.h>
#include <netdb.h>
#include <string.h>

bool name_is_address(const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

static const struct evutil_addrinfo *choose(const struct evutil_addrinfo *all, size_t turn)
{
	const struct evutil_addrinfo *one = all;
	size_t count = 0;

	for (; one; one = one->ai_next)
		count++;
	for (one = all, turn %= count; turn > 0; turn--)
		one = one->ai_next;
	return one;
}

static void on_addresses(int error, struct evutil_addrinfo *all, void *arg)
{
	struct fleet_name *name = arg;
	char text[INET6_ADDRSTRLEN + IF_NAMESIZE + 1]; /* with its link */

	if (error == EVUTIL_EAI_CANCEL)
		return;
	name->request = NULL;
	if (!error && all) {
		const struct evutil_addrinfo *one = choose(all, name->turn++);

		error = getnameinfo(one->ai_addr, (socklen_t)one->ai_addrlen, text, sizeof(text),
		                    NULL, 0, NI_NUMERICHOST);
	}
	if (all)
		evutil_freeaddrinfo(all);
	else if (!error)
		error = EVUTIL_EAI_NONAME;
	if (error)
		name->told(name->arg, NULL, evutil_gai_strerror(error));
	else
		name->told(name->arg, text, "");
}

static bool prepare(struct fleet_name *name, struct event_base *base)
{
	if (!name->resolver)
		name->resolver = evdns_base_new(base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (!name->resolver)
		return false;
	(void)evdns_base_clear_nameservers_and_suspend(name->resolver);
	evdns_base_search_clear(name->resolver);
	evdns_base_clear_host_addresses(name->resolver);
	(void)evdns_base_resolv_conf_parse(name->resolver, DNS_OPTIONS_ALL, "/etc/resolv.conf");
	(void)evdns_base_resume(name->resolver);
	return true;
}

bool name_ask(struct fleet_name *name, struct event_base *base, const char *host, name_told *told,
              void *arg)
{
	const struct evutil_addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct evdns_getaddrinfo_request *request;

	if (!prepare(name, base))
		return false;
	name->told = told;
	name->arg = arg;
	request = evdns_getaddrinfo(name->resolver, host, NULL, &hints, on_addresses, name);
	if (request)
		name->request = request;
	return true;
}

void name_cancel(struct fleet_name *name)
{
	if (name->request)
		evdns_getaddrinfo_cancel(name->request);
	name->request = NULL;
}

void name_end(struct fleet_name *name)
{
	name_cancel(name);
	if (name->resolver)
		evdns_base_free(name->resolver, 0);
	name->resolver = NULL;
}
