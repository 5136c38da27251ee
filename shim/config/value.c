/* SPDX-License-Identifier: MIT */
/* How the text of a value becomes a number in the unit of budget/policy.h, and back. */
#include "config/value.h"

#include "config/keys.h"
#include "config/servers.h"
#include "config/value_codes.h"
#include "config/value_words.h"

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

#define QUOTED_MAX 48 /* of what the operator wrote, so that the rest of a message still fits */
#define SHARE_STEP INT64_C(10) /* ppm: a thousandth of a percent */

_Static_assert(sizeof(((struct general_settings *)0)->share) > SHARE_NAME_MAX,
               "every share name fits its field");

/* What stands for an empty text. */
static const char none[] = "none";

enum verdict {
	GOOD,
	NOT_UNDERSTOOD,
	OUT_OF_RANGE,
};

const char *decimal_parse(const char *string, int64_t scale, int64_t *value)
{
	int64_t whole = 0, part = 0, unit = 1, sum;
	const char *at = string;

	for (; *at >= '0' && *at <= '9'; at++) {
		if (whole > (INT64_MAX / scale - 9) / 10)
			return NULL;
		whole = whole * 10 + (*at - '0');
	}
	if (at == string)
		return NULL;
	if (*at == '.') {
		if (*++at < '0' || *at > '9')
			return NULL;
		for (; *at >= '0' && *at <= '9'; at++) {
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

void text_quoted(struct text *text, const char *bytes, size_t n)
{
	text_string(text, "'");
	text_escaped(text, bytes, n, QUOTED_MAX);
	text_string(text, "'");
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

static enum verdict number_parse(const struct key *key, const char *string, int64_t *value)
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
		return is_huge(string) ? OUT_OF_RANGE : NOT_UNDERSTOOD;
	return *value >= key->min && *value <= key->max ? GOOD : OUT_OF_RANGE;
}

/* Where the field is the text itself. */
static bool is_text(const struct key *key)
{
	return key->type == TYPE_NAME || key->type == TYPE_PATH || key->type == TYPE_FILE ||
	       key->type == TYPE_SERVERS;
}

static bool may_be_none(const struct key *key)
{
	return key->type == TYPE_FILE || key->type == TYPE_SERVERS;
}

static enum verdict store_text(const struct key *key, char *field, const char *string)
{
	bool good = strlen(string) < key->size;

	if (may_be_none(key) && strcmp(string, none) == 0)
		string = "";
	else if (key->type == TYPE_NAME)
		good = share_name_valid(string);
	else if (key->type == TYPE_SERVERS)
		good = good && servers_are_valid(string);
	else
		good = good && string[0] == '/';
	if (!good)
		return NOT_UNDERSTOOD;
	memset(field, 0, key->size);
	memcpy(field, string, strlen(string));
	return GOOD;
}

static enum verdict store(const struct key *key, char *field, const char *string)
{
	enum verdict verdict;
	int64_t wide;
	int32_t narrow;

	if (key->type >= TYPE_WORDS) {
		if (!word_parse(key->type, string, &narrow))
			return NOT_UNDERSTOOD;
		memcpy(field, &narrow, sizeof(narrow));
		return GOOD;
	}
	if (key->type == TYPE_CODES) {
		enum codes_verdict codes = codes_parse(string, &wide);

		if (codes == CODES_GOOD)
			memcpy(field, &wide, sizeof(wide));
		return codes == CODES_GOOD      ? GOOD
		       : codes == CODES_OUTSIDE ? OUT_OF_RANGE
		                                : NOT_UNDERSTOOD;
	}
	if (is_text(key))
		return store_text(key, field, string);
	verdict = number_parse(key, string, &wide);
	if (verdict != GOOD)
		return verdict;
	narrow = (int32_t)wide;
	if (key->size == sizeof(narrow))
		memcpy(field, &narrow, sizeof(narrow));
	else
		memcpy(field, &wide, sizeof(wide));
	return GOOD;
}

static void print_number(const struct key *key, int64_t value, struct text *out)
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
	case TYPE_CODES:
		codes_print(value, out);
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

static const char *accepted(enum value_type type)
{
	switch (type) {
	case TYPE_TOKENS:
	case TYPE_FACTOR:
		return "a number such as 2 or 0.5";
	case TYPE_GAIN:
	case TYPE_SHARE:
		return "a share such as 10% or 0.1";
	case TYPE_RATE:
		return "a rate such as 2/s, 12/min or 30/h, of at least 0.0005/s";
	case TYPE_TIME:
		return "a time with its unit, such as 500us, 250ms, 30s, 5m or 1h";
	case TYPE_COUNT:
		return "a whole number";
	case TYPE_CODES:
		return "none, or at most six codes such as 429, 503";
	case TYPE_NAME:
		return "a name of 1 to 63 letters, digits, '.', '_' or '-', not beginning with '.'";
	case TYPE_PATH:
		return "an absolute path of at most 107 characters";
	case TYPE_FILE:
		return "none, or an absolute path of at most 107 characters";
	case TYPE_SERVERS:
		return "none, or at most eight servers such as unix:/run/redis.sock, "
		       "10.0.0.5:6379, [2001:db8::1]:6379";
	case TYPE_LISTENERS:
		return "addresses such as :8080, 127.0.0.1:80, [::]:80, unix:/run/app.sock";
	default:
		return "patterns such as db.internal:5432, *.internal, 10.0.0.0/8:443, "
		       "unix:/run/*.sock";
	}
}

static void print_range(const struct key *key, struct text *out)
{
	print_number(key, key->min, out);
	text_string(out, " to ");
	print_number(key, key->max, out);
}

void value_describe(const struct key *key, struct text *out)
{
	if (key->type >= TYPE_WORDS)
		words_print(key->type, out);
	else if (key->type <= TYPE_COUNT)
		print_range(key, out);
	else
		text_string(out, accepted(key->type));
}

bool value_store(const struct key *key, void *fields, const char *string, struct text *why)
{
	enum verdict verdict = store(key, (char *)fields + key->offset, string);

	if (verdict == GOOD)
		return true;
	text_string(why, key->name);
	text_string(why, " = ");
	text_quoted(why, string, strlen(string));
	if (verdict == OUT_OF_RANGE) {
		text_string(why, " is out of range: ");
		print_range(key, why);
	} else if (key->type >= TYPE_WORDS) {
		text_string(why, " is not one of: ");
		words_print(key->type, why);
	} else {
		text_string(why, " is not ");
		text_string(why, accepted(key->type));
	}
	if (strchr(string, '#'))
		text_string(why, " (a comment after a value begins with a blank and ';')");
	return false;
}

void value_print(const struct key *key, const void *fields, struct text *out)
{
	const char *field = (const char *)fields + key->offset;
	int64_t wide;
	int32_t narrow;

	if (is_text(key)) {
		text_string(out, may_be_none(key) && *field == '\0' ? none : field);
		return;
	}
	if (key->size == sizeof(wide)) {
		memcpy(&wide, field, sizeof(wide));
	} else {
		memcpy(&narrow, field, sizeof(narrow));
		wide = narrow;
	}
	if (key->type < TYPE_WORDS) {
		print_number(key, wide, out);
		return;
	}
	text_string(out, word_of(key->type, (int32_t)wide));
}
