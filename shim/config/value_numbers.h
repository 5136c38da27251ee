/* SPDX-License-Identifier: MIT */
/* Values that are numbers with units. */
#ifndef RETRYBUDGET_CONFIG_VALUE_NUMBERS_H
#define RETRYBUDGET_CONFIG_VALUE_NUMBERS_H

#include "config/keys.h"

enum value_verdict {
	VALUE_GOOD,
	VALUE_NOT_UNDERSTOOD,
	VALUE_OUT_OF_RANGE,
};

/* Reads a decimal with at most six digits after the point, times scale, rounded to the nearest.
 * Returns where it ends, NULL if there is none or it does not fit (scale <= 3.6e12). Something
 * above zero that would round to zero does not fit either. */
const char *decimal_parse(const char *string, int64_t scale, int64_t *value);

/* The number of a text, in the unit of the key's type, within the key's range. */
enum value_verdict number_parse(const struct key *key, const char *string, int64_t *value);

/* Adds it as number_parse() reads it. */
void number_print(const struct key *key, int64_t value, struct text *out);

#endif
