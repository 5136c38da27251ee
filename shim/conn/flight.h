/* SPDX-License-Identifier: MIT */
/*
 * Attempts in flight: let through, and not known yet to have ended. Two count them, and none but
 * these makes anything here do more than look at a bit: the strategy `concurrency`, and a half-open
 * breaker the permits of its probes. Both forget after a while what never ends (a process that was
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

/* Takes the permit of a half-open breaker from the socket's attempt, for flight_give_back() once
 * its failure is counted: given back before, as the move of the entry would, it lets somebody by in
 * the moment in which the breaker does not know yet that it is to open. 0: it has none. */
int64_t flight_keep(struct socket_entry *entry);

/* kept: as flight_keep() returned it. */
void flight_give_back(const struct trial *trial, int64_t kept);

/* Counts a timeout of an attempt that goes on, for its answer may still come, and gives its permit
 * back: that probe has told what it could. */
void flight_timed_out(struct socket_entry *entry, const struct trial *trial);

/* As flight_end(), of an attempt that has no entry: a lookup, a number beyond the table, one that
 * is not made after all. */
void flight_end_attempt(struct attempt *try);

/* The same of a datagram, by what was kept of it. */
struct sent_datagram;
void flight_end_datagram(struct destination *destination, const struct sent_datagram *one);

#endif
