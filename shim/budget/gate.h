/* SPDX-License-Identifier: MIT */
/*
 * The gate of a destination: after a failure no repeat goes before a moment that the backoff has
 * drawn, once for each failure, whoever asks. Inside this room only. Times in ns. Pure but for the
 * account's cells; thread-safe, async-signal-safe.
 */
#ifndef RETRYBUDGET_BUDGET_GATE_H
#define RETRYBUDGET_BUDGET_GATE_H

#include "budget/budget.h"

/* A streak as it may be: other processes may have written anything. */
int64_t gate_streak(int64_t value);

/* ns since the failure that started the streak; 0: it has just begun, or nobody knows. */
int64_t gate_streak_age(const struct account *account, int64_t now);

/* False if the policy has no backoff: tokens alone decide then, also among rivals of one moment. */
bool gate_is_kept(const struct account *account);

/* ns until it opens, 0 = it is open. A moment further off than any delay that the policy draws (of
 * a reload, or corrupted) is moved up: a caller that cannot wait would else be throttled until the
 * probe. */
int64_t gate_left(const struct account *account, int64_t now);

/* Of those who come when the gate that stood until `due` opens, true for exactly one. It leaves a
 * gate behind as gate_used() does. */
bool gate_enter(const struct account *account, int64_t due, int64_t now);

/* A repeat goes: while the streak lasts the next may go half a ceiling (the mean of full jitter)
 * from now, or many callers would all go at one moment. The outcome then says better. */
void gate_used(const struct account *account, int64_t now);

/* Draws the delay that answers a failure. grown: the streak has; else the failure is one of many
 * that came at once. */
void gate_draw(const struct account *account, bool grown, int64_t now, uint64_t *random);

#endif
