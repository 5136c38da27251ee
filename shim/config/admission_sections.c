/* SPDX-License-Identifier: MIT */
/* The [admission …] sections of the file, and their listen lines. */
#include "config/admission_sections.h"

#include "config/listen.h"
#include "config/value.h"

void reading_enter_admission(struct reading *reading, const char *label)
{
	struct config *config = reading->config;
	int index = config->admission_count;
	size_t n = strlen(label);

	if (n == 0) {
		reading_complain(reading, reading->lines.number,
		                 "a label is missing: [admission NAME]");
		return;
	}
	if (!reading_label_valid(reading, label) || !reading->all)
		return;
	for (int i = 0; i < index; i++) {
		if (strcmp(config->admission_labels[i], label) == 0) {
			reading_already(reading, label, n, reading->admission_lines[i]);
			return;
		}
	}
	if (index == CONFIG_ADMISSIONS) {
		reading_complain(reading, reading->lines.number,
		                 "too many sections: there is room for 16 [admission …]; put "
		                 "several addresses into one listen line");
		return;
	}
	memset(config->admission_labels[index], 0, CONFIG_LABEL);
	memcpy(config->admission_labels[index], label, n);
	section_defaults(config, SECTION_ADMISSION, index);
	config->admission_count++;
	reading->section = SECTION_ADMISSION;
	reading->policy = index;
	reading->admission_lines[index] = reading_line(reading);
}

void reading_leave_admission(struct reading *reading)
{
	if (!reading->seen[KEY_ADMISSION_listen])
		reading_complain(reading, reading->admission_lines[reading->policy],
		                 "this section has no listen line, so it is for nothing; add for "
		                 "example 'listen = :8080'");
}

static void twin_listener(struct reading *reading, const char *address, size_t n, int twin)
{
	char message[MESSAGE_MAX];
	struct text text;

	text_start(&text, message, sizeof(message));
	text_string(&text, "listen ");
	text_quoted(&text, address, n);
	text_string(&text, " stands already in [admission ");
	text_string(&text, reading->config->admission_labels[twin]);
	text_string(&text, "]; keep one of them");
	reading_complain(reading, reading->lines.number, message);
}

void reading_take_listener(struct reading *reading, const char *string, size_t n)
{
	struct config *config = reading->config;
	struct origins *origins = reading->source->origins;
	char message[MESSAGE_MAX];
	struct text why;
	int twin;

	text_start(&why, message, sizeof(message));
	if (!listener_add(config, reading->policy, string, n, &twin, &why))
		reading_complain(reading, reading->lines.number, message);
	else if (twin >= 0)
		twin_listener(reading, string, n, twin);
	else if (origins)
		origins->listener[config->listener_count - 1] = reading_line(reading);
}
