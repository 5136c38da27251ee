/* SPDX-License-Identifier: MIT */
/* Members of a JSON object. For files that are built with jansson. */
#ifndef RETRYBUDGET_TOOL_JSON_PUT_H
#define RETRYBUDGET_TOOL_JSON_PUT_H

#include <jansson.h>
#include <stdint.h>

static inline void put(json_t *object, const char *key, int64_t value)
{
	json_object_set_new(object, key, json_integer(value));
}

/* Milli-tokens as tokens. */
static inline void put_thousandths(json_t *object, const char *key, int64_t value)
{
	json_object_set_new(object, key, json_real((double)value / 1000));
}

/* NULL is null; what is no UTF-8 is left out. */
static inline void put_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, text ? json_string(text) : json_null());
}

#endif
