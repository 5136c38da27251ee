/* SPDX-License-Identifier: MIT */
/* What a region says of itself, as the table, JSON and other commands have it alike. */
#include "tool/stat_facts.h"

#include "region/steering.h"

bool stat_tokens(const struct bucket *bucket, int64_t *tokens, int64_t *capacity)
{
	uint64_t holding = (uint64_t)LOAD(bucket->holding);

	*capacity = (int64_t)(holding >> 32);
	*tokens = (int32_t)(holding & UINT32_MAX);
	if (*tokens > *capacity)
		*tokens = *capacity;
	return holding != 0;
}

static const char *word_of(const char *const words[], size_t n, int64_t value)
{
	return value >= 0 && value < (int64_t)n ? words[value] : NULL;
}

const char *stat_mode(int64_t mode)
{
	static const char *const words[] = {
		[MODE_OFF] = "off",
		[MODE_OBSERVE] = "observe",
		[MODE_ENFORCE] = "enforce",
	};

	return word_of(words, sizeof(words) / sizeof(*words), mode);
}

const char *stat_scope(int64_t scope)
{
	static const char *const words[] = {
		[SCOPE_PROCESS] = "process",
		[SCOPE_USER] = "user",
		[SCOPE_HOST] = "host",
	};

	return word_of(words, sizeof(words) / sizeof(*words), scope);
}

const char *stat_set(const struct family *family, size_t *pending)
{
	const struct steering *steering = &family->snapshot->region->steering;
	int64_t word = LOAD(steering->request), takers = LOAD(steering->takers);
	struct steering_request request;
	bool counted;

	*pending = 0;
	if (steering_read(word, &request) != STEERING_GOOD)
		return NULL;
	counted = (uint64_t)takers >> 32 == request.number;
	if (!counted)
		*pending = family->count;
	else if ((uint32_t)takers < family->count)
		*pending = family->count - (uint32_t)takers;
	return stat_mode(request.mode);
}
