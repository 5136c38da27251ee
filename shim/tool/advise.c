/* SPDX-License-Identifier: MIT */
/* retrybudget advise: lines for the configuration, from what was counted, each with its reason and
 * what simulate says of it. */
#include "config/config.h"
#include "config/keys.h"
#include "config/read.h"
#include "tool/advise_facts.h"
#include "tool/advise_rules.h"
#include "tool/family.h"
#include "tool/options.h"
#include "tool/tell.h"
#include "tool/tool.h"
#include "tool/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: retrybudget advise [-c FILE] [PROG | DEST]\n"
    "       retrybudget advise [-c FILE] --trace TRACE\n"
    "\n"
    "Prints lines for the configuration FILE, or for the built-in defaults, from what the\n"
    "library has counted in running processes, best in mode = observe; or from a trace as\n"
    "'retrybudget simulate' reads it. Each with its reason, and what simulate says of it.\n"
    "\n";

static const char after[] =
    "\n"
    "Exit status: 1 if nothing was found or FILE cannot be read, 2 for a wrong usage, else 0.\n";

static struct config config;

static int policy_labelled(const char *label)
{
	for (int i = 0; i < config.policy_count; i++)
		if (strcmp(config.labels[i], label) == 0)
			return i;
	return 0;
}

/* A name that a pattern can hold as it is; any process may have written it. */
static bool is_plain(const char *name)
{
	for (const char *at = name; *at; at++)
		if (*at <= ' ' || *at > '~' || strchr(";#,*?\"\\=", *at))
			return false;
	return *name != '\0';
}

static void print_section(const struct facts *facts, int policy)
{
	static int number;
	char label[CONFIG_LABEL];

	if (facts->name[0] == '\0' || policy > 0) {
		printf("[destination %s]\n",
		       policy > 0 && policy < CONFIG_POLICIES ? config.labels[policy] : "default");
		return;
	}
	do
		(void)snprintf(label, sizeof(label), "advised-%d", ++number);
	while (policy_labelled(label) > 0);
	printf("[destination %s]\nmatch = %s\n", label, facts->name);
}

/* False: the trace cannot be played, which is told. */
static bool print_effect(const struct advice *advice, const struct policy *before,
                         const struct facts *facts, FILE *trace)
{
	int asked, went, went_before;

	if (advice->kind == ADVICE_START_SPREAD) {
		printf(";   effect: of these %lld, about %lld begin in each second\n",
		       (long long)facts->herd, (long long)before->start_burst);
		return true;
	}
	if (!trace_count(before, &config.process, trace, &asked, &went_before) ||
	    !trace_count(&advice->policy, &config.process, trace, &asked, &went))
		return false;
	if (advice->kind == ADVICE_MODE)
		printf(";   effect: of %d retries simulate lets %d go, and throttles %d\n", asked,
		       went, asked - went);
	else
		printf(";   effect: of %d retries simulate lets %d go, without this line %d\n",
		       asked, went, went_before);
	return true;
}

static bool advise_on(const struct facts *facts, FILE *trace)
{
	int policy = facts->label[0] ? policy_labelled(facts->label) : 0;
	const struct policy *before = &config.policies[policy];
	static struct advice advice;
	bool any = false;

	printf("; %s: %lld first tries, %lld failed; %lld retries, %lld answered, %lld throttled; "
	       "%.0f s of %lld budget%s\n",
	       facts->name[0] ? family_text(facts->name, REGION_NAME) : "the trace",
	       (long long)facts->first, (long long)facts->first_failed, (long long)facts->retries,
	       (long long)facts->retries_answered, (long long)facts->refused, facts->seconds,
	       (long long)facts->regions, facts->regions == 1 ? "" : "s");
	if (facts->name[0] && !is_plain(facts->name)) {
		puts("; its name is none that a pattern could hold\n");
		return true;
	}
	for (int kind = 0; kind < ADVICE_KINDS; kind++) {
		if (!advise(facts, before, &config.process, (enum advice_kind)kind, &advice))
			continue;
		if (!any)
			print_section(facts, policy);
		any = true;
		printf("%s\n;   reason: %s\n", advice.line, advice.reason);
		if (!print_effect(&advice, before, facts, trace))
			return false;
	}
	if (facts_is_loop(facts))
		puts("; a loop that does not give up: no budget makes its tries succeed; see "
		     "`retrybudget logs` for where it is");
	if (!any)
		puts(facts_suffice(facts) ? "; nothing to change"
		                          : "; too few tries to say anything: let it run longer");
	putchar('\n');
	return true;
}

static bool advise_by_trace(const char *file)
{
	static struct facts facts;
	FILE *trace = fopen(file, "re");
	int asked, went;
	bool good;

	if (!trace) {
		fprintf(stderr, "retrybudget: advise: %s: %s\n", file, strerror(errno));
		return false;
	}
	facts_of_trace(trace, &facts);
	rewind(trace);
	good = trace_count(&config.policies[0], &config.process, trace, &asked, &went);
	if (good) {
		facts.refused = asked - went;
		good = advise_on(&facts, trace);
	}
	(void)fclose(trace);
	return good;
}

static bool advise_by_processes(const char *wanted)
{
	size_t count, left_out;
	struct facts *list = facts_of_processes(wanted, &count, &left_out);
	bool good = list != NULL;

	if (!list) {
		fprintf(stderr, "retrybudget: advise: cannot look at processes: %s\n",
		        strerror(errno));
		return false;
	}
	for (size_t i = 0; good && i < count; i++) {
		FILE *trace = facts_trace(&list[i]);

		good = trace && advise_on(&list[i], trace);
		if (!trace)
			fprintf(stderr, "retrybudget: advise: %s\n", strerror(errno));
		else
			(void)fclose(trace);
	}
	if (left_out)
		printf("; %zu more destinations were left out: name one\n", left_out);
	if (count == 0)
		fputs("retrybudget: advise: no process, or none of that name, has the library "
		      "loaded and can be read\n",
		      stderr);
	free(list);
	return good && count > 0;
}

static int say_usage(FILE *out)
{
	return options_usage("advise", usage, after, out);
}

int cmd_advise(int argc, char **argv)
{
	struct option known[OPTIONS_MAX];
	const char *file = NULL, *trace = NULL;
	int option;
	bool good;

	options_of("advise", known);
	while ((option = getopt_long(argc, argv, "c:t:h", known, NULL)) != -1) {
		if (option == 'c')
			file = optarg;
		else if (option == 't')
			trace = optarg;
		else
			return say_usage(option == 'h' ? stdout : stderr);
	}
	if (argc - optind > (trace ? 0 : 1))
		return say_usage(stderr);
	config_defaults(&config);
	if (file && config_read(&config, file, false, tell, NULL) < 0)
		return 1;
	good = trace ? advise_by_trace(trace) : advise_by_processes(argv[optind]);
	return fflush(stdout) != 0 || !good ? 1 : 0;
}
