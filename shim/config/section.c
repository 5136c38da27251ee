/* SPDX-License-Identifier: MIT */
/* The section lines of the file: which section is meant, and whether it may stand here. */
#include "config/section.h"

#include "config/admission_sections.h"
#include "config/presets.h"
#include "config/value.h"

#include <string.h>

static const char label_default[] = "default"; /* of the section for all others */

/* Adds "min = 20s". */
static void print_setting(struct text *text, int index, const struct policy *policy)
{
	text_string(text, config_keys[index].name);
	text_string(text, " = ");
	value_print(&config_keys[index], policy, text);
}

static void complain_of_key(struct reading *reading, int index, int line, const char *message)
{
	int override = reading->override;

	if (reading->overridden[index / 8] >> index % 8 & 1)
		reading->override = line;
	reading_complain(reading, line, message);
	reading->override = override;
}

/* A time of the backoff that is longer than the longest backoff is told, and counts as that. */
static void bound_by_cap(struct reading *reading, int index, int64_t *time)
{
	struct policy *policy = &reading->config->policies[reading->policy];
	struct origins *origins = reading->source->origins;
	uint16_t line = reading->seen[index];
	int by = index;
	char message[MESSAGE_MAX];
	struct text text;

	if (*time <= policy->backoff.cap)
		return;
	text_start(&text, message, sizeof(message));
	print_setting(&text, index, policy);
	if (!line) {
		line = reading->seen[by = KEY_DESTINATION_cap];
		text_string(&text, " (not set in this section)");
	}
	text_string(&text, " is longer than ");
	print_setting(&text, KEY_DESTINATION_cap, policy);
	text_string(&text, " and counts as that; set a shorter ");
	text_string(&text, config_keys[index].name);
	text_string(&text, " or a longer cap; usual: ");
	text_string(&text, config_keys[index].initial);
	text_string(&text, " and ");
	text_string(&text, config_keys[KEY_DESTINATION_cap].initial);
	complain_of_key(reading, by, line, message);
	*time = policy->backoff.cap;
	if (origins)
		origins->destination[reading->policy][index] = line;
}

/* What the keys of a section say together, wherever each of them stands. */
static void check_backoff(struct reading *reading)
{
	struct backoff_rule *backoff = &reading->config->policies[reading->policy].backoff;

	if (reading->policy == 0)
		reading->default_backoff = *backoff;
	bound_by_cap(reading, KEY_DESTINATION_base, &backoff->base);
	bound_by_cap(reading, KEY_DESTINATION_min, &backoff->min);
}

/* Fills in what the section does not say itself, now that all of it has been read. */
static void apply_preset(struct reading *reading)
{
	struct policy *policy = &reading->config->policies[reading->policy];
	struct origins *origins = reading->source->origins;
	uint16_t line = reading->seen[KEY_DESTINATION_preset];
	char unused[8];
	struct text why;

	if (!line)
		return; /* one of [destination default] has been applied there */
	text_start(&why, unused, sizeof(unused));
	for (int i = 0; i < KEY_COUNT; i++) {
		const char *value = preset_value((enum preset)policy->preset, (enum key_index)i);

		if (!value || reading->seen[i])
			continue;
		value_store(&config_keys[i], policy, value, &why);
		if (origins)
			origins->destination[reading->policy][i] = line;
	}
}

void reading_leave_section(struct reading *reading)
{
	int override = reading->override;

	reading->override = reading->section_override;
	if (reading->section == SECTION_DESTINATION)
		apply_preset(reading);
	if (reading->section == SECTION_DESTINATION)
		check_backoff(reading);
	if (reading->section == SECTION_DESTINATION && reading->policy > 0 &&
	    !reading->seen[KEY_DESTINATION_match])
		reading_complain(
		    reading, reading->policy_lines[reading->policy],
		    "this section has no match line, so it is for nothing; add for example "
		    "'match = db.internal:5432'");
	if (reading->section == SECTION_ADMISSION)
		reading_leave_admission(reading);
	reading->section = SECTION_REFUSED;
	memset(reading->seen, 0, sizeof(reading->seen));
	memset(reading->overridden, 0, sizeof(reading->overridden));
	reading->override = override;
	reading->section_override = 0;
}

/* A labelled section starts as a copy of [destination default]. */
static void enter_label(struct reading *reading, const char *label, size_t n)
{
	struct config *config = reading->config;
	int policy = config->policy_count;

	for (int i = 1; i < policy; i++) {
		if (strlen(config->labels[i]) == n && memcmp(config->labels[i], label, n) == 0) {
			reading_already(reading, label, n, reading->policy_lines[i]);
			return;
		}
	}
	if (policy == CONFIG_POLICIES) {
		reading_complain(
		    reading, reading->lines.number,
		    "too many sections: there is room for 63 labels besides the default one; "
		    "put several patterns into one match line");
		return;
	}
	config->policies[policy] = config->policies[0];
	memset(config->labels[policy], 0, CONFIG_LABEL);
	memcpy(config->labels[policy], label, n);
	config->policy_count++;
	reading->section = SECTION_DESTINATION;
	reading->policy = policy;
	reading->policy_lines[policy] = reading_line(reading);
	if (reading->source->origins)
		reading->source->origins->section[policy] = reading_line(reading);
}

