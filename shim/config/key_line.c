/* SPDX-License-Identifier: MIT */
/* The key lines of the file: which key is meant, and where its value goes. */
#include "config/key_line.h"

#include "config/admission_sections.h"
#include "config/overrides.h"
#include "config/pattern.h"
#include "config/value.h"

#include <string.h>

#define VALUE_SHOWN 60 /* bytes of a value that a message repeats */

/* Adds the line of a section in which a key may stand: "[destination default]". */
static void print_section(struct text *text, const struct key *key)
{
	const char *label = "";

	if (key->section == SECTION_ADMISSION || key->type == TYPE_PATTERNS)
		label = " NAME";
	else if (key->section == SECTION_DESTINATION)
		label = " default";
	text_string(text, "[");
	text_string(text, section_name((enum section)key->section));
	text_string(text, label);
	text_string(text, "]");
}

/* Adds how the line should stand, if any section has a key of that name, behind `where`: "; write
 * it below a line [budget] or [destination default]: floor = 1/s". */
static bool print_right_place(struct text *text, const char *where, const char *name,
                              const char *value)
{
	bool found = false;

	for (int i = 0; i < SECTION_COUNT; i++) {
		const struct key *key = key_find((enum section)i, name);

		if (!key)
			continue;
		text_string(text, found ? " or " : where);
		if (!found)
			text_string(text, "; write it below a line ");
		print_section(text, key);
		found = true;
	}
	if (!found)
		return false;
	text_string(text, ": ");
	text_string(text, name);
	text_string(text, " = ");
	text_escaped(text, value, strlen(value), VALUE_SHOWN);
	return true;
}

/* "the key 'max_wait' is gone since 0.2.0: ..."; false: there was none of that name. */
static bool print_remedy(struct text *text, const char *name)
{
	static const struct {
		const char *name, *remedy;
	} gone[] = {
#define GONE(key, version, remedy) { #key, "' is gone since " version ": " remedy },
#include "config/keys.def"
	};

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
		if (strcmp(gone[i].name, name) == 0) {
			text_string(text, "the key '");
			text_string(text, name);
			text_string(text, gone[i].remedy);
			return true;
		}
	}
	return false;
}

static void unknown_key(struct reading *reading, const char *name, const char *value)
{
	char message[MESSAGE_MAX];
	const struct key *key;
	struct text text;

	text_start(&text, message, sizeof(message));
	if (print_remedy(&text, name))
		return reading_complain(reading, reading->lines.number, message);
	text_string(&text, "unknown key ");
	text_quoted(&text, name, strlen(name));
	if (!print_right_place(&text, " in this section", name, value)) {
		key = nearest_key((enum section)reading->section, name);
		text_string(&text, "; did you mean '");
		text_string(&text, key->name);
		text_string(&text, "'");
		if (key->section != reading->section) {
			text_string(&text, " of ");
			print_section(&text, key);
		}
		text_string(&text, "?");
	}
	reading_complain(reading, reading->lines.number, message);
}

static void key_of_no_section(struct reading *reading, const char *name, const char *value)
{
	char message[MESSAGE_MAX];
	struct text text;

	text_start(&text, message, sizeof(message));
	text_string(&text, "a key before the first section");
	if (!print_right_place(&text, "", name, value))
		text_string(&text, "; begin with [retrybudget]");
	reading_complain(reading, reading->lines.number, message);
}

static void twin_pattern(struct reading *reading, const char *pattern, size_t n, int twin)
{
	char message[MESSAGE_MAX];
	struct text text;

	text_start(&text, message, sizeof(message));
	text_string(&text, "pattern ");
	text_quoted(&text, pattern, n);
	text_string(&text, " stands already in [destination ");
	text_string(&text, reading->config->labels[twin]);
	text_string(&text, "]; keep one of them");
	reading_complain(reading, reading->lines.number, message);
}

static void add_pattern(struct reading *reading, const char *pattern, size_t n)
{
	struct config *config = reading->config;
	char message[MESSAGE_MAX];
	struct text why;
	int twin;

	text_start(&why, message, sizeof(message));
	if (!pattern_add(config, reading->policy, pattern, n, &twin, &why))
		reading_complain(reading, reading->lines.number, message);
	else if (twin < 0 && reading->source->origins)
		reading->source->origins->pattern[config->pattern_count - 1] =
		    reading_line(reading);
	if (twin >= 0)
		twin_pattern(reading, pattern, n, twin);
}

