/* SPDX-License-Identifier: MIT */
/* What a region says of itself, for whoever prints it. */
#ifndef RETRYBUDGET_TOOL_STAT_FACTS_H
#define RETRYBUDGET_TOOL_STAT_FACTS_H

#include "tool/family.h"

/* Tokens of a bucket in mt as they were last left, and their most; false: nothing was ever taken.
 */
bool stat_tokens(const struct bucket *bucket, int64_t *tokens, int64_t *capacity);

/* A number from 0 on as a word of a table like "enforce"; NULL if it is none of it. */
const char *stat_mode(int64_t mode);
const char *stat_scope(int64_t scope);

/* The mode that `retrybudget set` has asked for, or NULL; and how many of the processes have not
 * taken what was asked of them last. */
const char *stat_set(const struct family *family, size_t *pending);

#endif
