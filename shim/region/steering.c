/* SPDX-License-Identifier: MIT */
/* Requests of an operator, as words. */
#include "region/steering.h"

#define VERSION_SHIFT 56
#define RELOAD_SHIFT  52
#define MODE_SHIFT    48
#define NUMBER_SHIFT  16

cell64 steering_seen;

/* A word of which some bytes are old has the check of neither: but one time in 65,536. */
static uint64_t check_of(uint64_t word)
{
	return (word & ~STEERING_CHECK) * UINT64_C(0x9e3779b97f4a7c15) >> 48;
}

int64_t steering_word(const struct steering_request *request)
{
	uint64_t word = (uint64_t)STEERING_VERSION << VERSION_SHIFT |
	                (uint64_t)request->reload << RELOAD_SHIFT |
	                ((uint64_t)request->mode & 15) << MODE_SHIFT |
	                (uint64_t)request->number << NUMBER_SHIFT;

	return (int64_t)(word | check_of(word));
}

enum steering_reading steering_read(int64_t from, struct steering_request *request)
{
	uint64_t word = (uint64_t)from;

	if (word == 0 || (word & STEERING_CHECK) != check_of(word))
		return STEERING_TORN;
	request->mode = (int32_t)(word >> MODE_SHIFT & 15);
	request->reload = word >> RELOAD_SHIFT & 1;
	request->number = steering_number(from);
	if (word >> VERSION_SHIFT != STEERING_VERSION || request->mode > STEERING_AS_IN_FILE ||
	    (word >> RELOAD_SHIFT & 15) > 1)
		return STEERING_UNKNOWN;
	return STEERING_GOOD;
}

bool steering_asks(const struct region *region)
{
	struct steering_request request;

	return steering_waits(region) &&
	       steering_read(LOAD(region->steering.request), &request) == STEERING_GOOD;
}

/* How many processes have taken the request of this number: the number << 32 | how many. Returns
 * how many, with this one. */
static uint32_t count_taker(cell64 *takers, uint32_t number)
{
	int64_t before = LOAD(*takers), after;
	uint32_t count;

	do {
		bool others = (uint32_t)((uint64_t)before >> 32) != number;

		count = others ? 0 : (uint32_t)before;
		if (count < UINT32_MAX)
			count++;
		after = (int64_t)((uint64_t)number << 32 | count);
	} while (!atomic_compare_exchange_weak(takers, &before, after));
	return count;
}

bool steering_done(struct region *region, int64_t word, enum steering_answer answer)
{
	int64_t seen = LOAD(steering_seen);
	bool first = true;

	/* Two threads may have taken the same, which does no harm. It is counted once. */
	if (seen == word || !cell_swap(&steering_seen, seen, word))
		return false;
	if (answer != STEERING_REFUSED)
		first = count_taker(&region->steering.takers, steering_number(word)) == 1;
	STORE_RELEASE(region->steering.answer,
	              (int64_t)(((uint64_t)word & ~STEERING_CHECK) | (uint64_t)answer));
	return first;
}
