/* SPDX-License-Identifier: MIT */
/* Values that are words. */
#ifndef RETRYBUDGET_CONFIG_VALUE_WORDS_H
#define RETRYBUDGET_CONFIG_VALUE_WORDS_H

#include "config/keys.h"

/* The value of a word of a type; false if it is none. */
bool word_parse(enum value_type type, const char *string, int32_t *value);

/* The word of a type that has a value; "" if none has. */
const char *word_of(enum value_type type, int32_t value);

/* All words of a type: "a | b | c". */
void words_print(enum value_type type, struct text *out);

#endif
