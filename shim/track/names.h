/* SPDX-License-Identifier: MIT */
/*
 * Which name the host asked for when it got an address: destinations are keyed by names, and the
 * addresses of a name stand in for each other (failover sweep). A fixed table of this process; the
 * newest lookup of an address wins. Lock-free: a writer that finds an entry busy leaves it, a
 * reader that finds it changed sees no name. Async-signal-safe.
 */
#ifndef RETRYBUDGET_TRACK_NAMES_H
#define RETRYBUDGET_TRACK_NAMES_H

#include "track/address.h"

#define NAME_MAX_LEN 253

struct addrinfo;

struct name_hit {
	uint64_t hash;  /* of the name */
	uint32_t place; /* of the address in the table of names, 1..4095; 0 = it has no name */
	bool untried;   /* it has not failed since it last answered, as far as we remember */
};

/* True for an address written as a number, which no server is asked for. */
bool name_is_number(const char *node);

/* Notes what a successful lookup of node said. */
void names_learn(const char *node, const struct addrinfo *list);

/* Finds the name of an inet address, by its address_hash. horizon: ns, how long a failure of the
 * address is remembered. */
bool names_find(uint64_t address, int64_t horizon, int64_t now, struct name_hit *hit);

/* The address at a place failed, or answered. place 0 is ignored. */
void names_failed(uint32_t place, int64_t now);
void names_answered(uint32_t place);

/* Copies the name with this hash into out[NAME_MAX_LEN + 1], lower case. False: forgotten. */
bool names_text(uint64_t hash, char *out);

/* Normalises a host name into out[NAME_MAX_LEN + 1]: lower case, no trailing dot. Returns its hash,
 * or 0 if it is empty or too long. */
uint64_t name_normal(const char *node, char *out);

#endif
