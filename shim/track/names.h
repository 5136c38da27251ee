/* SPDX-License-Identifier: MIT */
/*
 * Which name the host asked for when it got an address: destinations are keyed by names, and a
 * lookup's addresses belong together (failover sweep). A fixed table of this process; the newest
 * lookup of an address wins. Lock-free: a writer that finds an entry busy leaves it, a reader that
 * finds it changed sees no name. Async-signal-safe.
 */
#ifndef RETRYBUDGET_TRACK_NAMES_H
#define RETRYBUDGET_TRACK_NAMES_H

#include "track/address.h"

#define NAME_MAX_LEN 253

struct addrinfo;

struct name_hit {
	uint64_t hash;   /* of the name */
	uint32_t lookup; /* serial of the lookup, never 0 */
	bool untried;    /* first attempt at this address since that lookup */
};

/* True for an address written as a number, which no server is asked for. */
bool name_is_number(const char *node);

/* Notes what a successful lookup of node said. */
void names_learn(const char *node, const struct addrinfo *list);

/* Finds the name of an inet address, by its address_hash, and notes that it is being tried. */
bool names_try(uint64_t address, struct name_hit *hit);

/* Copies the name with this hash into out[NAME_MAX_LEN + 1], lower case. False: forgotten. */
bool names_text(uint64_t hash, char *out);

/* Normalises a host name into out[NAME_MAX_LEN + 1]: lower case, no trailing dot. Returns its hash,
 * or 0 if it is empty or too long. */
uint64_t name_normal(const char *node, char *out);

#endif