/* Each of a list with commas. */
static void take_each(struct reading *reading, const char *list,
                      void (*take)(struct reading *reading, const char *string, size_t n))
{
	for (;;) {
		size_t n, whole;

		list += skip_blanks(list);
		n = whole = strcspn(list, ",");
		while (n > 0 && (list[n - 1] == ' ' || list[n - 1] == '\t'))
			n--;
		take(reading, list, n);
		if (list[whole] == '\0')
			return;
		list += whole + 1;
	}
}

static void match_line(struct reading *reading, const char *list)
{
	reading->seen[KEY_DESTINATION_match] = reading_line(reading);
	if (reading->policy == 0)
		reading_complain(
		    reading, reading->lines.number,
		    "[destination default] is for whatever no other section matches; put match "
		    "into a [destination NAME]");
	else
		take_each(reading, list, add_pattern);
}

static void note_origin(struct reading *reading, int index, const char *value)
{
	struct origins *origins = reading->source->origins;
	uint8_t type = config_keys[index].type;
	bool bare = (type == TYPE_GAIN || type == TYPE_SHARE) && !strchr(value, '%');

	if (!origins)
		return;
	if (reading->section == SECTION_DESTINATION) {
		origins->destination[reading->policy][index] = reading_line(reading);
		origins->destination_bare[reading->policy][index] = bare;
	} else if (reading->section == SECTION_ADMISSION) {
		origins->admission[reading->policy][index] = reading_line(reading);
	} else {
		origins->common[index] = reading_line(reading);
		origins->common_bare[index] = bare;
	}
}

/* Which of the modes holds is worked out when all have been read (modes.h). */
static void note_mode(struct reading *reading, int index)
{
	struct config *config = reading->config;
	int i = reading->policy;

	if (index == KEY_GENERAL_mode)
		config->written.general = (int8_t)config->general.mode;
	else if (index == KEY_DESTINATION_mode)
		config->written.policies[i] = (int8_t)config->policies[i].mode;
	else if (index == KEY_ADMISSION_mode)
		config->written.admissions[i] = (int8_t)config->admissions[i].mode;
}

/* False: the line is told, and counts for nothing. Whoever misspells observe must not get enforce,
 * neither at the start nor in a program that runs. */
static bool store(struct reading *reading, const struct key *key, const char *value)
{
	void *fields =
	    section_fields(reading->config, (enum section)reading->section, reading->policy);
	char message[MESSAGE_MAX];
	struct text why;

	text_start(&why, message, sizeof(message));
	if (value_store(key, fields, value, &why))
		return true;
	if (key->type == TYPE_MODE)
		text_string(&why, "; until it is mended it means observe");
	reading_complain(reading, reading->lines.number, message);
	if (key->type != TYPE_MODE)
		return false;
	text_start(&why, message, sizeof(message));
	return value_store(key, fields, "observe", &why);
}

static void set_key(struct reading *reading, const char *name, const char *value)
{
	const struct key *key = key_find((enum section)reading->section, name);
	int index;

	if (!key) {
		unknown_key(reading, name, value);
		return;
	}
	if (key->type == TYPE_PATTERNS) {
		match_line(reading, value);
		return;
	}
	if (key->type == TYPE_LISTENERS) {
		reading->seen[KEY_ADMISSION_listen] = reading_line(reading);
		take_each(reading, value, reading_take_listener);
		return;
	}
	index = (int)(key - config_keys);
	if (overrides_hide(reading, index))
		return;
	if (reading->seen[index]) {
		reading_already(reading, name, strlen(name), reading->seen[index]);
		return;
	}
	if (!store(reading, key, value))
		return;
	reading->seen[index] = reading_line(reading);
	note_mode(reading, index);
	overrides_keep(reading, index);
	if (!reading->override)
		note_origin(reading, index, value);
}

int reading_take_key(void *arg, const char *section, const char *name, const char *value)
{
	struct reading *reading = arg;

	(void)section; /* reading_enter_section() knows it uncut */
	reading->pending = false;
	if (reading->section == SECTION_NONE)
		key_of_no_section(reading, name, value ? value : "");
	else if (reading->section != SECTION_REFUSED)
		set_key(reading, name, value ? value : "");
	return 1;
}
