/* SPDX-License-Identifier: MIT */
/*
 * Lookups that the program has begun with getaddrinfo_a and whose outcome is still to be asked for,
 * by the address of the program's request. A fixed table and only a hint: where it is full the
 * oldest of a few makes room, and its outcome is not counted. Lock-free, async-signal-safe.
 */
#ifndef RETRYBUDGET_CONN_PENDING_LOOKUPS_H
#define RETRYBUDGET_CONN_PENDING_LOOKUPS_H

#include "conn/outcome.h"

struct request {
	struct trial trial;
	uint64_t name; /* hash (dest/names.h), 0 = it has none */
	int kind;      /* as of an attempt */
	bool paid, permit;
	int64_t began, admitted;
};

/* Notes a request. One that is noted at this address already is forgotten. */
void pending_lookup_enter(const void *block, const struct request *request);

/* Takes the request at this address out of the table: of callers that race one gets it. False:
 * there is none, or its destination has been evicted. */
bool pending_lookup_take(const void *block, struct request *request);

#endif
