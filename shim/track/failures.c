/* SPDX-License-Identifier: MIT */
/* Unanswered failures, packed: 22 bits of owner (the kernel's largest thread id is 2^22), 12 of the
 * address's place, 30 of time in units of 2^22 ns. A word of 0 is a free place. The story beside
 * it: 24 bits that tell which word it goes with, 8 of run, 32 of print. */
#include "track/failures.h"

#include "track/habit.h"

#include <errno.h>
#include <signal.h>

#define TIME_SHIFT 22 /* 4.2 ms */
#define TIME_BITS  30 /* wraps after 52 days; a failure that old is read as young once */
#define TIME_MASK  ((UINT64_C(1) << TIME_BITS) - 1)

static int64_t pack(const struct unanswered *failure)
{
	uint64_t at = ((uint64_t)failure->at >> TIME_SHIFT) & TIME_MASK;
	uint64_t word = ((uint64_t)(uint32_t)failure->owner & 0x3fffff) << 42 |
	                (uint64_t)(failure->place & 0xfff) << 30 | at;

	return word ? (int64_t)word : 1;
}

static struct unanswered unpack(int64_t packed, int64_t now)
{
	uint64_t word = (uint64_t)packed, units = (uint64_t)now >> TIME_SHIFT;
	uint64_t age = (units - (word & TIME_MASK)) & TIME_MASK;

	if (age > TIME_MASK / 2) /* noted by a thread whose clock reading was a moment later */
		age = 0;
	return (struct unanswered) {
		.owner = (int32_t)(word >> 42),
		.place = (uint32_t)(word >> 30) & 0xfff,
		.at = now - (int64_t)(age << TIME_SHIFT),
		.run = 1,
	};
}

static uint64_t check_of(int64_t word)
{
	uint64_t bits = (uint64_t)word;

	return (bits ^ bits >> 24 ^ bits >> 48) & 0xffffff;
}

static int64_t pack_story(const struct unanswered *failure, int64_t word)
{
	uint64_t run = failure->run > 255 ? 255 : failure->run;

	return (int64_t)(check_of(word) << 40 | run << 32 | failure->print);
}

/* Adds what the story says, if it goes with the word. */
static void unpack_story(struct unanswered *failure, int64_t packed, int64_t word)
{
	uint64_t story = (uint64_t)packed;

	if (story >> 40 != check_of(word))
		return;
	failure->print = (uint32_t)story;
	failure->run = (uint32_t)(story >> 32) & 0xff;
}

void failures_add(struct destination *destination, const struct unanswered *failure)
{
	int64_t word = pack(failure), empty;

	for (int i = 0; i < REGION_FAILURES; i++) {
		empty = 0;
		if (atomic_load_explicit(&destination->failures[i], memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong(&destination->failures[i], &empty, word)) {
			atomic_store(&destination->stories[i], pack_story(failure, word));
			return;
		}
	}
	atomic_store(&destination->unclaimed_at, failure->at);
	atomic_fetch_add(&destination->unclaimed, 1);
}

/* A thread that has ended, or whose process has, will not answer its failure. kill() finds a
 * thread by its id too. EPERM means that it is there. */
static bool is_gone(int32_t thread)
{
	int saved = errno;
	bool gone = kill(thread, 0) != 0 && errno == ESRCH;

	errno = saved;
	return gone;
}

/* Takes one from the heap of failures without a place of their own. */
static bool claim_unplaced(struct destination *destination, int64_t horizon, int64_t now,
                           struct unanswered *claimed)
{
	int64_t left = atomic_load(&destination->unclaimed);
	int64_t at = atomic_load(&destination->unclaimed_at);

	while (left > 0) {
		if (now - at > horizon) {
			atomic_compare_exchange_strong(&destination->unclaimed, &left, 0);
			return false;
		}
		if (atomic_compare_exchange_weak(&destination->unclaimed, &left, left - 1)) {
			*claimed = (struct unanswered) { .at = at < now ? at : now, .run = 1 };
			return true;
		}
	}
	return false;
}

enum kinship { STRANGER, NOBODYS, OWN };

static enum kinship kinship(int32_t owner, int32_t thread, bool of_all, enum kinship best)
{
	if (owner == thread)
		return OWN;
	if (owner == FAILURE_ANYONE || of_all)
		return NOBODYS;
	/* Asking costs a system call, and would be in vain where there is a better one. */
	return best < NOBODYS && is_gone(owner) ? NOBODYS : STRANGER;
}

/* True if the place held this failure until now; then it is the caller's. */
static bool take(struct destination *destination, int place, int64_t word, int64_t now,
                 struct unanswered *claimed)
{
	int64_t story = atomic_load(&destination->stories[place]);

	if (!atomic_compare_exchange_strong(&destination->failures[place], &word, 0))
		return false;
	*claimed = unpack(word, now);
	unpack_story(claimed, story, word);
	return true;
}

bool failures_claim(struct destination *destination, int32_t thread, int64_t horizon, int64_t now,
                    struct unanswered *claimed)
{
	bool of_all = habit_is_shared(destination);

	for (;;) {
		int best = -1;
		int64_t best_word = 0;
		enum kinship best_kin = STRANGER;

		for (int i = 0; i < REGION_FAILURES; i++) {
			int64_t word = atomic_load(&destination->failures[i]);
			struct unanswered one;
			enum kinship kin;

			if (word == 0)
				continue;
			one = unpack(word, now);
			if (now - one.at > horizon) {
				atomic_compare_exchange_strong(&destination->failures[i], &word, 0);
				continue;
			}
			kin = kinship(one.owner, thread, of_all, best_kin);
			if (kin > best_kin || (kin == best_kin && kin != STRANGER &&
			                       one.at > unpack(best_word, now).at)) {
				best = i;
				best_word = word;
				best_kin = kin;
			}
		}
		if (best < 0)
			return claim_unplaced(destination, horizon, now, claimed);
		if (take(destination, best, best_word, now, claimed))
			return true;
	}
}

bool failures_claim_request(struct destination *destination, uint32_t print, int64_t horizon,
                            int64_t now, struct unanswered *claimed)
{
	for (int i = 0; i < REGION_FAILURES; i++) {
		int64_t word = atomic_load(&destination->failures[i]);
		struct unanswered one;

		if (word == 0)
			continue;
		one = unpack(word, now);
		unpack_story(&one, atomic_load(&destination->stories[i]), word);
		if (one.print == print && now - one.at <= horizon &&
		    take(destination, i, word, now, claimed))
			return true;
	}
	return false;
}
