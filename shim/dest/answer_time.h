/* SPDX-License-Identifier: MIT */
/*
 * What a wait that the program gave up says of the server. A quiet second alone says nothing: who
 * writes one way is never answered, and a long poll ends when its client has had enough. So how
 * soon the destination answers is learned, and a wait is a timeout where it has lasted ten times as
 * long. How soon its failures come is learned as well: a call that we refuse must not be slowed
 * down by more than a real failure would have taken. Async-signal-safe.
 */
#ifndef RETRYBUDGET_DEST_ANSWER_TIME_H
#define RETRYBUDGET_DEST_ANSWER_TIME_H

#include "dest/destinations.h"

/* An answer came, took ns after it was asked for; < 0: nobody knows. */
void answer_time_answered(struct destination *destination, int64_t took);

/* A real attempt there has failed, took ns after it went; < 0: nobody knows. */
void answer_time_failed(struct destination *destination, int64_t took);

/* How long real attempts there take to fail, in ns; INT64_MAX: nobody knows. */
int64_t answer_time_failing(const struct destination *destination);

/* True if that is a second or more: who tries again and again is no hotter than that. */
bool answer_time_fails_slowly(const struct destination *destination);

/* True if a wait of so many ns is far longer than answers take. */
bool answer_time_is_long(const struct destination *destination, int64_t waited);

/* True if a wait of so many ns is longer than answers take, however they vary. Where they take a
 * second or more that says nothing: those may be long polls. */
bool answer_time_is_over(const struct destination *destination, int64_t waited);

/* True if a wait that the program has ended is a timeout: one that was far longer than answers
 * take; and of those that were longer, or less than a second, the third running, with no answer in
 * between. To be asked once for each wait. */
bool answer_time_is_timeout(struct destination *destination, int64_t waited, int64_t now);

/* The same where nobody has ever been answered: it may be one if it was less than a second (whoever
 * waits for longer may poll), and is the third time running. */
bool answer_time_may_be_in_vain(const struct destination *destination, int64_t waited);
bool answer_time_is_in_vain(struct destination *destination, int64_t waited, int64_t now);

/* The program gave up a connect after less than a second, and lost no race. True: the third
 * time running, each within a minute of the last and with no answer in between: it never meant to
 * wait for longer. now: ns, CLOCK_MONOTONIC. */
bool answer_time_gave_up(struct destination *destination, int64_t now);

/* The peer ended a connection of which the program wanted nothing that can be seen. True: the tenth
 * time in a second, or something has failed there and nothing was answered since. */
bool answer_time_knocks_often(struct destination *destination, int64_t now);

/* The peer ended a young connection on which it had said something, and had answered nothing. True:
 * the tenth time in a second, or any time after such a second until something is answered: it has
 * died, or refuses, in words that nobody here knows. Never of a server that has answered nobody
 * after a greeting yet: one that tells one thing to each who comes (daytime, a status, a number),
 * or to each who asks nothing, has said all by its greeting. */
bool answer_time_greets_in_vain(struct destination *destination, int64_t now);

/* True from such a second on, until something is answered: what it says first is no sign of life.
 */
bool answer_time_only_greets(const struct destination *destination);

/* It has answered what was asked after its greeting; or what was asked at once, or a connection has
 * outlived its greeting. */
void answer_time_conversed(struct destination *destination);
void answer_time_past_greeting(struct destination *destination);

/* True once it has answered what was asked after its greeting. */
bool answer_time_converses(const struct destination *destination);

#endif
