/* SPDX-License-Identifier: MIT */
/* Moments: time stamps of syslog, and what people write after --since. */
#include "tool/logs_time.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY 86400

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* ".123456" in µs; any number of digits. */
static const char *read_fraction(const char *at, int64_t *us)
{
	int64_t unit = US_PER_S;

	*us = 0;
	if (*at != '.' && *at != ',')
		return at;
	for (at++; isdigit((unsigned char)*at); at++) {
		unit /= 10;
		*us += (*at - '0') * unit;
	}
	return at;
}

/* "Z", "+01:00" or "+0100": seconds east of Greenwich. NULL: none of them. */
static const char *read_zone(const char *at, long *east)
{
	long hours, minutes;

	*east = 0;
	if (*at == 'Z')
		return at + 1;
	if (*at != '+' && *at != '-')
		return NULL;
	if (digits(at + 1) == 2 && at[3] == ':' && digits(at + 4) == 2) {
		minutes = strtol(at + 4, NULL, 10);
		hours = strtol(at + 1, NULL, 10);
	} else if (digits(at + 1) == 4) {
		minutes = strtol(at + 1, NULL, 10) % 100;
		hours = strtol(at + 1, NULL, 10) / 100;
	} else {
		return NULL;
	}
	*east = (*at == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
	return at + (at[3] == ':' ? 6 : 5);
}

static size_t stamp_with_zone(const char *line, int64_t *when)
{
	struct tm parts = { 0 };
	const char *at = strptime(line, "%Y-%m-%dT%H:%M:%S", &parts);
	int64_t us;
	long east;

	if (!at)
		return 0;
	at = read_zone(read_fraction(at, &us), &east);
	if (!at || *at != ' ')
		return 0;
	*when = ((int64_t)timegm(&parts) - east) * US_PER_S + us;
	return (size_t)(at + 1 - line);
}

/* The year is the last one in which the moment is not to come; a day more for clocks that differ.
 */
static size_t stamp_without_year(const char *line, time_t now, int64_t *when)
{
	struct tm parts = { 0 }, today;
	const char *at = strptime(line, "%b %d %H:%M:%S", &parts);
	time_t moment;

	if (!at || *at != ' ' || !localtime_r(&now, &today))
		return 0;
	for (int back = 0; back < 2; back++) {
		struct tm copy = parts;

		copy.tm_year = today.tm_year - back;
		copy.tm_isdst = -1;
		moment = mktime(&copy);
		*when = (int64_t)moment * US_PER_S;
		if (moment <= now + DAY)
			break;
	}
	return (size_t)(at + 1 - line);
}

size_t log_stamp(const char *line, time_t now, int64_t *when)
{
	size_t n = stamp_with_zone(line, when);

	return n > 0 ? n : stamp_without_year(line, now, when);
}

static bool ago(const char *text, time_t now, int64_t *when)
{
	static const struct {
		char letter;
		int64_t seconds;
	} units[] = {
		{ 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', DAY }, { 'w', INT64_C(7) * DAY }
	};
	size_t n = digits(text);

	if (n == 0 || n > 9 || text[n] == '\0' || text[n + 1] != '\0')
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (units[i].letter == text[n]) {
			*when = (now - strtoll(text, NULL, 10) * units[i].seconds) * US_PER_S;
			return true;
		}
	return false;
}

bool log_moment(const char *text, time_t now, int64_t *when)
{
	static const struct {
		const char *form;
		bool has_date;
	} forms[] = {
		{ "%Y-%m-%d %H:%M:%S", true },
		{ "%Y-%m-%dT%H:%M:%S", true },
		{ "%Y-%m-%d %H:%M", true },
		{ "%Y-%m-%dT%H:%M", true },
		{ "%Y-%m-%d", true },
		{ "%H:%M:%S", false },
		{ "%H:%M", false },
	};
	struct tm today;

	if (ago(text, now, when))
		return true;
	if (!localtime_r(&now, &today))
		return false;
	today.tm_hour = today.tm_min = today.tm_sec = 0;
	today.tm_isdst = -1;
	if (strcmp(text, "today") == 0 || strcmp(text, "yesterday") == 0) {
		today.tm_mday -= *text == 'y';
		*when = (int64_t)mktime(&today) * US_PER_S;
		return true;
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm parts = { .tm_isdst = -1 };
		const char *end;

		if (!forms[i].has_date)
			parts = today;
		end = strptime(text, forms[i].form, &parts);
		if (!end || *end != '\0')
			continue;
		*when = (int64_t)mktime(&parts) * US_PER_S;
		return true;
	}
	return false;
}

const char *log_time_text(int64_t when)
{
	static char text[32];
	time_t seconds = (time_t)(when / US_PER_S);
	struct tm parts;

	if (when == 0 || !localtime_r(&seconds, &parts) ||
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts) == 0)
		(void)snprintf(text, sizeof(text), "-");
	return text;
}
