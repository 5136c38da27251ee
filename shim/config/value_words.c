/* SPDX-License-Identifier: MIT */
/* Values that are words: one list of them all. */
#include "config/value_words.h"

#include "config/presets.h"

#include <errno.h>
#include <string.h>
#include <syslog.h>

static const struct word {
	uint8_t type;
	char text[16];
	int32_t value;
} words[] = {
#define WORD(kind, word, number) { TYPE_##kind, word, number },
#include "config/keys.def"
#define PRESET(name, word, about) { TYPE_PRESET, word, PRESET_##name },
#include "config/presets.def"
};

#define WORD_COUNT (sizeof(words) / sizeof(words[0]))

bool word_parse(enum value_type type, const char *string, int32_t *value)
{
	for (size_t i = 0; i < WORD_COUNT; i++) {
		if (words[i].type == type && strcmp(words[i].text, string) == 0) {
			*value = words[i].value;
			return true;
		}
	}
	return false;
}

const char *word_of(enum value_type type, int32_t value)
{
	for (size_t i = 0; i < WORD_COUNT; i++)
		if (words[i].type == type && words[i].value == value)
			return words[i].text;
	return "";
}

void words_print(enum value_type type, struct text *out)
{
	const char *between = "";

	for (size_t i = 0; i < WORD_COUNT; i++) {
		if (words[i].type != type)
			continue;
		text_string(out, between);
		text_string(out, words[i].text);
		between = " | ";
	}
}
