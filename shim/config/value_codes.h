/* SPDX-License-Identifier: MIT */
/* Lists of HTTP status codes. */
#ifndef RETRYBUDGET_CONFIG_VALUE_CODES_H
#define RETRYBUDGET_CONFIG_VALUE_CODES_H

#include "sys/text.h"

/* HTTP status codes as struct policy packs them; text: those codes, or "none". */
enum codes_verdict {
	CODES_GOOD,
	CODES_NONE,    /* that is no list of numbers, or too long a one */
	CODES_OUTSIDE, /* a number that is not from 400 to 599 */
};
enum codes_verdict codes_parse(const char *string, int64_t *codes);
void codes_print(int64_t codes, struct text *out);

#endif
