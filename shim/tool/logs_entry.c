/* SPDX-License-Identifier: MIT */
/* One line of a log, read as a record (retrybudget(5), RECORDS). */
#include "tool/logs_entry.h"

#include "tool/logs_time.h"
#include "sys/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the stack is our own here */

#define IDENT "retrybudget["

/* The longest line that is read; a record with any header is far shorter. */
#define READ_MAX 2048

struct place {
	const char *name;
	char *text; /* or: */
	size_t size;
	int64_t *number;
};

static void copy(char *out, size_t size, const char *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n && i + 1 < size; i++)
		out[i] = (char)(bytes[i] < ' ' || bytes[i] > '~' ? '?' : bytes[i]);
	out[i] = '\0';
}

/* Only digits, and no more than any counter has. */
static bool number(const char *bytes, size_t n, int64_t *value)
{
	int64_t sum = 0;

	if (n == 0 || n > 18)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] < '0' || bytes[i] > '9')
			return false;
		sum = sum * 10 + (bytes[i] - '0');
	}
	*value = sum;
	return true;
}

/* A bare value ends at a space, a quoted one at its quote. NULL: it does not end. */
static const char *end_of_value(const char *at)
{
	if (*at != '"')
		return at + strcspn(at, " ");
	for (at++; *at != '\0' && *at != '"'; at++)
		if (*at == '\\' && at[1] != '\0')
			at++;
	return *at == '"' ? at + 1 : NULL;
}

static bool keep_value(const struct place *place, const char *value, size_t n)
{
	if (place->number)
		return number(value, n, place->number);
	if (n >= 2 && *value == '"') {
		value++;
		n -= 2;
	}
	copy(place->text, place->size, value, n);
	return true;
}

static bool read_fields(const char *at, struct log_entry *entry)
{
#define TEXT(key, field)                                                                           \
	{                                                                                          \
		key, entry->field, sizeof(entry->field), NULL                                      \
	}
#define NUMBER(key, field)                                                                         \
	{                                                                                          \
		key, NULL, 0, &entry->field                                                        \
	}
	const struct place places[] = {
		TEXT("event", event),         TEXT("prog", program),
		TEXT("dest", destination),    TEXT("policy", policy),
		TEXT("class", class),         TEXT("why", why),
		TEXT("errno", error),         TEXT("eai", error),
		TEXT("site", site),           NUMBER("retry", retry),
		NUMBER("attempts", attempts), NUMBER("throttled", throttled),
		NUMBER("refused", refused),   NUMBER("parked", parked),
		NUMBER("held", held),         NUMBER("waited_ms", waited_ms),
		NUMBER("since_ms", since_ms),
	};
	uint32_t seen = 0;

	while (*at != '\0') {
		size_t key = strcspn(at, "= ");
		const char *value = at + key + 1, *end;

		if (at[key] != '=' || key == 0)
			return false;
		end = end_of_value(value);
		if (!end || (*end != '\0' && *end != ' '))
			return false;
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
			if (strlen(places[i].name) != key || strncmp(places[i].name, at, key) != 0)
				continue;
			if (seen & UINT32_C(1) << i ||
			    !keep_value(&places[i], value, (size_t)(end - value)))
				return false;
			seen |= UINT32_C(1) << i;
		}
		at = end + (*end == ' ');
	}
	return entry->event[0] != '\0';
}

/* Where a tag ends, ": " follows for the first time: what some other program says of us comes
 * later. */
static const char *after_tag(const char *at, struct log_entry *entry)
{
	const char *colon = strstr(at, ": "), *tag;

	if (!colon || colon[-1] != ']')
		return NULL;
	for (tag = colon; tag > at && tag[-1] != ' ';)
		tag--;
	if (!begins(tag, IDENT))
		return NULL;
	tag += strlen(IDENT);
	return number(tag, (size_t)(colon - 1 - tag), &entry->pid) ? colon + 2 : NULL;
}

bool log_entry_read(const char *line, size_t n, time_t now, struct log_entry *entry)
{
	char text[READ_MAX];
	const char *at = text;

	memset(entry, 0, sizeof(*entry));
	while (n > 0 && (line[n - 1] == '\r' || line[n - 1] == '\n'))
		n--;
	if (n == 0 || n >= sizeof(text) || memchr(line, '\0', n))
		return false;
	memcpy(text, line, n);
	text[n] = '\0';
	if (!begins(at, "event=")) {
		at += log_stamp(at, now, &entry->when);
		at = *at == ':' ? NULL : after_tag(at, entry);
		if (!at || !begins(at, "event="))
			return false;
	}
	return read_fields(at, entry);
}
