/* SPDX-License-Identifier: MIT */
/* Key by key, in the units of each. */
#include "tool/fleet_differs.h"

#include <stdio.h>
#include <string.h>

static void add(char *text, const char *key)
{
	const size_t n = strlen(text);

	snprintf(text + n, FLEET_DIFFERS - n, "%s%s", n > 0 ? "," : "", key);
}

bool fleet_differs(const struct fleet_rule *rule, const struct policy *file, char *text)
{
	*text = '\0';
	if (rule->generation == 0)
		return false;
	/* As `fleet set` rounds it: what the rule keeps back is up to a millionth of floor more. */
	if (file->fleet_reserve > rule->floor ||
	    fleet_leased_part(rule->floor, file->fleet_reserve) != rule->leased)
		add(text, "fleet_reserve");
	if (file->fleet_n_max != rule->hosts)
		add(text, "fleet_n_max");
	if (file->probe / NS_PER_MS != rule->probe)
		add(text, "probe");
	return *text != '\0';
}
