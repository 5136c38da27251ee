/* SPDX-License-Identifier: MIT */
/*
 * Host names: their normal form, and their texts by a hash of it, for who has a hash to say. A
 * fixed table of this process. Lock-free: a writer that finds a place busy leaves it, a reader that
 * finds it changed sees no name. Async-signal-safe.
 */
#ifndef RETRYBUDGET_DEST_NAME_H
#define RETRYBUDGET_DEST_NAME_H

#include "dest/address.h"

#define NAME_MAX_LEN 253

/* Normalises a host name into out[NAME_MAX_LEN + 1]: lower case, no trailing dot. Returns its hash,
 * or 0 if it is empty or too long. */
uint64_t name_normal(const char *node, char *out);

/* True for an address written as a number, in any of the forms that libc takes for one. No server
 * is asked for it. */
bool name_is_number(const char *node);

/* Keeps the text of a normal name, with the serial of the lookup that asks for it: whoever was of
 * use longest ago makes room. */
void name_keep(uint64_t hash, const char *text, uint32_t lookup);

/* It is of use still. */
void name_touch(uint64_t hash, uint32_t lookup);

/* Copies the name with this hash into out[NAME_MAX_LEN + 1], lower case. False: forgotten. */
bool name_text(uint64_t hash, char *out);

/* Of two serials of lookups, which go round. */
static inline bool serial_is_older(uint32_t serial, uint32_t than)
{
	return (int32_t)(serial - than) < 0;
}

#endif
