/* SPDX-License-Identifier: MIT */
/* What `retrybudget advise` makes of what it has seen. Pure. */
#ifndef RETRYBUDGET_TOOL_ADVISE_RULES_H
#define RETRYBUDGET_TOOL_ADVISE_RULES_H

#include "budget/policy.h"
#include "tool/advise_facts.h"

#include <stdbool.h>

/* The length in seconds that half of the outages did not exceed; 0: none ended. */
double facts_outage(const struct facts *facts);

/* One request tried again for ever: what it shows is the program's retry code, and that a budget is
 * for. */
bool facts_is_loop(const struct facts *facts);

/* Whether enough was seen to say something of a budget. */
bool facts_suffice(const struct facts *facts);

enum advice_kind {
	ADVICE_MODE,
	ADVICE_CAPACITY,
	ADVICE_EARN,
	ADVICE_START_SPREAD,
	ADVICE_KINDS,
};

struct advice {
	enum advice_kind kind;
	char line[64]; /* of the file */
	char reason[256];
	struct policy policy; /* with that line */
};

/* Advice of one kind. process: the bucket that all destinations share. False: the policy may stay
 * as it is, as far as was seen (facts_suffice()). */
bool advise(const struct facts *facts, const struct policy *policy,
            const struct bucket_rule *process, enum advice_kind kind, struct advice *advice);

#endif
