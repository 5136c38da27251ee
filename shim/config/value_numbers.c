/* SPDX-License-Identifier: MIT */
/* How the text of a number becomes one in the unit of budget/policy.h, and back. */
#include "config/value_numbers.h"

#include <string.h>

struct unit {
	char name[4];
	int64_t ns;
};

/* Smallest first. */
static const struct unit units[] = {
	{ "us", 1000 },         { "ms", NS_PER_MS },      { "s", NS_PER_S },
	{ "m", 60 * NS_PER_S }, { "h", 3600 * NS_PER_S },
};

#define UNIT_COUNT (sizeof(units) / sizeof(units[0]))

#define SHARE_STEP INT64_C(10) /* ppm: a thousandth of a percent */

const char *decimal_parse(const char *string, int64_t scale, int64_t *value)
{
	int64_t whole = 0, part = 0, unit = 1, sum;
	const char *at = string;

	for (; is_digit(*at); at++) {
		if (whole > (INT64_MAX / scale - 9) / 10)
			return NULL;
		whole = whole * 10 + (*at - '0');
	}
	if (at == string)
		return NULL;
	if (*at == '.') {
		if (!is_digit(*++at))
			return NULL;
		for (; is_digit(*at); at++) {
			if (unit >= 1000000)
				return NULL;
			unit *= 10;
			part = part * 10 + (*at - '0');
		}
	}
	sum = (part * scale + unit / 2) / unit;
	if (sum == 0 && part > 0 && whole == 0)
		return NULL;
	if (whole * scale > INT64_MAX - sum)
		return NULL;
	*value = whole * scale + sum;
	return at;
}

/* "10%" or "0.1", in parts of `whole`. */
static bool share_parse(const char *string, int64_t whole, int64_t *value)
{
	const char *end = decimal_parse(string, whole, value);

	if (end && *end == '\0')
		return true;
	end = decimal_parse(string, whole / 100, value);
	return end && strcmp(end, "%") == 0;
}

static bool time_parse(const char *string, int64_t *value)
{
	if (strcmp(string, "0") == 0) {
		*value = 0;
		return true;
	}
	for (size_t i = 0; i < UNIT_COUNT; i++) {
		const char *end = decimal_parse(string, units[i].ns, value);

		if (end && strcmp(end, units[i].name) == 0)
			return true;
	}
	return false;
}

static bool rate_parse(const char *string, int64_t *value)
{
	const char *end = decimal_parse(string, PPM_WHOLE, value);
	int64_t per;

	if (!end)
		return false;
	if (strcmp(end, "/s") == 0)
		per = 1;
	else if (strcmp(end, "/min") == 0 || strcmp(end, "/m") == 0)
		per = 60;
	else if (strcmp(end, "/h") == 0)
		per = 3600;
	else
		return end[0] == '\0' && *value == 0;
	per *= PPM_WHOLE / MT_PER_TOKEN;
	if (*value > 0 && *value < (per + 1) / 2)
		return false;
	*value = *value / per + (*value % per >= (per + 1) / 2);
	return true;
}

/* True if string is a number that is too large for the field, rather than no number at all: the
 * operator should then be told the range. */
static bool is_huge(const char *string)
{
	size_t digits = strspn(string, "0123456789");

	return digits > 6 && strspn(string + digits, "0123456789.%/abcdefghijklmnopqrstuvwxyz") ==
	                         strlen(string + digits);
}

enum value_verdict number_parse(const struct key *key, const char *string, int64_t *value)
{
	const char *end = NULL;
	bool good;

	switch (key->type) {
	case TYPE_TOKENS:
	case TYPE_FACTOR:
		end = decimal_parse(string, MT_PER_TOKEN, value);
		good = end && *end == '\0';
		break;
	case TYPE_GAIN:
		good = share_parse(string, MT_PER_TOKEN, value);
		break;
	case TYPE_SHARE:
		good = share_parse(string, PPM_WHOLE / SHARE_STEP, value);
		if (good)
			*value *= SHARE_STEP;
		break;
	case TYPE_RATE:
		good = rate_parse(string, value);
		break;
	case TYPE_TIME:
		good = time_parse(string, value);
		break;
	default:
		end = decimal_parse(string, 1, value);
		good = end && *end == '\0' && !strchr(string, '.');
		break;
	}
	if (!good)
		return is_huge(string) ? VALUE_OUT_OF_RANGE : VALUE_NOT_UNDERSTOOD;
	return *value >= key->min && *value <= key->max ? VALUE_GOOD : VALUE_OUT_OF_RANGE;
}

void number_print(const struct key *key, int64_t value, struct text *out)
{
	size_t unit = UNIT_COUNT - 1;

	switch (key->type) {
	case TYPE_TOKENS:
	case TYPE_FACTOR:
		text_thousandths(out, value);
		break;
	case TYPE_GAIN:
		text_thousandths(out, value * (100 * 1000 / MT_PER_TOKEN));
		text_string(out, "%");
		break;
	case TYPE_SHARE:
		text_thousandths(out, value / SHARE_STEP);
		text_string(out, "%");
		break;
	case TYPE_RATE:
		text_thousandths(out, value);
		text_string(out, "/s");
		break;
	case TYPE_TIME:
		if (value == 0) {
			text_string(out, "0");
			break;
		}
		/* One minute reads better as 60s. */
		while (unit > 0 && (value % units[unit].ns != 0 ||
		                    (value == units[unit].ns && value == 60 * NS_PER_S)))
			unit--;
		text_thousandths(out, value / (units[unit].ns / 1000));
		text_string(out, units[unit].name);
		break;
	default:
		text_decimal(out, value);
		break;
	}
}
