/* SPDX-License-Identifier: MIT */
/*
 * Loopback is not always local. A TCP connect to ::1 goes to the default gateway where IPv6 is
 * switched off on lo, one to 127.0.0.1 where lo was never started, rules of policy routing come
 * before the local table, or the socket is bound to another device; and the answer to a socket that
 * is bound to an address of somebody else (a transparent proxy) goes to that somebody. All of these
 * were seen on Linux 6.18. So a datagram socket with the same bindings is connected first, which
 * sends nothing, and tells which way the kernel would go.
 *
 * An IPv4-mapped address stands in only for another: a socket that was once connected to one sends
 * IPv4 packets to the wrong place when it is then connected to a real IPv6 address (Linux 6.18).
 */
#include "pace/sinkhole.h"

#include "sys/forks.h"
#include "sys/real.h"
#include "sys/shelter.h"
#include "sys/transient.h"

#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

/* lo's MTU is 65536, of which IPv4 can use 65535; those of real devices are less. */
#define LONGEST 65535

enum way {
	WAY_NONE,
	WAY_LOCAL,   /* to this machine: nothing is sent off it */
	WAY_ABROAD,  /* off the machine, or nobody can say */
	WAY_UNKNOWN, /* no descriptor to be had, or a sandbox: nothing could be asked */
};

/* A sockaddr_storage is four times as large, and hooks run on small stacks. */
union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t length_of(const union address *address)
{
	return address->any.sa_family == AF_INET ? sizeof(address->v4) : sizeof(address->v6);
}

static bool is_mapped(const union address *address)
{
	return address->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr);
}

static bool is_any(const union address *address)
{
	return address->any.sa_family == AF_INET ? address->v4.sin_addr.s_addr == htonl(INADDR_ANY)
	                                         : IN6_IS_ADDR_UNSPECIFIED(&address->v6.sin6_addr);
}

static bool is_same(const union address *a, const union address *b)
{
	return a->any.sa_family == AF_INET
	           ? a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr
	           : memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof(a->v6.sin6_addr)) == 0;
}

static void loopback(union address *address, sa_family_t family, bool mapped)
{
	static const struct in6_addr mapped_loopback = {
		.s6_addr = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 },
	};

	memset(address, 0, sizeof(*address));
	address->any.sa_family = family;
	if (family == AF_INET)
		address->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		address->v6.sin6_addr = mapped ? mapped_loopback : in6addr_loopback;
}

/* True for all of 127.0.0.0/8, mapped or not, and ::1. */
static bool is_loopback(const union address *address)
{
	if (address->any.sa_family == AF_INET)
		return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return is_mapped(address) ? address->v6.sin6_addr.s6_addr[12] == IN_LOOPBACKNET
	                          : IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
}

static bool own_address(int fd, union address *address)
{
	socklen_t len = sizeof(*address);

	memset(address, 0, sizeof(*address));
	return getsockname(fd, (struct sockaddr *)address, &len) == 0 &&
	       (address->any.sa_family == AF_INET || address->any.sa_family == AF_INET6);
}

/* Gives the socket `to` the bindings of `from` that decide on the way of its packets. */
static bool bind_alike(int to, int from)
{
	char device[IFNAMSIZ] = "";
	socklen_t len = sizeof(device), size = sizeof(int);
	int mark = 0, off = 0;

	/* Unknown options are not set. Only sockets of IPv6 have the last. */
	if (real.getsockopt(from, SOL_SOCKET, SO_BINDTODEVICE, device, &len) == 0 && len > 1 &&
	    real.setsockopt(to, SOL_SOCKET, SO_BINDTODEVICE, device, len) != 0)
		return false;
	if (real.getsockopt(from, SOL_SOCKET, SO_MARK, &mark, &size) == 0 && mark &&
	    real.setsockopt(to, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) != 0)
		return false;
	real.setsockopt(to, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	return true;
}

/* True if the connected datagram socket sends over loopback. */
static bool is_local_route(int fd, const union address *to, const union address *source)
{
	int family = to->any.sa_family, mtu = 0;
	socklen_t len = sizeof(mtu);

	if (is_loopback(to))
		return is_loopback(source);
	/* An address of another device is its own source abroad too, by a rule before the local
	 * table. */
	return is_same(source, to) &&
	       real.getsockopt(fd, family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6,
	                       family == AF_INET ? IP_MTU : IPV6_MTU, &mtu, &len) == 0 &&
	       mtu >= LONGEST;
}

/* The way from `from` (NULL: the kernel's choice, which *source then is) to `to`, for sockets bound
 * as fd is. */
static enum way way_to(int fd, const union address *from, const union address *to,
                       union address *source)
{
	enum way way = WAY_UNKNOWN;
	struct shelter shelter;
	struct transient at;
	forks_held held;

	shelter_enter(&shelter);
	if (!forks_hold(&held)) {
		shelter_leave(&shelter);
		return WAY_UNKNOWN;
	}
	if (transient_open(&at, to->any.sa_family)) {
		way = WAY_NONE;
		if (!bind_alike(at.fd, fd))
			way = WAY_ABROAD;
		else if ((!from ||
		          bind(at.fd, (const struct sockaddr *)from, length_of(from)) == 0) &&
		         transient_is_ours(&at) &&
		         libc_own.connect(at.fd, (const struct sockaddr *)to, length_of(to)) == 0 &&
		         own_address(at.fd, source))
			way = is_local_route(at.fd, to, source) ? WAY_LOCAL : WAY_ABROAD;
		transient_close(&at);
	}
	forks_let(held);
	shelter_leave(&shelter);
	return way;
}

static bool has_device(int fd)
{
	char device[IFNAMSIZ] = "";
	socklen_t len = sizeof(device);

	return real.getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, &len) == 0 && len > 1;
}

static void clear_port(union address *address)
{
	if (address->any.sa_family == AF_INET)
		address->v4.sin_port = 0;
	else
		address->v6.sin6_port = 0;
}

/* Where the socket can connect to. own: the address it is bound to. */
static bool find(int fd, const union address *target, union address *own, union address *end)
{
	union address source;
	enum way way;

	loopback(end, own->any.sa_family, is_mapped(target));
	clear_port(own);
	if (!is_any(own)) {
		if (is_mapped(own) != is_mapped(target))
			return false; /* nor could the real connect be made */
		if (way_to(fd, NULL, own, &source) == WAY_LOCAL) {
			*end = *own;
			return true;
		}
		/* Not an address of this machine: only where the answer to it stays here. */
		return way_to(fd, NULL, end, &source) == WAY_LOCAL &&
		       way_to(fd, end, own, &source) == WAY_NONE;
	}
	way = way_to(fd, NULL, end, &source);
	if (way == WAY_LOCAL)
		return true;
	/* What could not be asked is as it is nearly everywhere. */
	if (way == WAY_UNKNOWN)
		return !has_device(fd);
	/* The address that the real connect would come from. */
	if (way_to(fd, NULL, target, end) == WAY_NONE)
		return false;
	clear_port(end);
	return way_to(fd, NULL, end, &source) == WAY_LOCAL;
}

socklen_t sinkhole_find(int fd, const struct sockaddr *target, socklen_t target_len,
                        struct sockaddr_in6 *end)
{
	union address own, to = { 0 }, found;

	if (!own_address(fd, &own) || own.any.sa_family != target->sa_family)
		return 0;
	memcpy(&to, target, target_len < sizeof(to) ? target_len : sizeof(to));
	if (!find(fd, &to, &own, &found))
		return 0;
	*end = found.v6;
	return length_of(&found);
}
