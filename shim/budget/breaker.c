/* SPDX-License-Identifier: MIT */
/*
 * The word of a breaker: its state in two bits, and above them
 *
 *	closed     failures in a row
 *	open       the moment (ns) at which it ends
 *	half open  successes of probes in a row
 */
#include "budget/breaker.h"

#include "budget/backoff.h"

enum { CLOSED, OPEN, HALF_OPEN };

#define VALUE_MAX (INT64_MAX >> 2)
#define OPEN_MAX  (INT64_C(24) * 3600 * NS_PER_S)

/* Bounds of the time after which to ask again while all probes are under way. */
#define AGAIN_MIN (100 * NS_PER_MS)
#define AGAIN_MAX NS_PER_S

/* A rival changes the word under us only if it gets somewhere itself; this bounds a hostile writer.
 */
#define TURNS 64

static int64_t word_of(int state, int64_t value)
{
	return (int64_t)((uint64_t)within(value, 0, VALUE_MAX) << 2 | (uint64_t)state);
}

/* What is neither open nor half open is closed, a corrupted word too. */
static int state_of(int64_t word)
{
	int state = (int)(word & 3);

	return state <= HALF_OPEN ? state : CLOSED;
}

static int64_t value_of(int64_t word)
{
	return word < 0 ? 0 : word >> 2;
}

static int64_t open_time(const struct breaker_rule *rule)
{
	return within(rule->open, NS_PER_MS, OPEN_MAX);
}

static bool change_to(struct breaker *breaker, int64_t *seen, int64_t next)
{
	return atomic_compare_exchange_strong(&breaker->state, seen, next);
}

/*
 * ns until an open breaker may be asked for probes. An end further off than there ever is one comes
 * from a longer open time before a reload, or from a corrupted word: it is moved up.
 */
static int64_t open_left(struct breaker *breaker, const struct breaker_rule *rule, int64_t seen,
                         int64_t now)
{
	int64_t open = open_time(rule), left = value_of(seen) - now;

	if (left <= open + open / 10)
		return left;
	change_to(breaker, &seen, word_of(OPEN, within(now, 0, VALUE_MAX - open) + open));
	return open;
}

static bool has_room(const struct breaker *breaker, const struct breaker_rule *rule, int64_t more,
                     int64_t now)
{
	return slices_covering(&breaker->probes, open_time(rule), now) + more <=
	       within(rule->probes, 1, 1000000);
}

int64_t breaker_wait(struct breaker *breaker, const struct breaker_rule *rule, int64_t now)
{
	int64_t seen, left;

	if (!rule->on)
		return 0;
	now = within(now, 1, VALUE_MAX);
	seen = atomic_load(&breaker->state);
	switch (state_of(seen)) {
	case CLOSED:
		return 0;
	case OPEN:
		left = open_left(breaker, rule, seen, now);
		return greater(left, 0);
	default:
		return has_room(breaker, rule, 1, now)
		           ? 0
		           : within(open_time(rule) / 10, AGAIN_MIN, AGAIN_MAX);
	}
}

/* Counted first and looked at then: of rivals that each see the other, none goes too many. */
static bool take_permit(struct breaker *breaker, const struct breaker_rule *rule, int64_t now)
{
	if (!has_room(breaker, rule, 1, now))
		return false;
	slices_add(&breaker->probes, open_time(rule), 1, now);
	if (has_room(breaker, rule, 0, now))
		return true;
	breaker_released(breaker, rule, now);
	return false;
}

void breaker_released(struct breaker *breaker, const struct breaker_rule *rule, int64_t at)
{
	slices_add(&breaker->probes, open_time(rule), -1, within(at, 1, VALUE_MAX));
}

enum breaker_verdict breaker_ask(struct breaker *breaker, const struct breaker_rule *rule,
                                 int64_t now, enum breaker_change *change)
{
	*change = BREAKER_AS_IT_WAS;
	if (!rule->on)
		return BREAKER_GO;
	now = within(now, 1, VALUE_MAX);
	for (int turns = 0; turns < TURNS; turns++) {
		int64_t seen = atomic_load(&breaker->state);

		switch (state_of(seen)) {
		case CLOSED:
			return BREAKER_GO;
		case OPEN:
			if (open_left(breaker, rule, seen, now) > 0)
				return BREAKER_HOLD;
			if (change_to(breaker, &seen, word_of(HALF_OPEN, 0)))
				*change = BREAKER_HALF_OPENED;
			break;
		default:
			return take_permit(breaker, rule, now) ? BREAKER_PROBE : BREAKER_HOLD;
		}
	}
	return BREAKER_HOLD;
}

