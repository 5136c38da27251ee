/* SPDX-License-Identifier: MIT */
/* inih knows nothing of labels, and takes what stands twice as it comes: the last one holds. */
#include "tool/sim_sections.h"

#include "config/value.h"

#include <stdio.h>

enum label {
	LABEL_NONE,   /* there is one of these sections */
	LABEL_ANY,    /* sim_add() finds those that stand twice */
	LABEL_NEEDED, /* it names what the section is of */
};

static const struct {
	const char *word;
	enum label label;
	bool repeats; /* both of two lines are meant, and both of two sections */
} kinds[] = {
	{ "scenario", LABEL_NONE, false }, { "fleet", LABEL_NONE, false },
	{ "clients", LABEL_ANY, false },   { "server", LABEL_ANY, false },
	{ "outage", LABEL_ANY, false },    { "policy", LABEL_NONE, false },
	{ "budget", LABEL_NONE, false },   { "variant", LABEL_NEEDED, false },
	{ "expect", LABEL_NEEDED, true },
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

/* The line in which it stands already; 0: it is new, and noted. */
static int line_before(struct sim_seen *seen, const char *name, int line)
{
	for (int i = 0; i < seen->count; i++)
		if (strcmp(seen->all[i].name, name) == 0)
			return seen->all[i].line;
	if (seen->count < SIM_SEEN && strlen(name) < SIM_NAME) {
		memcpy(seen->all[seen->count].name, name, strlen(name) + 1);
		seen->all[seen->count++].line = line;
	}
	return 0;
}

void sim_sections_unknown(const char *section, struct text *why)
{
	text_string(why, "no section [");
	text_string(why, section);
	text_string(why, "]; there are scenario, fleet, clients, server, outage, policy, "
	                 "budget, variant and expect");
}

static bool has_its_label(size_t kind, const char *label, struct text *why)
{
	if (kinds[kind].label == LABEL_NONE && *label) {
		text_string(why, "[");
		text_string(why, kinds[kind].word);
		text_string(why, "] has no name, for there is one of it; leave ");
		text_quoted(why, label, strlen(label));
		text_string(why, " out, or set what differs in a [variant]");
		return false;
	}
	if (kinds[kind].label == LABEL_NEEDED && !*label) {
		text_string(why, "[");
		text_string(why, kinds[kind].word);
		text_string(why, "] names no variant; write one, as in [");
		text_string(why, kinds[kind].word);
		text_string(why, " library]");
		return false;
	}
	return true;
}

static bool is_new(struct sim_sections *seen, size_t kind, const char *label, int line,
                   struct text *why)
{
	char name[SIM_NAME];
	int before;

	if (kinds[kind].label == LABEL_ANY || kinds[kind].repeats)
		return true;
	snprintf(name, sizeof(name), "%s %s", kinds[kind].word, label);
	before = line_before(&seen->sections, name, line);
	if (before == 0)
		return true;
	text_string(why, "this section stands already in line ");
	text_decimal(why, before);
	text_string(why, *label ? "; join both, or give it another name" : "; join both");
	return false;
}

bool sim_sections_begin(struct sim_sections *seen, const char *word, const char *label,
                        const char *behind, int line, struct text *why)
{
	size_t kind = 0;

	seen->keys.count = 0;
	while (kind < KINDS && strcmp(kinds[kind].word, word) != 0)
		kind++;
	if (kind == KINDS) {
		sim_sections_unknown(word, why);
		return false;
	}
	seen->keys_repeat = kinds[kind].repeats;
	behind += strspn(behind, " \t\r\n");
	if (*behind && *behind != ';' && *behind != '#') {
		text_string(why, "what stands behind the name of a section is not read; give it a "
		                 "line of its own");
		return false;
	}
	return has_its_label(kind, label, why) && is_new(seen, kind, label, line, why);
}

/* In a variant a key without a section is one of the policy's. */
static const char *without_policy(const char *key)
{
	return begins(key, "policy.") ? key + strlen("policy.") : key;
}

bool sim_sections_key(struct sim_sections *seen, const char *key, int line, struct text *why)
{
	int before = seen->keys_repeat ? 0 : line_before(&seen->keys, without_policy(key), line);

	if (before == 0)
		return true;
	text_quoted(why, key, strlen(key));
	text_string(why, " stands already in line ");
	text_decimal(why, before);
	text_string(why, "; keep one of them");
	return false;
}
