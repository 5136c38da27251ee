/* SPDX-License-Identifier: MIT */
/*
 * The last verdicts on repeats at one destination, and refusals of first tries, for `retrybudget
 * explain`: a small ring in the region, written only after something has failed. Each word of a
 * place carries the decision's number, so that a reader sees which belong together; a place that
 * was torn, by a reader's timing or a writer's death, is passed over. Async-signal-safe.
 */
#ifndef RETRYBUDGET_REGION_DECISIONS_H
#define RETRYBUDGET_REGION_DECISIONS_H

#include "region/region.h"

enum decision_verdict {
	DECISION_WENT,          /* paid for */
	DECISION_WENT_FREE,     /* needed no token: within what is answered there, or on the ramp */
	DECISION_WENT_AS_PROBE, /* whatever was left: see ADMITTED_PROBE */
	DECISION_REFUSED,
	DECISION_WOULD_REFUSE, /* and let through: observe, or what the file lets pass */
	DECISION_VERDICTS,
};

enum decision_reason {
	DECISION_NO_REASON,
	DECISION_TOKENS,
	DECISION_GATE,
	DECISION_RETRY_AFTER,
	DECISION_BREAKER,
	DECISION_RATE,
	DECISION_RAMP,
	DECISION_LEASE,   /* what was lent is used up */
	DECISION_RESERVE, /* there is no lease, and the reserve is not due */
	DECISION_REASONS,
};

struct decision {
	int64_t at; /* ns, precise to 1 ms */
	int rule;   /* place in rules[], -1: none was asked */
	enum decision_verdict verdict;
	enum decision_reason reason; /* of one that was refused */
	enum failure failure;        /* the last one */
	enum budget_source source;   /* of its tokens */
	int64_t streak;
	int64_t tokens, process_tokens; /* mt that were left */
	int64_t due, waited;            /* ns, cut at four hours */
};

#define DECISION_NUMBER_AT   48
#define DECISION_NUMBER_MASK INT64_C(0x7fff)
#define DECISION_VALUE_MASK  ((INT64_C(1) << DECISION_NUMBER_AT) - 1)

static inline int64_t decision_cut(int64_t value, int bits)
{
	int64_t most = (INT64_C(1) << bits) - 1;

	return within(value, 0, most);
}

/* Of the decision with this number, from 1. */
static inline int64_t decision_tag(int64_t number)
{
	return (int64_t)(((uint64_t)number & DECISION_NUMBER_MASK) << DECISION_NUMBER_AT);
}

static inline void decision_put(struct destination *of, const struct decision *decision)
{
	int64_t number = atomic_fetch_add_explicit(&of->decided, 1, memory_order_relaxed);
	struct decision_place *place = &of->decisions[(uint64_t)number % REGION_DECISIONS];
	/* Shared memory may hold any number. */
	int64_t tag = decision_tag((int64_t)((uint64_t)number + 1));

	STORE(place->words[0], tag | decision_cut(decision->at / NS_PER_MS, 48));
	STORE(place->words[1],
	      tag | decision_cut(decision->rule + 1, 8) << 40 | (int64_t)decision->verdict << 36 |
	          (int64_t)decision->reason << 32 | (int64_t)decision->source << 30 |
	          decision_cut(decision->failure, 6) << 24 | decision_cut(decision->streak, 24));
	STORE(place->words[2], tag | decision_cut(decision->tokens, 48));
	STORE(place->words[3], tag | decision_cut(decision->process_tokens, 48));
	STORE(place->words[4], tag | decision_cut(decision->due / NS_PER_MS, 24) << 24 |
	                           decision_cut(decision->waited / NS_PER_MS, 24));
}

/* The last but `back` (0: the last). False: there is none, or it was torn. */
static inline bool decision_get(const struct destination *of, int back, struct decision *out)
{
	int64_t number = LOAD(of->decided), words[REGION_DECISION_WORDS];
	const struct decision_place *place;

	if (back < 0 || back >= REGION_DECISIONS || number <= back)
		return false;
	number -= 1 + back;
	place = &of->decisions[(uint64_t)number % REGION_DECISIONS];
	for (int i = 0; i < REGION_DECISION_WORDS; i++) {
		words[i] = LOAD(place->words[i]);
		if (words[i] >> DECISION_NUMBER_AT != ((number + 1) & DECISION_NUMBER_MASK))
			return false;
		words[i] &= DECISION_VALUE_MASK;
	}
	*out = (struct decision) {
		.at = words[0] <= INT64_MAX / NS_PER_MS ? words[0] * NS_PER_MS : 0,
		.rule = (int)(words[1] >> 40 & 0xff) - 1,
		.verdict = (enum decision_verdict)(words[1] >> 36 & 0xf),
		.reason = (enum decision_reason)(words[1] >> 32 & 0xf),
		.failure = (enum failure)(words[1] >> 24 & 0x3f),
		.source = (enum budget_source)(words[1] >> 30 & 3),
		.streak = words[1] & 0xffffff,
		.tokens = words[2],
		.process_tokens = words[3],
		.due = (words[4] >> 24) * NS_PER_MS,
		.waited = (words[4] & 0xffffff) * NS_PER_MS,
	};
	return out->verdict < DECISION_VERDICTS && out->reason < DECISION_REASONS &&
	       out->failure < FAILURE_COUNT && out->source < SOURCES;
}

/* True if the last verdict was a refusal, too, by the same rule and in the same millisecond. Reads
 * only: where many processes are refused at once, each would wait for the other's lines. */
static inline bool decision_is_known(const struct destination *of, int rule, int64_t at)
{
	int64_t number = LOAD(of->decided), first, second;
	const struct decision_place *place;

	if (number <= 0)
		return false;
	place = &of->decisions[(uint64_t)(number - 1) % REGION_DECISIONS];
	first = LOAD(place->words[0]) ^ decision_tag(number);
	second = LOAD(place->words[1]) ^ decision_tag(number);
	return first == decision_cut(at / NS_PER_MS, 48) && (second >> 40) == rule + 1 &&
	       (second >> 36 & 0xf) == DECISION_REFUSED;
}

#endif
