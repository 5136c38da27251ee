/* SPDX-License-Identifier: MIT */
/*
 * The options that park a connect. Answers are dropped by a minimum TTL of 255 (the socket option
 * of RFC 5082), which no answer from this machine reaches, and which its owner can take off again.
 * The other ways do not leave the socket as it was: unbinding from lo takes CAP_NET_RAW, and
 * Linux 6.18 keeps socket filters on TCP from ordinary users.
 */
#include "conn/park_options.h"

#include "conn/tcp_info.h"
#include "sys/fault.h"
#include "sys/real.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>

/* linux/in6.h has it, and cannot be included beside netinet/in.h. */
#ifndef IPV6_MINHOPCOUNT
#define IPV6_MINHOPCOUNT 73
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
	fault_count();
	return false;
}

/* The least TTL of what the socket takes in, a pair of options: a socket of IPv6 has both, and
 * IPv4-mapped addresses go by the first. 0 unless the program has set one. */
static bool get_least_ttl(int fd, bool v6, int *ttl)
{
	int hops = 0;

	if (!get(fd, IPPROTO_IP, IP_MINTTL, ttl) ||
	    (v6 && !get(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, &hops)))
		return false;
	*ttl |= hops;
	return true;
}

bool park_options_deafen(int fd, bool v6)
{
	return set(fd, IPPROTO_IP, IP_MINTTL, HIGHEST_TTL) &&
	       (!v6 || set(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, HIGHEST_TTL));
}

void park_options_hear(int fd)
{
	int value;

	if (get(fd, IPPROTO_IP, IP_MINTTL, &value) && value == HIGHEST_TTL)
		set(fd, IPPROTO_IP, IP_MINTTL, 0);
	if (get(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, &value) && value == HIGHEST_TTL)
		set(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, 0);
}

void park_options_no_cookie(int fd, struct socket_entry *entry)
{
	int puts_off = 0;

	if (get(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &puts_off) && puts_off &&
	    set(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 0))
		socket_mark(entry, TRAIT_PUTS_OFF);
}

/* Bounds the connect, and notes the bound as the kernel reports it. What the program has set for
 * itself must hold. */
static bool set_bound(int fd, int64_t ms, struct socket_entry *entry)
{
	int bound, wanted = (int)within(ms, LEAST, INT_MAX);

	if (!get(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &bound) || bound ||
	    !set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, wanted) ||
	    !get(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &bound))
		return false;
	atomic_store(&entry->timeout_ms, (uint32_t)bound);
	socket_mark(entry, TRAIT_PARKED);
	return true;
}

bool park_options_set(int fd, struct socket_entry *entry, bool v6, int64_t delay)
{
	int ttl = 0;

	return set_bound(fd, delay / NS_PER_MS, entry) && delay > 0 &&
	       get_least_ttl(fd, v6, &ttl) && ttl == 0 && park_options_deafen(fd, v6);
}

bool park_options_can(int fd)
{
	int protocol, bound, ttl, hops, saved = errno;
	/* A socket of IPv4 has no hop count, and says so. */
	bool can = socket_make_room(fd) && get(fd, SOL_SOCKET, SO_PROTOCOL, &protocol) &&
	           protocol == IPPROTO_TCP && get(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &bound) &&
	           bound == 0 && get(fd, IPPROTO_IP, IP_MINTTL, &ttl) && ttl == 0 &&
	           (!get(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, &hops) || hops == 0);

	errno = saved;
	return can;
}

void park_options_undo(int fd, struct socket_entry *entry)
{
	const unsigned int ours = TRAIT_PARKED | TRAIT_PUTS_OFF;
	unsigned int traits = atomic_fetch_and(&entry->traits, (uint32_t)~ours);
	int saved = errno, bound;

	if (traits & TRAIT_PUTS_OFF)
		set(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
	if (!(traits & TRAIT_PARKED)) {
		errno = saved;
		return;
	}
	if (get(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &bound) &&
	    (uint32_t)bound == atomic_load(&entry->timeout_ms))
		set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 0);
	park_options_hear(fd);
	errno = saved;
}

static bool is_over(int fd)
{
	struct tcp_info info = { .tcpi_state = 0 };
	socklen_t len = sizeof(info);

	return real.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       info.tcpi_state == TCP_CLOSE_;
}

void park_options_lift(int fd, struct socket_entry *entry)
{
	if (is_over(fd))
		park_options_undo(fd, entry);
}
