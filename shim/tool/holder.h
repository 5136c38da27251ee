/* SPDX-License-Identifier: MIT */
/*
 * What one host holds of a fleet's budget, and how it asks for more: the other end of ledger.h.
 * One request is on its way at a time; its answer counts only while the host waits for it, so that
 * what a lost answer granted is granted to nobody. A lease runs from the moment that the host asked
 * for it, by a clock that does not step and goes on while the machine sleeps (CLOCK_BOOTTIME).
 * What lies unused goes back by half each time. What answers have earned (ledger.h, 7) is held like
 * the rest, but no request makes it last longer than a lifetime. Pure: moments are arguments, ns.
 */
#ifndef RETRYBUDGET_TOOL_HOLDER_H
#define RETRYBUDGET_TOOL_HOLDER_H

#include "tool/ledger.h"

#include <stddef.h>

struct holder {
	int64_t life;   /* of this agent: another number at each start, > 0 */
	int64_t number; /* of the last request */
	int64_t heard;  /* of the last that was answered */
	int64_t epoch, generation;
	int64_t held[PURSES]; /* mt, probes */
	int64_t until;        /* moment at which all of that is void */
	int64_t earned;       /* mt: of the tokens held, earned by answers, at most */
	int64_t earned_until; /* moment at which those are void */
	int64_t keep;         /* mt: more is wanted elsewhere; 0: nobody has said */
	int64_t asked_at;     /* ns: the request that is on its way; 0: none is */
};

/* All that is held is void from its moment on. */
void holder_expire(struct holder *holder, int64_t now);

/* The same, and of what answers have earned all that is void by `next`, at which its host looks
 * again: programs that held that until then would have nothing at all in between. */
void holder_expire_by(struct holder *holder, int64_t now, int64_t next);

/* The moment at which some of what is held is void. */
int64_t holder_until(const struct holder *holder);

/* What the host's programs have used of what it holds. */
void holder_spend(struct holder *holder, enum ledger_purse purse, int64_t count);

/* Composes a request (all but outcomes and success_age), and gives back what it says. wants: in
 * all, what is held included. It must be sent at once. now > 0. */
void holder_ask(struct holder *holder, const int64_t wants[PURSES], int64_t now,
                struct ledger_ask *ask);

/* The answer to the request on its way. False if it tells of nothing: none is on its way, or it
 * came too late. */
bool holder_answer(struct holder *holder, const struct ledger_answer *answer, int64_t now);

/* The request on its way will not be answered, and its answer not taken. */
void holder_lose(struct holder *holder);

/* What cells of an agent before this one still hold: it becomes this one's, until that moment. Of
 * tokens nobody knows any more whether answers earned them: they do not last longer. */
void holder_adopt(struct holder *holder, int64_t tokens, int64_t probes, int64_t until);

/* Divides an amount in whole quanta among who wants it, max-min fair; gets[] is set. What is less
 * than one for each goes one by one, from place `turn` on. */
void holder_divide(int64_t amount, int64_t quantum, const int64_t *wants, int64_t *gets, size_t n,
                   size_t turn);

#endif
