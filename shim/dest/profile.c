/* SPDX-License-Identifier: MIT */
/* Counts of what was seen, four bits each, in pairs: this, and its opposite. When one is full both
 * are halved, so that the new outweighs the old. */
#include "dest/profile.h"

#define NUMBERS 8  /* pairs of `profile`: tried again, went on; higher numbers count as this */
#define FULL    15 /* of a count */

/* The counts of `answerers`. Those from BY_US on are pairs as those of `profile`, of tries that
 * we refused, which follow another: of the second, and so on. */
enum { BY_ITSELF, BY_ANOTHER, RIGHTLY, WRONGLY, BY_US };
#define BY_US_NUMBERS 6

/* The counts of `news`, and how many of the one for each of the other are nearly all; above them
 * when an excuse was wrong last, in units of 2^20 ns (1 ms), and a bit: of a destination of TLS. */
enum { WELL, BADLY };
#define WRONG_AT   8
#define WRONG_UNIT 20
#define WRONG_MASK ((UINT64_C(1) << 44) - 1) /* five centuries */
#define CARRIES    (INT64_C(1) << 60)
#define NEARLY_ALL 7

/* Sure enough: seen at least so often, and more than twice as often as the opposite. */
#define LEAST 2

/* Shorter pauses tell nothing: the next piece of work may come as soon. Longer ones are kept to by
 * timers that are late sooner than early, so that what comes a little too soon is something else.
 */
#define PAUSE_MIN (5 * NS_PER_MS)
#define SLACK     (NS_PER_MS / 10)

static unsigned int nibble(uint64_t cell, unsigned int at)
{
	return (unsigned int)(cell >> at * 4) & 15;
}

/* Adds one to the count at `one`, of the pair (one, other). */
static void learn(cell64 *cell, unsigned int one, unsigned int other)
{
	int64_t seen = LOAD(*cell), next;

	do {
		uint64_t bits = (uint64_t)seen;
		uint64_t a = nibble(bits, one), b = nibble(bits, other);

		if (a == FULL) {
			a /= 2;
			b /= 2;
		}
		bits &= ~(UINT64_C(15) << one * 4 | UINT64_C(15) << other * 4);
		next = (int64_t)(bits | (a + 1) << one * 4 | b << other * 4);
	} while (!atomic_compare_exchange_weak_explicit(cell, &seen, next, memory_order_relaxed,
	                                                memory_order_relaxed));
}

static bool outweighs(const cell64 *cell, unsigned int one, unsigned int other)
{
	uint64_t bits = (uint64_t)LOAD(*cell);

	return nibble(bits, one) >= LEAST && nibble(bits, one) > 2 * nibble(bits, other);
}

static unsigned int place_of(uint32_t number, uint32_t first, uint32_t count)
{
	return number < first ? 0 : number - first < count ? number - first : count - 1;
}

/* The pair of counts for an attempt number: tried again, and one further on: went on. */
static unsigned int pair_of(uint32_t number)
{
	return 2 * place_of(number, 1, NUMBERS);
}

static unsigned int refused_pair_of(uint32_t number)
{
	return BY_US + 2 * place_of(number, 2, BY_US_NUMBERS);
}

void profile_tried_again(struct destination *destination, uint32_t number, bool refused)
{
	if (refused)
		learn(&destination->answerers, refused_pair_of(number),
		      refused_pair_of(number) + 1);
	else
		learn(&destination->profile, pair_of(number), pair_of(number) + 1);
}

/* As much alike as two pauses of a program that sleeps before it tries again; so are two without
 * any. */
static bool agree(int64_t a, int64_t b)
{
	int64_t shorter = lesser(a, b), longer = greater(a, b);

	return longer - shorter <= shorter / 4 || longer < PAUSE_MIN;
}

/* The shortest pause lately: a shorter one counts at once, longer ones move it a little, so that a
 * rare short one is forgotten. There is no pause known until two in a row agree; the last is kept
 * as a negative number. The first failures are often slow to be answered (code that has never run,
 * a message to print, a busy machine): 40 ms where the next takes less than one. */
void profile_paused(struct destination *destination, int64_t pause)
{
	cell64 *cell = &destination->pause;
	int64_t seen = LOAD(*cell), next;

	pause = greater(pause, 1);
	do {
		if (seen < 0 && agree(pause, seen == INT64_MIN ? INT64_MAX : -seen))
			next = seen > -pause ? -seen : pause;
		else if (seen <= 0)
			next = -pause;
		else
			next = pause < seen ? pause : seen + (pause - seen) / 256;
	} while (!atomic_compare_exchange_weak_explicit(cell, &seen, next, memory_order_relaxed,
	                                                memory_order_relaxed));
}

