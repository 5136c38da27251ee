/* SPDX-License-Identifier: MIT */
/* The text of a value, and the number that it stands for. Async-signal-safe, no allocation. */
#ifndef RETRYBUDGET_CONFIG_VALUE_H
#define RETRYBUDGET_CONFIG_VALUE_H

#include "config/keys.h"

/* Reads text into the key's field inside fields. False, with the reason and the remedy added to
 * why, if the text is not good; the field is then as it was. */
bool value_store(const struct key *key, void *fields, const char *string, struct text *why);

/* Adds the value of the key's field in a form that value_store reads back to the same value. */
void value_print(const struct key *key, const void *fields, struct text *out);

/* Adds "100ms to 1h" for a type with a range, "keep | strip" for a choice, else what is accepted:
 * a noun phrase for messages and manual. */
void value_describe(const struct key *key, struct text *out);

/* Adds what the operator wrote in quotes, escaped, and shortened with "..." if it is long. */
void text_quoted(struct text *text, const char *bytes, size_t n);

#endif
