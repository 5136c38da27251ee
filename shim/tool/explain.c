/* SPDX-License-Identifier: MIT */
/* retrybudget explain: the last verdicts on a destination, what they stood on, and what would have
 * changed them. */
#include "dest/rules.h"
#include "region/decisions.h"
#include "report/record.h"
#include "sys/real.h"
#include "tool/options.h"
#include "tool/called_from.h"
#include "tool/stat.h"
#include "tool/stat_facts.h"
#include "tool/stat_lease.h"
#include "tool/stat_text.h"
#include "tool/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: retrybudget explain DEST | PID\n"
    "\n"
    "Tells the last verdicts on retries: which rule took the attempt for one, what had failed,\n"
    "what was left of the budget, and what would change it. Of one destination in all\n"
    "processes (db.internal:5432, db.internal, or :5432), or of all of one process.\n"
    "\n";

static const char after[] =
    "\n"
    "Exit status: 1 if what was asked for is not there, 2 for a wrong usage, else 0.\n";

struct explaining {
	const char *wanted; /* or NULL */
	int64_t now;
	size_t printed;
};

/* By the names of the rules: what the program, or its operator, could do. */
static const struct remedy {
	const char *rule, *text;
} remedies[] = {
	{ "invited", "an answer; it is taken for a repeat only beyond what is answered here" },
	{ "kept", "an answer; it is taken for a repeat only beyond what is answered here" },
	{ "same-request", "an answer to the request; or a request that differs" },
	{ "lineage", "scope = process, if processes of one service are not to be taken for one" },
	{ "same-command", "an answer; or other arguments, where its work is another" },
	{ "again", "an answer; or requests that differ from the one that failed" },
	{ "loop", "an answer; a request to this program, or another destination, in between" },
	{ "denied", "an answer; it is taken for a repeat only beyond what is answered here" },
	{ "asked", "an answer; it is taken for a repeat only beyond what was usual here" },
	{ "mixed", "an answer; it is taken for a repeat only beyond what is answered here" },
	{ "other-work", "an answer; it is taken for a repeat only beyond what is answered here" },
	{ "unclear", "an answer; it is taken for a repeat only beyond what is answered here" },
};

static const char *const verdicts[DECISION_VERDICTS] = {
	[DECISION_WENT] = "went, and paid",
	[DECISION_WENT_FREE] = "went, and needed no token",
	[DECISION_WENT_AS_PROBE] = "went without a token, to see whether it is back",
	[DECISION_REFUSED] = "throttled",
	[DECISION_WOULD_REFUSE] = "went, and would have been throttled",
};

static const struct {
	const char *because, *change;
} reasons[DECISION_REASONS] = {
	[DECISION_NO_REASON] = { NULL, NULL },
	[DECISION_TOKENS] = { "not enough tokens",
	                      "answers, which earn; a larger `capacity`, `earn` or `floor`, of the "
	                      "section or of [budget]" },
	[DECISION_GATE] = { "the backoff was not over",
	                    "an answer, which ends it; a smaller `base` or `cap`" },
	[DECISION_RETRY_AFTER] = { "the server had asked for no retry yet (Retry-After)",
	                           "the server; a smaller `retry_after_cap`" },
	[DECISION_BREAKER] = { "the breaker was not closed",
	                       "an answer to its next trial; other `breaker_` keys" },
	[DECISION_RAMP] = { "others come back from the outage before it",
	                    "time: more go from one eighth of a second to the next while what goes "
	                    "is answered" },
	[DECISION_LEASE] = { "what was leased of the fleet's budget is used up",
	                     "the next lease; a larger rule of the fleet" },
	[DECISION_RESERVE] = { "no lease of the fleet's budget lives, and this host's part of the "
	                       "reserve is not due",
	                       "a lease: retrybudgetd and the servers of [fleet]; a larger "
	                       "`fleet_reserve`" },
	[DECISION_RATE] = { "more attempts than `rate` allows", "a larger `rate` or `burst`" },
};

static const char *remedy_of(int rule)
{
	if (rule < 0 || (size_t)rule >= rule_count)
		return NULL;
	for (size_t i = 0; i < sizeof(remedies) / sizeof(*remedies); i++)
		if (strcmp(remedies[i].rule, rules[rule].name) == 0)
			return remedies[i].text;
	return NULL;
}

static void print_decision(const struct decision *one, const struct destination *of, int64_t now)
{
	int64_t tokens, capacity;
	const char *class = failure_name(one->failure);

	if (one->at > 0 && one->at <= now)
		printf("  %" PRId64 ".%" PRId64 " s ago: ", (now - one->at) / NS_PER_S,
		       (now - one->at) % NS_PER_S / (NS_PER_S / 10));
	else
		fputs("  ", stdout); /* another time namespace, or none */
	printf("%s", verdicts[one->verdict]);
	if (reasons[one->reason].because)
		printf(": %s", reasons[one->reason].because);
	if (one->due > 0)
		printf(", %" PRId64 " ms to go", one->due / NS_PER_MS);
	if (one->waited > 0)
		printf(", after a wait of %" PRId64 " ms", one->waited / NS_PER_MS);
	putchar('\n');
	if (one->rule >= 0 && (size_t)one->rule < rule_count)
		printf("      rule %s: %s\n", rules[one->rule].name, rules[one->rule].reason);
	printf("      evidence: %" PRId64 " %s in a row, the last of class %s\n", one->streak,
	       one->streak == 1 ? "failure" : "failures", class ? class : "-");
	printf("      tokens: %" PRId64 ".%" PRId64, one->tokens / 1000, one->tokens % 1000 / 100);
	if (one->source != SOURCE_OWN)
		fputs(one->source == SOURCE_LEASE ? " by lease" : " by the reserve", stdout);
	else if (stat_tokens(&of->budget.bucket, &tokens, &capacity))
		printf(" of %" PRId64, capacity / 1000);
	printf(", of the whole process %" PRId64 ".%" PRId64 "\n", one->process_tokens / 1000,
	       one->process_tokens % 1000 / 100);
}

