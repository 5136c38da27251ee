/* SPDX-License-Identifier: MIT */
/* A list of HTTP status codes, as text and as struct policy packs it. */
#include "config/value_codes.h"

#include "config/keys.h"

#define LOWEST  400
#define HIGHEST 599

/* One number; *string is moved on. -1: that is none. */
static int64_t number(const char **string)
{
	const char *at = *string;
	int64_t value = 0;

	for (; is_digit(*at); at++)
		if (value < 1000000)
			value = value * 10 + (*at - '0');
	if (at == *string)
		return -1;
	*string = at;
	return value;
}

enum codes_verdict codes_parse(const char *string, int64_t *codes)
{
	int64_t packed = 0;
	int n = 0;

	if (strcmp(string, "none") == 0) {
		*codes = 0;
		return CODES_GOOD;
	}
	for (const char *at = string;;) {
		int64_t code = number(&at);

		if (code < 0 || n == STATUS_MOST)
			return CODES_NONE;
		if (code < LOWEST || code > HIGHEST)
			return CODES_OUTSIDE;
		packed |= code << n++ * STATUS_BITS;
		at += strspn(at, " \t");
		if (!*at)
			break;
		if (*at++ != ',')
			return CODES_NONE;
		at += strspn(at, " \t");
	}
	*codes = packed;
	return CODES_GOOD;
}

void codes_print(int64_t codes, struct text *out)
{
	const char *between = "";

	if (codes == 0)
		text_string(out, "none");
	for (uint64_t left = (uint64_t)codes; left; left >>= STATUS_BITS) {
		text_string(out, between);
		text_decimal(out, (int64_t)(left & ((1U << STATUS_BITS) - 1)));
		between = ", ";
	}
}
