/* SPDX-License-Identifier: MIT */
/* Settings by name: variants and sweeps say in one line what is to be otherwise. */
#include "tool/sim_settings.h"

#include "tool/sim_file.h"

#include <string.h>

static bool begins_with(const char *name, const char *word)
{
	size_t n = strlen(word);

	return strncmp(name, word, n) == 0 && name[n] == '.';
}

/* Without a section it is a key of [destination]: that is what one mostly wants to sweep. */
bool sim_setting_is_policy(const char *name)
{
	return !strchr(name, '.') || begins_with(name, "policy") || begins_with(name, "budget") ||
	       begins_with(name, "retrybudget");
}

bool sim_settings_put(struct sim_settings *settings, const char *name, const char *value,
                      struct text *why)
{
	struct sim_setting *one = settings->all;
	char full[sizeof(one->name)];

	if (strlen(name) >= sizeof(one->name) - sizeof("policy") ||
	    strlen(value) >= sizeof(one->value)) {
		text_string(why, "longer than any name or value is; shorten it");
		return false;
	}
	snprintf(full, sizeof(full), "%s%s", strchr(name, '.') ? "" : "policy.", name);
	while (one < settings->all + settings->count && strcmp(one->name, full) != 0)
		one++;
	if (one == settings->all + SIM_SETTINGS) {
		text_string(why, "more than 32 settings; leave some out");
		return false;
	}
	if (one == settings->all + settings->count)
		settings->count++;
	memcpy(one->name, full, sizeof(full));
	snprintf(one->value, sizeof(one->value), "%s", value);
	one->path = settings->path;
	one->line = settings->line;
	return true;
}

const struct sim_setting *sim_settings_find(const struct sim_settings *settings, const char *name)
{
	for (int i = 0; i < settings->count; i++)
		if (strcmp(settings->all[i].name, name) == 0)
			return &settings->all[i];
	return NULL;
}

static bool apply(const struct sim_setting *setting, struct sim_scenario *scenario,
                  struct text *why)
{
	char section[sizeof(setting->name)], *label, *key;

	memcpy(section, setting->name, sizeof(section));
	label = strchr(section, '.');
	key = strrchr(section, '.');
	if (!label)
		return false;
	*label = '\0';
	*key = '\0';
	return sim_set(scenario, section, label == key ? "" : label + 1, key + 1, setting->value,
	               why);
}

const struct sim_setting *sim_settings_apply(const struct sim_settings *settings,
                                             struct sim_scenario *scenario, struct text *why)
{
	size_t before = why->used;

	for (int i = 0; i < settings->count; i++) {
		if (sim_setting_is_policy(settings->all[i].name))
			continue;
		why->used = before; /* the key of one that was well has been added */
		if (!apply(&settings->all[i], scenario, why))
			return &settings->all[i];
	}
	why->used = before;
	return NULL;
}