/* Jittered upward only: what is written is the least. */
static int64_t opened(const struct breaker_rule *rule, int64_t now, uint64_t *random)
{
	int64_t open = open_time(rule);

	open += random_upto(random, open / 10);
	return word_of(OPEN, within(now, 0, VALUE_MAX - open) + open);
}

static bool is_too_bad(const struct breaker *breaker, const struct breaker_rule *rule,
                       int64_t in_a_row, int64_t now)
{
	int64_t bad, all;

	if (rule->failures > 0 && in_a_row >= rule->failures)
		return true;
	if (rule->rate <= 0)
		return false;
	bad = slices_within(&breaker->bad, rule->window, now);
	all = bad + slices_within(&breaker->good, rule->window, now);
	/* 12 slices of 2^32 at 10^6: short of overflow. */
	return all >= within(rule->volume, 1, INT64_MAX) &&
	       bad * PPM_WHOLE >= all * within(rule->rate, 0, PPM_WHOLE);
}

enum breaker_change breaker_failed(struct breaker *breaker, const struct breaker_rule *rule,
                                   bool probe, int64_t now, uint64_t *random)
{
	int64_t seen = atomic_load(&breaker->state);
	bool counted = false;

	if (!rule->on)
		return BREAKER_AS_IT_WAS;
	now = within(now, 1, VALUE_MAX);
	for (int turns = 0; turns < TURNS; turns++) {
		int64_t in_a_row = value_of(seen) + 1;

		if (state_of(seen) == OPEN || (state_of(seen) == HALF_OPEN && !probe))
			return BREAKER_AS_IT_WAS;
		if (state_of(seen) == CLOSED && !counted && rule->rate > 0)
			slices_add(&breaker->bad, rule->window, 1, now);
		counted = true;
		if (state_of(seen) == CLOSED && !is_too_bad(breaker, rule, in_a_row, now)) {
			if (change_to(breaker, &seen, word_of(CLOSED, in_a_row)))
				return BREAKER_AS_IT_WAS;
		} else if (change_to(breaker, &seen, opened(rule, now, random))) {
			return BREAKER_OPENED;
		}
	}
	return BREAKER_AS_IT_WAS;
}

/* What was counted before it opened must not open it again at once. A death in here leaves some of
 * that behind, which then counts until it has left the window. */
static void forget(struct slices *slices)
{
	for (int i = 0; i < SLICES_RING; i++)
		atomic_store(&slices->cells[i], 0);
}

/* Of a half-open breaker. */
static enum breaker_change probe_succeeded(struct breaker *breaker, const struct breaker_rule *rule,
                                           int64_t *seen)
{
	int64_t in_a_row = value_of(*seen) + 1;

	if (in_a_row < rule->successes) {
		change_to(breaker, seen, word_of(HALF_OPEN, in_a_row));
		return BREAKER_AS_IT_WAS;
	}
	/* Before it is closed: nothing is counted until then. */
	forget(&breaker->good);
	forget(&breaker->bad);
	return change_to(breaker, seen, word_of(CLOSED, 0)) ? BREAKER_CLOSED : BREAKER_AS_IT_WAS;
}

enum breaker_change breaker_succeeded(struct breaker *breaker, const struct breaker_rule *rule,
                                      bool probe, int64_t now)
{
	int64_t seen = atomic_load(&breaker->state);
	bool counted = false;

	if (!rule->on)
		return BREAKER_AS_IT_WAS;
	now = within(now, 1, VALUE_MAX);
	for (int turns = 0; turns < TURNS; turns++) {
		int64_t before = seen;
		enum breaker_change change;

		if (state_of(seen) == OPEN || (state_of(seen) == HALF_OPEN && !probe))
			return BREAKER_AS_IT_WAS;
		if (state_of(seen) == HALF_OPEN) {
			change = probe_succeeded(breaker, rule, &seen);
			if (change || seen == before)
				return change;
			continue;
		}
		if (!counted && rule->rate > 0)
			slices_add(&breaker->good, rule->window, 1, now);
		counted = true;
		if (seen == 0 || change_to(breaker, &seen, 0))
			return BREAKER_AS_IT_WAS;
	}
	return BREAKER_AS_IT_WAS;
}
