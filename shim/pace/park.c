/* SPDX-License-Identifier: MIT */
/*
 * Parking: a connect to loopback, port 0, of which the host's socket drops every answer, until
 * TCP_USER_TIMEOUT ends it. The dropping is done by a minimum TTL of 255 (the socket option of RFC
 * 5082), which no answer from this machine reaches, and which its owner can take off again. The
 * other ways do not leave the socket as it was: unbinding from lo takes CAP_NET_RAW, and Linux 6.18
 * keeps socket filters on TCP from ordinary users. Where the machine itself sends with a TTL of 255
 * the connect is refused at once, as if redirected.
 */
#include "pace/park.h"

#include "hook/real.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

/* linux/in6.h has it, and cannot be included beside netinet/in.h. */
#ifndef IPV6_MINHOPCOUNT
#define IPV6_MINHOPCOUNT 73
#endif

static bool option(int fd, int level, int name, void *value, socklen_t len)
{
	return real.getsockopt(fd, level, name, value, &len) == 0;
}

/* The loopback address of the socket's family, port 0, which nobody can listen on. Returns its
 * length, 0 for other families. */
static socklen_t loopback(int fd, struct sockaddr_storage *address)
{
	int family = 0;

	memset(address, 0, sizeof(*address));
	if (!option(fd, SOL_SOCKET, SO_DOMAIN, &family, sizeof(family)))
		return 0;
	address->ss_family = (sa_family_t)family;
	if (family == AF_INET) {
		((struct sockaddr_in *)address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(struct sockaddr_in);
	}
	if (family != AF_INET6)
		return 0;
	((struct sockaddr_in6 *)address)->sin6_addr = (struct in6_addr)IN6ADDR_LOOPBACK_INIT;
	return sizeof(struct sockaddr_in6);
}

/* Bound to a device by the host, the socket could not reach loopback, or would look elsewhere. */
static bool has_device(int fd)
{
	char device[IFNAMSIZ] = "";
	socklen_t len = sizeof(device);

	return real.getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, &len) != 0 || len > 1;
}

static bool set_patience(int fd, int64_t ms)
{
	unsigned int patience = (unsigned int)ms;

	return real.setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof(patience)) == 0;
}

/* The least TTL of what the socket takes in. get: 0 unless the host has set one. */
static bool get_least_ttl(int fd, int family, int *ttl)
{
	return family == AF_INET ? option(fd, IPPROTO_IP, IP_MINTTL, ttl, sizeof(*ttl))
	                         : option(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, ttl, sizeof(*ttl));
}

static bool set_least_ttl(int fd, int family, int ttl)
{
	return real.setsockopt(fd, family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6,
	                       family == AF_INET ? IP_MINTTL : IPV6_MINHOPCOUNT, &ttl,
	                       sizeof(ttl)) == 0;
}

static bool begin(int fd, const struct sockaddr_storage *to, socklen_t len)
{
	return real.connect(fd, (const struct sockaddr *)to, len) < 0 && errno == EINPROGRESS;
}

bool park(int fd, int64_t delay, struct socket_entry *entry)
{
	struct sockaddr_storage to;
	socklen_t len = loopback(fd, &to);
	int64_t ms = delay / 1000000;
	int protocol = 0, patience = 0, ttl = 0;

	/* What the host has set for itself must hold. */
	if (len == 0 || !option(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, sizeof(protocol)) ||
	    protocol != IPPROTO_TCP || has_device(fd) ||
	    !option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof(patience)) || patience ||
	    !get_least_ttl(fd, to.ss_family, &ttl) || ttl)
		return false;
	atomic_fetch_or(&entry->traits, TRAIT_PARKED);
	if (set_least_ttl(fd, to.ss_family, 255) && set_patience(fd, ms < 1000 ? 1000 : ms) &&
	    begin(fd, &to, len))
		return true;
	park_undo(fd, entry);
	return false;
}

bool park_redirect(int fd)
{
	struct sockaddr_storage to;
	socklen_t len = loopback(fd, &to);

	return len && !has_device(fd) && begin(fd, &to, len);
}

bool park_is_over(int fd)
{
	struct tcp_info info = { .tcpi_state = 0 };

	return option(fd, IPPROTO_TCP, TCP_INFO, &info, sizeof(info)) &&
	       info.tcpi_state == 7; /* TCP_CLOSE */
}

void park_undo(int fd, struct socket_entry *entry)
{
	struct sockaddr_storage to;
	int saved = errno;

	if (!(atomic_fetch_and(&entry->traits, (uint16_t)~TRAIT_PARKED) & TRAIT_PARKED))
		return;
	set_patience(fd, 0);
	if (loopback(fd, &to))
		set_least_ttl(fd, to.ss_family, 0);
	errno = saved;
}
