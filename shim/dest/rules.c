/* SPDX-License-Identifier: MIT */
/* The rules. Their order matters: the first that applies decides. */
#include "dest/rules.h"

#include "region/region.h"

#define APPLIES(field)                                                                             \
	static bool is_##field(const struct evidence *evidence)                                    \
	{                                                                                          \
		return evidence->field;                                                            \
	}

APPLIES(quiet)
APPLIES(same)
APPLIES(other)
APPLIES(demand)
APPLIES(stranger)
APPLIES(lineage)
APPLIES(same_command)
APPLIES(other_command)
APPLIES(sweep)
APPLIES(other_work)
APPLIES(denied)
APPLIES(mixed)
APPLIES(asked)
APPLIES(invited)
APPLIES(kept)
APPLIES(again)
APPLIES(loop)

static bool always(const struct evidence *evidence)
{
	(void)evidence;
	return true;
}

const struct rule rules[] = {
	{ "quiet", KIND_NEW, is_quiet, "nothing has failed there lately" },
	{ "demand", KIND_NEW, is_demand,
	  "somebody has asked the program for it since the failure" },
	{ "invited", KIND_UNCLEAR, is_invited,
	  "a repeat, but it comes when the server has asked it to (Retry-After)" },
	{ "kept", KIND_UNCLEAR, is_kept,
	  "a repeat, but its refusal would end a connection to a server that answers" },
	{ "same-request", KIND_REPEAT, is_same, "the very request that failed" },
	{ "other-request", KIND_NEW, is_other, "another request than the one that failed" },
	{ "stranger", KIND_NEW, is_stranger,
	  "another program than those that failed there, of all that share the budget" },
	{ "lineage", KIND_REPEAT, is_lineage,
	  "the same command of the same parent, session or unit failed there" },
	{ "same-command", KIND_UNCLEAR, is_same_command,
	  "the same, but the destination answers others" },
	{ "other-command", KIND_NEW, is_other_command,
	  "another command than those of this program that failed there, and it answers" },
	{ "sweep", KIND_NEW, is_sweep, "the next address, or host, of a list after a failure" },
	{ "other-work", KIND_UNCLEAR, is_other_work,
	  "this program goes on to other work after its tries" },
	{ "denied", KIND_UNCLEAR, is_denied,
	  "a repeat, but this thread was refused twice, and the destination answers" },
	{ "mixed", KIND_UNCLEAR, is_mixed,
	  "a repeat, or what else this thread has there, where nearly all new work is answered" },
	{ "asked", KIND_UNCLEAR, is_asked,
	  "this thread serves several at a time, and is asked for as much as before the failure" },
	{ "again", KIND_REPEAT, is_again,
	  "this program tries its requests again, and one that failed is unanswered" },
	{ "loop", KIND_REPEAT, is_loop, "this thread failed there and has done nothing else" },
	{ "unclear", KIND_UNCLEAR, always, "nobody can say: within what the destination answers" },
};
const size_t rule_count = sizeof(rules) / sizeof(*rules);
_Static_assert(sizeof(rules) / sizeof(*rules) <= REGION_RULES, "each is counted");

const struct rule *rule_for(const struct evidence *evidence)
{
	const struct rule *rule = rules;

	while (!rule->applies(evidence))
		rule++;
	return rule;
}
