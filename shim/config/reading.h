/* SPDX-License-Identifier: MIT */
/* One reading of a file: what the parts of the parser share. Private to this room. */
#ifndef RETRYBUDGET_CONFIG_READING_H
#define RETRYBUDGET_CONFIG_READING_H

#include "config/read.h"

#include <string.h>

#define SECTION_MAX_LEN 49 /* inih 55 cuts what is longer */
#define MESSAGE_MAX     256

/* Values of struct reading.section besides enum section. */
#define SECTION_NONE    (-1) /* no section line yet */
#define SECTION_REFUSED (-2) /* its keys are not looked at: one message is enough */

struct reading {
	struct config *config;
	const struct source *source;
	struct lines lines;
	bool all;     /* the pass over everything, the only one that complains */
	bool pending; /* inih was given a key line and has not made anything of it */
	bool stopped; /* the file cannot be read on */
	struct backoff_rule default_backoff; /* of [destination default], as it is written */
	int complaints;
	int section;                          /* enum section or one of the above */
	int policy;                           /* index of the section, of those with a label */
	uint16_t common_lines[SECTION_COUNT]; /* where sections without label begin, 0 = nowhere */
	uint16_t policy_lines[CONFIG_POLICIES];
	uint16_t admission_lines[CONFIG_ADMISSIONS];
	uint16_t seen[KEY_COUNT]; /* lines of the keys of this section */
	int override, file_line;  /* number of the override that is being read, 0: the file is */
	int section_override;     /* the override that this section began with, or 0 */
	uint32_t overrides_done;  /* one bit each */
	uint8_t overridden[KEY_COUNT / 8 + 1]; /* keys of this section */
};

/* Tells of a bad line, unless this is the silent pass. */
void reading_complain(struct reading *reading, int line, const char *message);

/* Tells that the name in this line stands already in another one. */
void reading_already(struct reading *reading, const char *what, size_t n, int line);

/* False, and told, if a label has other than the bytes of a label. */
bool reading_label_valid(struct reading *reading, const char *label);

/* How many blanks a string begins with. */
static inline size_t skip_blanks(const char *string)
{
	return strspn(string, " \t");
}

/* The number of this line, as kept for messages and origins. */
static inline uint16_t reading_line(const struct reading *reading)
{
	return (uint16_t)(reading->lines.number > UINT16_MAX ? UINT16_MAX : reading->lines.number);
}

#endif
