/* SPDX-License-Identifier: MIT */
/* From the text of a value to the field of its key, and back; and what a key accepts, in words. */
#include "config/value.h"

#include "config/keys.h"
#include "config/servers.h"
#include "config/value_codes.h"
#include "config/value_numbers.h"
#include "config/value_words.h"

#include <string.h>

#define QUOTED_MAX 48 /* of what the operator wrote, so that the rest of a message still fits */

_Static_assert(sizeof(((struct general_settings *)0)->share) > SHARE_NAME_MAX,
               "every share name fits its field");

/* What stands for an empty text. */
static const char none[] = "none";

void text_quoted(struct text *text, const char *bytes, size_t n)
{
	text_string(text, "'");
	text_escaped(text, bytes, n, QUOTED_MAX);
	text_string(text, "'");
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

static enum value_verdict store_text(const struct key *key, char *field, const char *string)
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
		return VALUE_NOT_UNDERSTOOD;
	memset(field, 0, key->size);
	memcpy(field, string, strlen(string));
	return VALUE_GOOD;
}

static enum value_verdict store(const struct key *key, char *field, const char *string)
{
	enum value_verdict verdict;
	int64_t wide;
	int32_t narrow;

	if (key->type >= TYPE_WORDS) {
		if (!word_parse(key->type, string, &narrow))
			return VALUE_NOT_UNDERSTOOD;
		memcpy(field, &narrow, sizeof(narrow));
		return VALUE_GOOD;
	}
	if (key->type == TYPE_CODES) {
		enum codes_verdict codes = codes_parse(string, &wide);

		if (codes == CODES_GOOD)
			memcpy(field, &wide, sizeof(wide));
		return codes == CODES_GOOD      ? VALUE_GOOD
		       : codes == CODES_OUTSIDE ? VALUE_OUT_OF_RANGE
		                                : VALUE_NOT_UNDERSTOOD;
	}
	if (is_text(key))
		return store_text(key, field, string);
	verdict = number_parse(key, string, &wide);
	if (verdict != VALUE_GOOD)
		return verdict;
	narrow = (int32_t)wide;
	if (key->size == sizeof(narrow))
		memcpy(field, &narrow, sizeof(narrow));
	else
		memcpy(field, &wide, sizeof(wide));
	return VALUE_GOOD;
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
	number_print(key, key->min, out);
	text_string(out, " to ");
	number_print(key, key->max, out);
}

/* "80", where "80%" would do: who leaves the % out means it all the same. */
static void suggest_percent(const struct key *key, const char *string, struct text *why)
{
	char percent[24];
	struct text text;
	int64_t value;

	if (key->type != TYPE_GAIN && key->type != TYPE_SHARE)
		return;
	text_start(&text, percent, sizeof(percent));
	if (!text_string(&text, string) || !text_string(&text, "%") ||
	    number_parse(key, percent, &value) != VALUE_GOOD)
		return;
	text_string(why, "; did you mean ");
	text_string(why, percent);
	text_string(why, "?");
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
	enum value_verdict verdict = store(key, (char *)fields + key->offset, string);

	if (verdict == VALUE_GOOD)
		return true;
	text_string(why, key->name);
	text_string(why, " = ");
	text_quoted(why, string, strlen(string));
	if (verdict == VALUE_OUT_OF_RANGE) {
		text_string(why, " is out of range: ");
		print_range(key, why);
		suggest_percent(key, string, why);
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
	if (key->type >= TYPE_WORDS)
		text_string(out, word_of(key->type, (int32_t)wide));
	else if (key->type == TYPE_CODES)
		codes_print(wide, out);
	else
		number_print(key, wide, out);
}
