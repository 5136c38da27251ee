/* SPDX-License-Identifier: MIT */
/* The key table as data, and the search for a name in it, right or nearly right. */
#include "config/keys.h"

#include "config/modes.h"
#include "config/units.h"
#include "config/value.h"

#include <errno.h>
#include <string.h>

#define NAME_MAX_COMPARED 64

const struct key config_keys[KEY_COUNT] = {
#define KEY(part, key, kind, field, low, high, text, about)                                        \
	{ .name = #key,                                                                            \
	  .initial = (text),                                                                       \
	  .help = (about),                                                                         \
	  .min = (low),                                                                            \
	  .max = (high),                                                                           \
	  .offset = offsetof(STRUCT_##part, field),                                                \
	  .size = sizeof(((STRUCT_##part *)0)->field),                                             \
	  .section = SECTION_##part,                                                               \
	  .type = TYPE_##kind },
#define PATTERNS(part, key, about)                                                                 \
	{ .name = #key, .help = (about), .section = SECTION_##part, .type = TYPE_PATTERNS },
#define LISTENERS(part, key, about)                                                                \
	{ .name = #key, .help = (about), .section = SECTION_##part, .type = TYPE_LISTENERS },
#include "config/keys.def"
};

static const char section_names[SECTION_COUNT][16] = { "retrybudget", "log",         "budget",
	                                               "fleet",       "destination", "admission" };

const char *section_name(enum section section)
{
	return section_names[section];
}

void *section_fields(struct config *config, enum section section, int index)
{
	switch (section) {
	case SECTION_GENERAL:
		return &config->general;
	case SECTION_LOG:
		return &config->log;
	case SECTION_BUDGET:
		return &config->process;
	case SECTION_FLEET:
		return &config->fleet;
	case SECTION_ADMISSION:
		return &config->admissions[index];
	default:
		return &config->policies[index];
	}
}

void section_defaults(struct config *config, enum section section, int index)
{
	void *fields = section_fields(config, section, index);
	char unused[8];
	struct text why;

	for (int i = 0; i < KEY_COUNT; i++) {
		text_start(&why, unused, sizeof(unused));
		if (config_keys[i].section == section && config_keys[i].initial)
			value_store(&config_keys[i], fields, config_keys[i].initial, &why);
	}
}

/* The defaults come from the table through the parser of values: there is no second list. */
void config_defaults(struct config *config)
{
	config->serial = 0;
	memset(&config->general, 0, sizeof(config->general));
	memset(&config->log, 0, sizeof(config->log));
	memset(&config->process, 0, sizeof(config->process));
	memset(&config->fleet, 0, sizeof(config->fleet));
	memset(&config->policies[0], 0, sizeof(config->policies[0]));
	memset(config->labels[0], 0, sizeof(config->labels[0]));
	memcpy(config->labels[0], "default", sizeof("default"));
	config->policy_count = 1;
	config->pattern_count = 0;
	config->admission_count = 0;
	config->listener_count = 0;
	config->text_used = 0;
	for (int section = 0; section <= SECTION_DESTINATION; section++)
		section_defaults(config, (enum section)section, 0);
	config->policies[0].mode = config->general.mode;
	modes_begin(config);
	modes_settle(config, MODE_AS_IN_FILE);
}

const struct key *key_find(enum section section, const char *name)
{
	for (int i = 0; i < KEY_COUNT; i++)
		if (config_keys[i].section == section && strcmp(config_keys[i].name, name) == 0)
			return &config_keys[i];
	return NULL;
}

/* Levenshtein's distance with one row of memory. */
int edit_distance(const char *a, const char *b)
{
	size_t len = strnlen(b, NAME_MAX_COMPARED);
	uint8_t row[NAME_MAX_COMPARED + 1];

	for (size_t i = 0; i <= len; i++)
		row[i] = (uint8_t)i;
	for (size_t i = 0; i < NAME_MAX_COMPARED && a[i]; i++) {
		uint8_t corner = row[0];

		row[0] = (uint8_t)(i + 1);
		for (size_t j = 0; j < len; j++) {
			uint8_t best = (uint8_t)(corner + (lower(a[i]) != lower(b[j])));

			corner = row[j + 1];
			if (corner + 1 < best)
				best = (uint8_t)(corner + 1);
			if (row[j] + 1 < best)
				best = (uint8_t)(row[j] + 1);
			row[j + 1] = best;
		}
	}
	return row[len];
}

/* The beginning of a name is nearer to it than any other name: "dest" means destination. */
static int distance(const char *wrong, const char *known)
{
	size_t n = strlen(wrong);

	if (n > 1 && strncmp(wrong, known, n) == 0)
		return 1;
	return edit_distance(wrong, known);
}

const struct key *nearest_key(enum section section, const char *name)
{
	const struct key *nearest = NULL;
	int best = 0;

	for (int i = 0; i < KEY_COUNT; i++) {
		const struct key *key = &config_keys[i];
		int its = 2 * distance(name, key->name) + (key->section != section);

		if (!nearest || its < best) {
			nearest = key;
			best = its;
		}
	}
	return nearest;
}

const char *nearest_section(const char *name)
{
	int nearest = 0;

	for (int i = 1; i < SECTION_COUNT; i++)
		if (distance(name, section_names[i]) < distance(name, section_names[nearest]))
			nearest = i;
	/* Two, for "lgo" is log with two letters changed round. */
	if (distance(name, section_names[nearest]) > greater((int64_t)strlen(name) / 2, 2))
		return NULL;
	return section_names[nearest];
}
