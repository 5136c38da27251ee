/* SPDX-License-Identifier: MIT */
/*
 * Attempts in flight: let through, and not known yet to have ended. The strategy `concurrency`
 * counts them, and a half-open breaker counts the permits of its probes; of all other attempts a
 * bit is looked at, and nothing more. Both forget after a while what never ends (a process that was
 * killed, a close that nobody saw), so an end that is missed costs some precision and nothing else.
 *
 * Lock-free, async-signal-safe, errno is left alone.
 */
#ifndef RETRYBUDGET_CONN_FLIGHT_H
#define RETRYBUDGET_CONN_FLIGHT_H

#include "conn/outcome.h"

struct attempt;

/* The traits that say so of an attempt that is let through now. */
unsigned int flight_traits(const struct attempt *try);

/* The socket's attempt is over; only the first call counts. Called wherever an entry leaves the
 * states in which the outcome is open. */
void flight_end(struct socket_entry *entry);

/* Takes the permit of a half-open breaker from the socket's attempt, to be released once its
 * failure is counted. The move of the entry would release it before that, and the breaker, which
 * does not know yet that it is to open, would let another attempt by. Returns when the permit was
 * given, in ns; 0: it has none. */
int64_t flight_take_permit(struct socket_entry *entry);

/* given: as flight_take_permit() returned it. */
void flight_release_permit(const struct trial *trial, int64_t given);

/* Counts a timeout of an attempt that goes on, for its answer may still come, and releases its
 * permit: that probe has told what it could. */
void flight_timed_out(struct socket_entry *entry, const struct trial *trial);

/* As flight_end(), of an attempt that has no entry: a lookup, a number beyond the table, one that
 * is not made after all. */
void flight_end_attempt(struct attempt *try);

/* The same of a datagram, by what was kept of it. */
struct sent_datagram;
void flight_end_datagram(struct destination *destination, const struct sent_datagram *one);

#endif