/* Of all that are shown, each once. */
static void print_changes(const bool rule[REGION_RULES], const bool reason[DECISION_REASONS],
                          const struct family *family, const struct destination *of)
{
	const struct region_identity *identity = &family->snapshot->region->identity;
	bool any = false;

	for (int i = 0; i < DECISION_REASONS; i++)
		if (reason[i] && reasons[i].change) {
			printf("%s    %s: %s\n", any ? "" : "  what would change it\n",
			       reasons[i].because, reasons[i].change);
			any = true;
		}
	for (int i = 0; i < REGION_RULES; i++)
		if (rule[i] && remedy_of(i)) {
			printf("%s    rule %s: %s\n", any ? "" : "  what would change it\n",
			       rules[i].name, remedy_of(i));
			any = true;
		}
	if (!any)
		return;
	printf("    its settings: section %s of ",
	       of->policy[0] ? family_text(of->policy, sizeof(of->policy)) : "default");
	if (LOAD(identity->config_hash))
		printf("%s\n", family_text(identity->config, REGION_PATH));
	else
		puts("the built-in defaults");
}

static void print_gate(const struct destination *of, int64_t now)
{
	int64_t due = LOAD(of->budget.due_at), streak = LOAD(of->budget.streak);

	if (streak <= 0)
		puts("  now: nothing has failed since the last answer, and a retry may go");
	else if (due > now)
		printf("  now: %" PRId64
		       " in a row have failed, and the next repeat may go in %" PRId64 " ms\n",
		       streak, (due - now) / NS_PER_MS);
	else
		printf("  now: %" PRId64 " in a row have failed, and the next repeat may go if "
		       "tokens can pay\n",
		       streak);
}

static void explain(struct explaining *explaining, const struct family *family,
                    const struct destination *of)
{
	bool rule[REGION_RULES] = { false }, reason[DECISION_REASONS] = { false };
	struct decision decision;
	int found = 0;

	printf("%s%s, %s[%s], mode %s, tokens %s\n", explaining->printed++ ? "\n" : "",
	       family_text(of->name, REGION_NAME), family_program(family), stat_pids(family),
	       stat_mode_of(family), stat_budget(of));
	print_gate(of, explaining->now);
	stat_print_lease(stdout, of);
	if (!called_from_print(stdout, "  ", family, of) && LOAD(of->budget.streak) > 0)
		puts("  which code calls is not known: [log] trace = 4 tells");
	for (int i = 0; i < REGION_DECISIONS; i++) {
		if (!decision_get(of, i, &decision))
			continue;
		print_decision(&decision, of, explaining->now);
		reason[decision.reason] = true;
		if (decision.rule >= 0 && decision.rule < REGION_RULES &&
		    decision.reason != DECISION_NO_REASON)
			rule[decision.rule] = true;
		found++;
	}
	if (!found)
		puts("  no retry has been judged here");
	print_changes(rule, reason, family, of);
}

static void visit(struct family *family, struct snapshot *snapshot, void *arg)
{
	struct explaining *explaining = arg;

	if (explaining->wanted && !stat_choose(explaining->wanted, family, snapshot))
		return;
	if (snapshot->state != SNAPSHOT_GOOD) {
		if (!explaining->wanted) {
			printf("%s[%s] %s\n", family_program(family), stat_pids(family),
			       snapshot_sentence(snapshot));
			explaining->printed++;
		}
		return;
	}
	for (int i = 0; i < snapshot->slot_count; i++)
		explain(explaining, family, &snapshot->destinations[i]);
	if (snapshot->slot_count == 0 && !explaining->wanted && explaining->printed++ == 0)
		printf("%s[%s] has tried nothing yet\n", family_program(family), stat_pids(family));
}

static int say_usage(FILE *out)
{
	return options_usage("explain", usage, after, out);
}

int cmd_explain(int argc, char **argv)
{
	struct option list[OPTIONS_MAX];
	struct explaining explaining = { 0 };
	size_t unreadable;
	pid_t pid = 0;
	int letter;

	options_of("explain", list);
	while ((letter = getopt_long(argc, argv, "h", list, NULL)) != -1)
		return say_usage(letter == 'h' ? stdout : stderr);
	if (argc - optind != 1)
		return say_usage(stderr);
	pid = process_number(argv[optind]);
	explaining.wanted = pid ? NULL : argv[optind];
	explaining.now = monotonic();
	if (!families_visit(pid, visit, &explaining, &unreadable)) {
		fprintf(stderr, "retrybudget: explain: cannot look at processes: %s\n",
		        strerror(errno));
		return 1;
	}
	if (explaining.printed == 0 && pid)
		process_say_missed("explain", pid);
	else if (explaining.printed == 0)
		fprintf(stderr, "retrybudget: explain: no such destination or program%s\n",
		        unreadable ? ", or it is another user's" : "");
	return fflush(stdout) != 0 || explaining.printed == 0 ? 1 : 0;
}
