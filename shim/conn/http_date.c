/* SPDX-License-Identifier: MIT */
/* What Retry-After says: a number of seconds, or a date in one of the three forms that a recipient
 * has to accept (RFC 9110 5.6.7). By hand: strptime follows the program's locale, and is not
 * async-signal-safe. */
#include "conn/http_date.h"

#include "budget/policy.h"
#include "conn/http.h"
#include "sys/text.h"

#define DAY 86400
/* Beyond any cap, and far from overflowing. */
#define MOST (INT64_C(366) * DAY)

/* A number of exactly so many digits, the first of which may be a blank where one is given; moves
 * *at on. -1: it is none. */
static int number(const char **at, int digits)
{
	int value = 0;

	if (digits == 2 && **at == ' ') {
		++*at;
		digits--;
	}
	for (; digits > 0; digits--, ++*at) {
		if (!is_digit(**at))
			return -1;
		value = value * 10 + (**at - '0');
	}
	return value;
}

static bool skip(const char **at, char c)
{
	return **at == c && *(*at)++;
}

/* 1 to 12; 0: it is none. */
static int month(const char **at)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	for (int i = 0; i < 12; i++) {
		if (strncmp(*at, names + (size_t)i * 3, 3) == 0) {
			*at += 3;
			return i + 1;
		}
	}
	return 0;
}

struct date {
	int year, month, day, hour, minute, second;
};

/* 08:49:37 */
static bool clock_time(const char **at, struct date *date)
{
	date->hour = number(at, 2);
	if (!skip(at, ':'))
		return false;
	date->minute = number(at, 2);
	if (!skip(at, ':'))
		return false;
	date->second = number(at, 2);
	return true;
}

/* Sun, 06 Nov 1994 08:49:37 GMT, and Sunday, 06-Nov-94 08:49:37 GMT. at: behind the comma. */
static bool after_comma(const char *at, struct date *date)
{
	char between;

	if (!skip(&at, ' '))
		return false;
	date->day = number(&at, 2);
	between = *at;
	if ((between != ' ' && between != '-') || !skip(&at, between))
		return false;
	date->month = month(&at);
	if (!skip(&at, between))
		return false;
	date->year = number(&at, between == '-' ? 2 : 4);
	return skip(&at, ' ') && clock_time(&at, date) && strncmp(at, " GMT", 4) == 0;
}

/* Sun Nov  6 08:49:37 1994. at: behind the name of the day. */
static bool as_asctime(const char *at, struct date *date)
{
	if (!skip(&at, ' '))
		return false;
	date->month = month(&at);
	if (!skip(&at, ' '))
		return false;
	date->day = number(&at, 2);
	if (!skip(&at, ' ') || !clock_time(&at, date) || !skip(&at, ' '))
		return false;
	date->year = number(&at, 4);
	return true;
}

/* Days from 1970-01-01 to a day of the Gregorian calendar, counted in years that begin in March. */
static int64_t days(int year, int month_of_year, int day)
{
	int64_t y = month_of_year <= 2 ? year - 1 : year;
	int64_t m = month_of_year <= 2 ? month_of_year + 9 : month_of_year - 3;

	return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

#define NO_DATE INT64_MIN

/* Seconds since 1970. */
static int64_t moment(const struct date *date)
{
	if (date->month < 1 || date->day < 1 || date->day > 31 || date->year < 1900 ||
	    date->hour < 0 || date->hour > 23 || date->minute < 0 || date->minute > 59 ||
	    date->second < 0 || date->second > 60)
		return NO_DATE;
	return days(date->year, date->month, date->day) * DAY + date->hour * 3600 +
	       date->minute * 60 + date->second;
}

static int64_t date_moment(const char *value, int64_t now)
{
	const char *comma = strchr(value, ',');
	struct date date = { 0 };
	int64_t this_year = 1970 + now / (INT64_C(31556952)); /* of 365.2425 days */

	if (comma ? !after_comma(comma + 1, &date)
	          : strlen(value) < 3 || !as_asctime(value + 3, &date))
		return NO_DATE;
	if (date.year >= 0 && date.year < 100) {
		/* More than 50 years ahead is the century before. */
		date.year += (int)(this_year - this_year % 100);
		if (date.year > this_year + 50)
			date.year -= 100;
		else if (date.year < this_year - 49)
			date.year += 100;
	}
	return moment(&date);
}

static int64_t seconds(const char *value)
{
	int64_t sum = 0;

	for (; is_digit(*value); value++)
		if (sum < MOST)
			sum = sum * 10 + (*value - '0');
	while (*value == ' ' || *value == '\t')
		value++;
	return *value ? -1 : sum;
}

int64_t http_retry_after(const char *value, int64_t now)
{
	int64_t left;

	if (is_digit(*value)) {
		left = seconds(value);
		if (left < 0)
			return -1;
	} else {
		int64_t at = date_moment(value, now);

		if (at == NO_DATE)
			return -1;
		left = at > now ? at - now : 0;
	}
	return (left < MOST ? left : MOST) * NS_PER_S;
}
