/* SPDX-License-Identifier: MIT */
/* What the parts of the parser have to complain of alike. */
#include "config/reading.h"

#include "config/overrides.h"
#include "config/value.h"

void reading_complain(struct reading *reading, int line, const char *message)
{
	if (!reading->all)
		return;
	reading->complaints++;
	if (reading->source->complain)
		reading->source->complain(
		    reading->source->arg,
		    reading->override ? OVERRIDES_FILE : reading->source->file, line, message);
}

void reading_already(struct reading *reading, const char *what, size_t n, int line)
{
	char message[MESSAGE_MAX];
	struct text text;

	text_start(&text, message, sizeof(message));
	text_quoted(&text, what, n);
	text_string(&text, " stands already in line ");
	text_decimal(&text, line);
	text_string(&text, "; keep one of them");
	reading_complain(reading, reading->lines.number, message);
}

bool reading_label_valid(struct reading *reading, const char *label)
{
	static const char bytes[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (label[strspn(label, bytes)] == '\0')
		return true;
	reading_complain(reading, reading->lines.number,
	                 "a label is made of letters, digits, '.', '_' and '-'; write what it is "
	                 "for into a line "
	                 "of its own: 'match = *.internal:5432' or 'listen = :8080'");
	return false;
}