void profile_went_on(struct destination *destination, uint32_t number, bool refused)
{
	if (refused)
		learn(&destination->answerers, refused_pair_of(number) + 1,
		      refused_pair_of(number));
	else
		learn(&destination->profile, pair_of(number) + 1, pair_of(number));
}

bool profile_has_pause(const struct destination *destination)
{
	return LOAD(destination->pause) > 0;
}

/* Tries that we refused count with a program that has a number of them. */
bool profile_goes_on(const struct destination *destination, uint32_t number, bool refused)
{
	for (uint32_t tries = 1; tries <= number && tries <= NUMBERS; tries++)
		if (outweighs(&destination->profile, pair_of(tries) + 1, pair_of(tries)))
			return true;
	return refused && outweighs(&destination->answerers, refused_pair_of(number) + 1,
	                            refused_pair_of(number));
}

bool profile_tries_again(const struct destination *destination, uint32_t number, bool refused)
{
	if (refused)
		return outweighs(&destination->answerers, refused_pair_of(number),
		                 refused_pair_of(number) + 1);
	return outweighs(&destination->profile, pair_of(number), pair_of(number) + 1);
}

bool profile_has_waited(const struct destination *destination, int64_t age)
{
	int64_t pause = LOAD(destination->pause);

	return pause < PAUSE_MIN || age >= pause - pause / 256 - SLACK;
}

void profile_answered(struct destination *destination, bool by_another)
{
	learn(&destination->answerers, by_another ? BY_ANOTHER : BY_ITSELF,
	      by_another ? BY_ITSELF : BY_ANOTHER);
}

bool profile_is_shared(const struct destination *destination)
{
	return outweighs(&destination->answerers, BY_ANOTHER, BY_ITSELF);
}

/* Thread and time, in units of 2^24 ns: 17 ms. */
#define MIXED_THREAD 40
#define MIXED_UNIT   24

void profile_mixed(struct destination *destination, int32_t thread, int64_t now)
{
	STORE(destination->mixed[(uint32_t)thread % REGION_MIXED],
	      (uint64_t)(uint32_t)thread << MIXED_THREAD | (uint64_t)now >> MIXED_UNIT);
}

bool profile_is_mixed(const struct destination *destination, int32_t thread, int64_t since)
{
	uint64_t word = LOAD(destination->mixed[(uint32_t)thread % REGION_MIXED]);
	uint64_t unit = word & ((UINT64_C(1) << MIXED_THREAD) - 1);

	return word >> MIXED_THREAD == (uint32_t)thread &&
	       (since < 0 || unit >= (uint64_t)since >> MIXED_UNIT);
}

void profile_new_ended(struct destination *destination, bool well)
{
	learn(&destination->news, well ? WELL : BADLY, well ? BADLY : WELL);
}

bool profile_answers_new(const struct destination *destination)
{
	uint64_t bits = (uint64_t)LOAD(destination->news);
	unsigned int well = nibble(bits, WELL), badly = nibble(bits, BADLY);

	/* What fails by itself was new once. */
	return well > 0 && (well >= NEARLY_ALL * badly || badly == 1);
}

void profile_carry(struct destination *destination)
{
	if (!profile_carries(destination))
		atomic_fetch_or_explicit(&destination->news, CARRIES, memory_order_relaxed);
}

bool profile_carries(const struct destination *destination)
{
	return LOAD(destination->news) & CARRIES;
}

void profile_excused(struct destination *destination, bool rightly, int64_t now)
{
	const int64_t kept = (int64_t) ~(WRONG_MASK << WRONG_AT);
	const int64_t at = (int64_t)(((uint64_t)now >> WRONG_UNIT & WRONG_MASK) << WRONG_AT);
	int64_t seen = LOAD(destination->news);

	learn(&destination->answerers, rightly ? RIGHTLY : WRONGLY, rightly ? WRONGLY : RIGHTLY);
	while (!rightly &&
	       !atomic_compare_exchange_weak_explicit(&destination->news, &seen, (seen & kept) | at,
	                                              memory_order_relaxed, memory_order_relaxed))
		;
}

/* What is refused shows no request, so that nothing would ever be learned again. */
#define WRONG_FOR NS_PER_S

bool profile_has_no_excuse(const struct destination *destination, int64_t now)
{
	uint64_t at = (uint64_t)LOAD(destination->news) >> WRONG_AT & WRONG_MASK;
	uint64_t age = (((uint64_t)now >> WRONG_UNIT) - at) & WRONG_MASK;

	return outweighs(&destination->answerers, WRONGLY, RIGHTLY) &&
	       age < (uint64_t)WRONG_FOR >> WRONG_UNIT;
}
