/* SPDX-License-Identifier: MIT */
/*
 * Which names the program asked for when it got an address: destinations are keyed by names, and
 * the addresses of a name stand in for each other (failover sweep). A binding is one pair of a name
 * and an address; an address has one for each of its names (virtual hosts).
 *
 * A name is the one asked for, whatever search domains, aliases or /etc/hosts made of it. Bindings
 * are not forgotten by time, because hosts keep addresses for hours; they make room for others when
 * they have been out of use longest, and those of failing addresses last.
 *
 * A fixed table of this process. Lock-free: a writer that finds a binding busy leaves it, a reader
 * that finds it changed sees no name. Async-signal-safe.
 */
#ifndef RETRYBUDGET_DEST_NAMES_H
#define RETRYBUDGET_DEST_NAMES_H

#include "dest/name.h"
#include "sys/cell.h"

/* How long what failed is remembered where the policy is not at hand: the default of the key
 * `horizon`. */
#define NAMES_HORIZON (60 * NS_PER_S)

struct addrinfo;
struct hostent;

struct name_hit {
	uint64_t hash;  /* of the name */
	uint32_t place; /* of the binding in the table, 1..4095; 0 = the address has no name */
	bool untried;   /* it has not failed since it last answered, as far as we remember */
};

/* Notes that a name is being asked for. Returns its hash; 0: it is a number or cannot be kept. */
uint64_t names_note(const char *node);

/* Binds a name, by its hash, to an address of the answer that this thread got. now: ns. Anything
 * but an inet address is ignored. */
void names_bind(uint64_t name, const struct sockaddr *address, socklen_t len, int64_t now);

/* Notes what a successful lookup of node said. */
void names_learn(const char *node, const struct addrinfo *list);
void names_learn_host(const char *node, const struct hostent *host);

/* Lookups so far. */
extern HIDDEN _Atomic(uint32_t) names_lookups;

/* The slow half of names_find(). */
bool names_search(uint64_t address, int64_t now, struct name_hit *hit);

/* Finds the name of an inet address, by its address_hash. Of several: the one that this thread
 * looked up last; else, for hosts that look up on other threads, the one whose answer has waited
 * longest for its connect; else the newest. now: ns. */
static inline bool names_find(uint64_t address, int64_t now, struct name_hit *hit)
{
	return LOAD_ACQUIRE(names_lookups) != 0 && names_search(address, now, hit);
}

/* The address at a place failed, or answered. place 0 is ignored. */
void names_failed(uint32_t place, int64_t now);
void names_answered(uint32_t place);

#endif
