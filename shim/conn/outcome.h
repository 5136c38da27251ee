/* SPDX-License-Identifier: MIT */
/*
 * Outcomes: how an attempt ended, and what that does to its destination. Every way of learning an
 * outcome ends here, once per attempt. Async-signal-safe; errno is left alone.
 */
#ifndef RETRYBUDGET_CONN_OUTCOME_H
#define RETRYBUDGET_CONN_OUTCOME_H

#include "conn/sockets.h"
#include "dest/destinations.h"

/* Who tried, and how; what is known of an attempt when its outcome comes. */
struct trial {
	struct destination *destination;
	uint32_t slot;
	uint32_t generation; /* of the slot: an attempt may outlast its name there */
	int32_t owner;       /* thread that tried */
	uint32_t place;      /* of the address among those of its name, 0 = none */
	uint32_t
	    fingerprint; /* of the request that it is for, 0 = not known (dest/fingerprint.h) */
	uint32_t number; /* tries of that request, this one included */
	int64_t began;   /* ns, when it went; 0 = not known */
	bool counted;    /* `number` is known to count from the request's first try */
	bool retry;
	bool other;  /* it was paced as a retry, but its request is none that has failed */
	bool probe;  /* of a half-open breaker */
	bool mute;   /* its failure is seen only when it is repeated: a datagram */
	bool served; /* it had an answer before, of which no more is known: no greeting, no HTTP */
	bool unmet;  /* it failed before the peer had answered the connect */
};

/* The class of a connect or data error; FAILURE_NONE: neutral (the caller's own mistake, EINTR).
 * is_unix: EAGAIN is a full backlog there, and the want of a free port elsewhere. */
enum failure failure_of(int err, bool is_unix);

/* Counts a failure, if the trial stands. err: the errno of a failed connect, eai: the code of a
 * failed lookup, else 0.
 */
void outcome_failure(const struct trial *trial, enum failure failure, int err, int eai);

/* Counts a live success. Of the trial it takes the destination, the place and whether it was a
 * breaker's probe. */
void outcome_success(const struct trial *trial);

/* Reports what the breaker of a destination has become. policy: the label. */
void outcome_breaker(struct destination *destination, const struct account *account,
                     const char *policy, enum breaker_change change, int64_t now);

/* Reports that the tokens which ran out are all there again. One load where none did. policy: the
 * label. */
void outcome_refilled(struct destination *destination, const struct account *account,
                      const char *policy, int64_t now);

/* False: the destination has been evicted since, and its slot is another name's. */
bool trial_stands(const struct trial *trial);

/* Rebuilds the trial of an entry. False: its destination has been evicted. */
bool trial_of(const struct socket_entry *entry, struct trial *trial);

#endif
