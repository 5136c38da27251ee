/* SPDX-License-Identifier: MIT */
/*
 * The patterns of match lines: what they may look like, and which of them a destination gets.
 *
 *   db.internal:5432  *.internal  db?:8000-8999	host names; * and ?, case does not matter
 *   10.1.0.0/16:5432  192.0.2.7  [2001:db8::]/32:443	addresses and networks
 *   unix:/run/app/?.sock				paths of unix sockets; case matters
 *   dns:*.internal					lookups
 *
 * The port is a number, a range, or `*`; without one it is any. Of all patterns that fit the name
 * or the address of one target the most specific wins:
 *
 *   1. an exact name, path or address before a glob or network, and both before a bare `*`;
 *   2. a name before an address;
 *   3. the glob with more literal characters, the network with the longer prefix;
 *   4. one port before a range, a narrow range before a wide one, and both before any port;
 *   5. the first in the file.
 *
 * Pure and async-signal-safe.
 */
#ifndef RETRYBUDGET_CONFIG_PATTERN_H
#define RETRYBUDGET_CONFIG_PATTERN_H

#include "config/config.h"
#include "sys/text.h"

enum pattern_kind {
	PATTERN_HOST,   /* config.text holds a lower-case name or glob */
	PATTERN_PATH,   /* config.text holds "unix:" and a path or glob */
	PATTERN_LOOKUP, /* config.text holds "dns:" and a lower-case name or glob */
	PATTERN_V4,
	PATTERN_V6,
};

/* Compiles one pattern of n bytes for a policy and appends it to the config. False, with reason and
 * remedy added to why, if it is not one or there is no room. Where the very same pattern is there
 * already nothing is appended, and *twin is the policy that has it; else *twin is -1. */
bool pattern_add(struct config *config, int policy, const char *string, size_t n, int *twin,
                 struct text *why);

#endif
