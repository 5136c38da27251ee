/* SPDX-License-Identifier: MIT */
/*
 * Parking: a connect to a dead end on this machine, of which the host's socket drops every answer,
 * until TCP_USER_TIMEOUT ends it. The dropping is done by a minimum TTL of 255 (the socket option
 * of RFC 5082), which no answer from this machine reaches, and which its owner can take off again.
 * The other ways do not leave the socket as it was: unbinding from lo takes CAP_NET_RAW, and
 * Linux 6.18 keeps socket filters on TCP from ordinary users. Where the machine itself sends with a
 * TTL of 255 the connect is refused at once, as if redirected.
 *
 * Redirecting: the same, and the answer is let in. TCP_USER_TIMEOUT ends it after a second where
 * there is none: a firewall on lo, or lo down, would keep it waiting for two minutes.
 *
 * A number beyond the table of sockets is redirected without that: nobody would take it off again.
 */
#include "pace/park.h"

#include "sys/real.h"
#include "pace/dead_end.h"
#include "report/record.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>

/* linux/in6.h has it, and cannot be included beside netinet/in.h. */
#ifndef IPV6_MINHOPCOUNT
#define IPV6_MINHOPCOUNT 73
#endif

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

#define HIGHEST_TTL 255
/* ms; the kernel repeats the first SYN after a second and looks then */
#define LEAST (PARK_LEAST / NS_PER_MS)

static bool get(int fd, int level, int name, int *value)
{
	socklen_t len = sizeof(*value);

	*value = 0;
	return real.getsockopt(fd, level, name, value, &len) == 0;
}

static bool set(int fd, int level, int name, int value)
{
	if (real.setsockopt(fd, level, name, &value, sizeof(value)) == 0)
		return true;
	report_fault();
	return false;
}

/* The least TTL of what the socket takes in, a pair of options: a socket of IPv6 has both, and
 * IPv4-mapped addresses go by the first. 0 unless the host has set one. */
static bool get_least_ttl(int fd, bool v6, int *ttl)
{
	int hops = 0;

	if (!get(fd, IPPROTO_IP, IP_MINTTL, ttl) ||
	    (v6 && !get(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, &hops)))
		return false;
	*ttl |= hops;
	return true;
}

static bool set_least_ttl(int fd, bool v6, int ttl)
{
	return set(fd, IPPROTO_IP, IP_MINTTL, ttl) &&
	       (!v6 || set(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, ttl));
}

/* Takes off what is still as we set it. */
static void reset_least_ttl(int fd)
{
	int value;

	if (get(fd, IPPROTO_IP, IP_MINTTL, &value) && value == HIGHEST_TTL)
		set(fd, IPPROTO_IP, IP_MINTTL, 0);
	if (get(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, &value) && value == HIGHEST_TTL)
		set(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, 0);
}

/* With this option a connect to an address that has given us a cookie returns 0 and sends nothing,
 * and loopback may have given one. The kernel lets it be set on sockets without a connection only,
 * so it goes back on when ours is over. */
static void connect_at_once(int fd, struct socket_entry *entry)
{
	int puts_off = 0;

	if (get(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &puts_off) && puts_off &&
	    set(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 0))
		atomic_fetch_or(&entry->traits, TRAIT_PUTS_OFF);
}

/* Only ever asked where nothing may block: if the socket itself does, the host sends with
 * MSG_DONTWAIT, and we do the same. */
static bool begin(int fd, const struct sockaddr_in6 *to, socklen_t len)
{
	const struct sockaddr *address = (const struct sockaddr *)to;
	int flags = real.fcntl(fd, F_GETFL, 0);

	if (flags >= 0 && flags & O_NONBLOCK)
		return libc_own.connect(fd, address, len) < 0 && errno == EINPROGRESS;
	return real.sendto(fd, "", 0, MSG_FASTOPEN | MSG_DONTWAIT | MSG_NOSIGNAL, address, len) <
	           0 &&
	       errno == EINPROGRESS;
}

/* Bounds the connect, and notes the bound as the kernel reports it. What the host has set for
 * itself must hold. */
static bool set_patience(int fd, int64_t ms, struct socket_entry *entry)
{
	int patience, wanted = ms < LEAST ? LEAST : ms > INT_MAX ? INT_MAX : (int)ms;

	if (!get(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience) || patience ||
	    !set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, wanted) ||
	    !get(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience))
		return false;
	atomic_store(&entry->patience, (uint32_t)patience);
	atomic_fetch_or(&entry->traits, TRAIT_PARKED);
	return true;
}

int park(int fd, const struct sockaddr *target, socklen_t target_len, int64_t delay,
         struct socket_entry *entry)
{
	struct sockaddr_in6 end;
	bool v6 = target->sa_family == AF_INET6, drops = false;
	int protocol, ttl = 0, err;
	socklen_t len = 0;

	if (get(fd, SOL_SOCKET, SO_PROTOCOL, &protocol) &&
	    (protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP))
		len = dead_end_find(fd, target, target_len, &end);
	if (len == 0) {
		errno = 0;
		return 0;
	}
	if (socket_make_room(fd) && protocol == IPPROTO_TCP &&
	    set_patience(fd, delay / 1000000, entry) && delay > 0)
		drops =
		    get_least_ttl(fd, v6, &ttl) && ttl == 0 && set_least_ttl(fd, v6, HIGHEST_TTL);
	connect_at_once(fd, entry);
	if (begin(fd, &end, len))
		return drops ? ETIMEDOUT : ECONNREFUSED;
	err = errno;
	park_undo(fd, entry);
	errno = err;
	return 0;
}

bool park_can(int fd)
{
	int protocol, patience, ttl, hops, saved = errno;
	/* A socket of IPv4 has no hop count, and says so. */
	bool can = socket_make_room(fd) && get(fd, SOL_SOCKET, SO_PROTOCOL, &protocol) &&
	           protocol == IPPROTO_TCP && get(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience) &&
	           patience == 0 && get(fd, IPPROTO_IP, IP_MINTTL, &ttl) && ttl == 0 &&
	           (!get(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, &hops) || hops == 0);

	errno = saved;
	return can;
}

bool park_is_over(int fd)
{
	struct tcp_info info = { .tcpi_state = 0 };
	socklen_t len = sizeof(info);

	return real.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       info.tcpi_state == 7; /* TCP_CLOSE */
}

void park_undo(int fd, struct socket_entry *entry)
{
	const unsigned int ours = TRAIT_PARKED | TRAIT_PUTS_OFF;
	unsigned int traits = atomic_fetch_and(&entry->traits, (uint32_t)~ours);
	int saved = errno, patience;

	if (traits & TRAIT_PUTS_OFF)
		set(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
	if (!(traits & TRAIT_PARKED)) {
		errno = saved;
		return;
	}
	if (get(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience) &&
	    (uint32_t)patience == atomic_load(&entry->patience))
		set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 0);
	reset_least_ttl(fd);
	errno = saved;
}
