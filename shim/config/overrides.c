/* SPDX-License-Identifier: MIT */
/* Lines over the file, on their way into it. */
#include "config/overrides.h"

#include "config/section.h"

struct override {
	int number; /* from 1 */
	const char *section, *line;
	size_t section_len, line_len;
};

/* The one at `from`, and where the next begins; NULL: there is none. */
static const char *parse(const char *from, struct override *one)
{
	const char *end;

	if (*from != '[')
		return NULL;
	end = strchr(from, '\n');
	one->section = from + 1;
	one->section_len = strcspn(one->section, "]\n");
	one->line = one->section + one->section_len;
	if (*one->line == ']')
		one->line++;
	one->line += skip_blanks(one->line);
	one->line_len = strcspn(one->line, "\n");
	one->number++;
	return end ? end + 1 : one->line + one->line_len;
}

static bool is_this(const struct reading *reading, const struct override *one)
{
	char name[SECTION_MAX_LEN + 1 + CONFIG_LABEL];
	const struct config *config = reading->config;
	struct text text;

	if (reading->section < 0)
		return false;
	text_start(&text, name, sizeof(name));
	text_string(&text, section_name((enum section)reading->section));
	if (reading->section == SECTION_DESTINATION) {
		text_string(&text, " ");
		text_string(&text, config->labels[reading->policy]);
	} else if (reading->section == SECTION_ADMISSION) {
		text_string(&text, " ");
		text_string(&text, config->admission_labels[reading->policy]);
	}
	return text.used == one->section_len && memcmp(name, one->section, text.used) == 0;
}

static bool is_open(const struct reading *reading, const struct override *one)
{
	return one->number <= OVERRIDES && !(reading->overrides_done >> (one->number - 1) & 1);
}

static void put(char *out, size_t size, const char *bytes, size_t n)
{
	if (n > size - 1)
		n = size - 1;
	memcpy(out, bytes, n);
	out[n] = '\0';
}

void overrides_begin(struct reading *reading)
{
	reading->override = reading->section_override = 0;
	reading->overrides_done = 0;
	memset(reading->overridden, 0, sizeof(reading->overridden));
}

bool overrides_next(struct reading *reading, char *out, size_t size)
{
	const char *at = reading->source->overrides;
	struct override one = { 0 };

	while (at && (at = parse(at, &one))) {
		if (!is_open(reading, &one) || !is_this(reading, &one))
			continue;
		put(out, size, one.line, one.line_len);
		if (!reading->override)
			reading->file_line = reading->lines.number;
		reading->override = reading->lines.number = one.number;
		reading->overrides_done |= UINT32_C(1) << (one.number - 1);
		return true;
	}
	if (reading->override)
		reading->lines.number = reading->file_line;
	reading->override = 0;
	return false;
}

bool overrides_section(struct reading *reading, char *out, size_t size)
{
	const char *at = reading->source->overrides;
	struct override one = { 0 };

	while (at && (at = parse(at, &one))) {
		if (!is_open(reading, &one))
			continue;
		reading_leave_section(reading);
		reading->file_line = reading->lines.number;
		reading->override = reading->lines.number = one.number;
		put(out, size, one.section - 1, one.section_len + 2);
		if (reading_enter_section(reading, out) && is_this(reading, &one)) {
			reading->section_override = one.number;
			return true;
		}
		/* Refused: those that are for it would be asked for again and again. */
		reading->overrides_done |= UINT32_C(1) << (one.number - 1);
	}
	return false;
}

bool overrides_hide(const struct reading *reading, int index)
{
	return !reading->override && reading->overridden[index / 8] >> index % 8 & 1;
}

void overrides_keep(struct reading *reading, int index)
{
	if (reading->override)
		reading->overridden[index / 8] |= (uint8_t)(1 << index % 8);
}