static void enter_common(struct reading *reading, int section, const char *name, size_t n)
{
	if (reading->common_lines[section]) {
		reading_already(reading, name, n, reading->common_lines[section]);
		return;
	}
	reading->common_lines[section] = reading_line(reading);
	reading->section = section;
	reading->policy = 0;
	if (section != SECTION_DESTINATION)
		return;
	/* The silent pass has bounded it, and a bounded value would not be complained about. */
	if (reading->all)
		reading->config->policies[0].backoff = reading->default_backoff;
	if (reading->source->origins)
		reading->source->origins->section[0] = reading_line(reading);
}

static void enter_destination(struct reading *reading, const char *label, size_t n)
{
	if (n == 0) {
		reading_complain(reading, reading->lines.number,
		                 "a label is missing: [destination default] or [destination NAME]");
	} else if (n == sizeof(label_default) - 1 && memcmp(label, label_default, n) == 0) {
		enter_common(reading, SECTION_DESTINATION, "destination default",
		             strlen("destination default"));
	} else if (reading_label_valid(reading, label) && reading->all) {
		enter_label(reading, label, n);
	}
}

/* A name that is like none is that of a destination, whose word is missing. */
static void suggest_section(struct text *text, const char *name, size_t n)
{
	char word[SECTION_MAX_LEN + 1] = { 0 };
	const char *nearest;

	memcpy(word, name, strcspn(name, " \t]"));
	nearest = nearest_section(word);
	if (!nearest && strcmp(word, label_default) != 0) {
		text_string(text, "; a destination is [destination ");
		text_escaped(text, n > 0 ? name : "NAME", n > 0 ? n : 4, SECTION_MAX_LEN);
		text_string(text, "]");
		return;
	}
	text_string(text, "; did you mean [");
	text_string(text, nearest ? nearest : "destination default");
	if (nearest && (strcmp(nearest, section_name(SECTION_DESTINATION)) == 0 ||
	                strcmp(nearest, section_name(SECTION_ADMISSION)) == 0))
		text_string(text, " NAME");
	text_string(text, "]?");
}

static void unknown_section(struct reading *reading, const char *name, size_t n)
{
	char message[MESSAGE_MAX];
	struct text text;

	text_start(&text, message, sizeof(message));
	text_string(&text, "unknown section ");
	text_quoted(&text, name, n);
	suggest_section(&text, name, n);
	reading_complain(reading, reading->lines.number, message);
}

bool reading_enter_section(struct reading *reading, const char *line)
{
	const char *name = line + 1 + skip_blanks(line + 1), *end = strchr(line, ']'), *rest;
	size_t n, word;

	reading_leave_section(reading);
	if (!end) {
		reading_complain(reading, reading->lines.number,
		                 "the ']' of the section is missing");
		return false;
	}
	if (end - line - 1 > SECTION_MAX_LEN) {
		reading_complain(reading, reading->lines.number,
		                 "a section name has at most 49 characters; shorten the label");
		return false;
	}
	rest = end + 1 + skip_blanks(end + 1);
	if (*rest != '\0' && *rest != ';' && *rest != '#')
		reading_complain(reading, reading->lines.number,
		                 "text after ']'; write it into a line of its own");
	if (name > end)
		name = end;
	n = (size_t)(end - name);
	while (n > 0 && (name[n - 1] == ' ' || name[n - 1] == '\t'))
		n--;
	word = strcspn(name, " \t]");
	for (int i = SECTION_DESTINATION; i < SECTION_COUNT; i++) {
		size_t gap = word + skip_blanks(name + word);
		char label[SECTION_MAX_LEN + 1] = { 0 };

		if (word != strlen(section_name(i)) || memcmp(name, section_name(i), word) != 0)
			continue;
		memcpy(label, name + gap, n > gap ? n - gap : 0);
		if (i == SECTION_DESTINATION)
			enter_destination(reading, label, strlen(label));
		else
			reading_enter_admission(reading, label);
		return true;
	}
	for (int i = 0; i < SECTION_DESTINATION; i++) {
		if (strlen(section_name(i)) == n && memcmp(section_name(i), name, n) == 0) {
			enter_common(reading, i, name, n);
			return true;
		}
	}
	unknown_section(reading, name, n);
	return true;
}
