/* SPDX-License-Identifier: MIT */
/* The list of unanswered failures: who answers which. A word of 0 is a free place. */
#include "dest/failures.h"

#include "dest/profile.h"
#include "sys/arithmetic.h"
#include "sys/cell.h"
#include "sys/confined.h"

#include <errno.h>
#include <signal.h>

/* Of so many strangers an attempt asks at most whether they have gone. Of two thousand that looped
 * in a share each asked of 56 for each try, and the machine did nothing else. */
#define ASKS 4

#define START_SHIFT 10 /* about a us */

static struct unanswered look(struct destination *destination, int place, int64_t word, int64_t now)
{
	return failure_unpack(word, atomic_load(&destination->details[place]), now);
}

/* The place of a failure that attempts pass over, the oldest; -1: there is none. */
static int least_place(struct destination *destination, int64_t now, int64_t *word)
{
	int64_t oldest = INT64_MAX;
	int least = -1;

	for (int i = 0; i < REGION_FAILURES; i++) {
		int64_t here = LOAD(destination->failures[i]);
		struct unanswered one;

		if (here == 0 || !failure_may_be_passed(LOAD(destination->details[i])))
			continue;
		one = look(destination, i, here, now);
		if (one.passed && one.at < oldest) {
			oldest = one.at;
			least = i;
			*word = here;
		}
	}
	return least;
}

static bool put(struct destination *destination, int place, int64_t before,
                const struct unanswered *failure)
{
	int64_t detail, word = failure_pack(failure, &detail);

	if (!atomic_compare_exchange_strong(&destination->failures[place], &before, word))
		return false;
	atomic_store(&destination->details[place], detail);
	return true;
}

/* Where it stood it stands again, or threads that are refused side by side would take each other's
 * places, and look for others. What had no place before looks for one in a line of a cache, of each
 * thread another, and no further. */
void failures_add(struct destination *destination, const struct unanswered *failure)
{
	bool unplaced = failure->seat == FAILURE_UNPLACED;
	unsigned int first = failure->seat > 0 ? failure->seat - 1U : 0, most = REGION_FAILURES;
	int64_t before = 0;
	int least;

	if (unplaced) {
		first = (unsigned int)failure->owner * REGION_LINE_CELLS;
		most = REGION_LINE_CELLS;
	}
	for (unsigned int i = 0; i < most; i++) {
		int place = (int)((first + i) % REGION_FAILURES);

		if (LOAD(destination->failures[place]) == 0 && put(destination, place, 0, failure))
			return;
	}
	least = unplaced ? -1 : least_place(destination, failure->at, &before);
	if (least >= 0 && put(destination, least, before, failure))
		return;
	atomic_store(&destination->unclaimed_at, failure->at);
	atomic_fetch_add(&destination->unclaimed, 1);
}

/* A thread that has ended, or whose process has, will not answer its failure. kill() finds a
 * thread by its id too. EPERM means that it is there. */
static bool is_gone(int32_t thread)
{
	int saved = errno;
	bool gone = !confined_by_itself() && kill(thread, 0) != 0 && errno == ESRCH;

	errno = saved;
	return gone;
}

bool failures_is_left(const struct unanswered *failure)
{
	return failure->owner != FAILURE_ANYONE && is_gone(failure->owner);
}

/* Takes one from the heap of failures without a place of their own. */
static bool claim_unplaced(struct destination *destination, int64_t horizon, int64_t now,
                           struct unanswered *claimed)
{
	int64_t left = atomic_load(&destination->unclaimed);
	int64_t at = atomic_load(&destination->unclaimed_at);

	while (left > 0) {
		/* Not now - at: it may have been corrupted, and one of the future would be
		 * answered for ever. */
		if (at < now - horizon || at > now + horizon) {
			atomic_compare_exchange_strong(&destination->unclaimed, &left, 0);
			return false;
		}
		if (atomic_compare_exchange_weak(&destination->unclaimed, &left, left - 1)) {
			*claimed = (struct unanswered) {
				.at = lesser(at, now),
				.number = 1,
				.seat = FAILURE_UNPLACED,
			};
			return true;
		}
	}
	return false;
}

enum kinship { STRANGER, NOBODYS, OWN };

/* asks: of how many strangers it may still be asked whether they have gone, a system call each. */
static enum kinship kinship(int32_t owner, int32_t thread, bool of_all, int *asks)
{
	if (owner == thread)
		return OWN;
	if (owner == FAILURE_ANYONE || of_all)
		return NOBODYS;
	if (*asks == 0)
		return STRANGER;
	--*asks;
	return is_gone(owner) ? NOBODYS : STRANGER;
}

/* True if the place held this failure until now; then it is the caller's. */
static bool take(struct destination *destination, int place, int64_t word, int64_t now,
                 struct unanswered *claimed)
{
	struct unanswered one = look(destination, place, word, now);

	if (!atomic_compare_exchange_strong(&destination->failures[place], &word, 0))
		return false;
	*claimed = one;
	claimed->seat = (uint8_t)(place + 1);
	return true;
}

/* Notes that an attempt came which was something else. */
static void pass_over(struct destination *destination, int place, int64_t word)
{
	int64_t detail = atomic_load(&destination->details[place]);

	atomic_compare_exchange_strong(&destination->details[place], &detail,
	                               failure_pass(word, detail));
}

/* The best of what this thread may answer, as it was when looked at. */
struct choice {
	int place; /* -1: none */
	int64_t word;
	enum kinship kin;
	bool expected; /* by its profile */
	bool early;    /* the program would have waited longer */
	int64_t at;
};

/* True if a is to be answered rather than b. Where the program's pause is known the oldest is the
 * next to be tried again; else the newest is what the attempt follows. */
static bool is_better(const struct choice *a, const struct choice *b, bool oldest)
{
	if (b->place < 0 || a->expected != b->expected)
		return b->place < 0 || a->expected;
	if (a->kin != b->kin)
		return a->kin > b->kin;
	return a->expected && oldest ? a->at < b->at : a->at > b->at;
}

/* True if it is not this thread's to answer, and nobody is to be asked whether its owner has gone:
 * most are, where many share a budget, and to look at no more than the word spares the line of a
 * cache that the rest of it is in. Those that have grown old are looked at, and go. */
static bool is_strangers(int64_t word, int32_t thread, int64_t horizon, int64_t now)
{
	struct unanswered one = failure_unpack_word(word, now);

	return one.owner != thread && one.owner != FAILURE_ANYONE && one.at >= now - horizon;
}

/* Begins at another place each time: of many strangers it is asked of all in the end. */
static struct choice choose(struct destination *destination, int32_t thread, int64_t horizon,
                            int64_t now, int asks)
{
	bool of_all = profile_is_shared(destination), oldest = profile_has_pause(destination);
	unsigned int first = (unsigned int)(now >> START_SHIFT);
	struct choice best = { .place = -1 };

	for (unsigned int i = 0; i < REGION_FAILURES; i++) {
		int place = (int)((first + i) % REGION_FAILURES);
		int64_t word = atomic_load(&destination->failures[place]);
		struct unanswered one;
		struct choice this;

		if (word == 0 || (asks == 0 && !of_all && is_strangers(word, thread, horizon, now)))
			continue;
		one = look(destination, place, word, now);
		if (one.at < now - horizon) {
			atomic_compare_exchange_strong(&destination->failures[place], &word, 0);
			continue;
		}
		if (one.passed)
			continue;
		this = (struct choice) { .place = place, .word = word, .at = one.at };
		this.kin = kinship(one.owner, thread, of_all, &asks);
		if (this.kin == STRANGER)
			continue;
		asks = 0;
		this.expected = true;
		if (best.expected && !is_better(&this, &best, oldest))
			continue; /* nor is it where it is not expected */
		this.early = !one.held && !profile_has_waited(destination, now - one.at);
		this.expected =
		    !this.early && !profile_goes_on(destination, one.number, one.refused);
		if (is_better(&this, &best, oldest))
			best = this;
	}
	return best;
}

bool failures_claim(struct destination *destination, int32_t thread, bool asks, int64_t horizon,
                    int64_t now, struct unanswered *claimed)
{
	for (;;) {
		struct choice best = choose(destination, thread, horizon, now, 0);

		if (best.place < 0 && asks)
			best = choose(destination, thread, horizon, now, ASKS);
		if (best.place < 0)
			return claim_unplaced(destination, horizon, now, claimed);
		if (!best.expected) {
			if (!best.early)
				pass_over(destination, best.place, best.word);
			*claimed = (struct unanswered) { .passed = true, .early = best.early };
			return false;
		}
		if (take(destination, best.place, best.word, now, claimed))
			return true;
	}
}

void failures_forgive(struct destination *destination)
{
	if (LOAD(destination->unclaimed) != 0)
		atomic_store(&destination->unclaimed, 0);
	for (int i = 0; i < REGION_FAILURES; i++) {
		int64_t word = atomic_load(&destination->failures[i]);

		if (word == 0)
			continue;
		if (failure_fingerprint(word, atomic_load(&destination->details[i])) != 0)
			pass_over(destination, i, word);
		else
			atomic_compare_exchange_strong(&destination->failures[i], &word, 0);
	}
}

bool failures_are_known(const struct destination *destination)
{
	for (int i = 0; i < REGION_FAILURES; i++) {
		int64_t word = LOAD(destination->failures[i]);

		if (word != 0 && failure_fingerprint(word, LOAD(destination->details[i])) != 0)
			return true;
	}
	return false;
}

bool failures_claim_request(struct destination *destination, uint32_t fingerprint, int32_t thread,
                            int64_t horizon, int64_t now, struct unanswered *claimed)
{
	for (;;) {
		int64_t best = 0;
		int place = -1;

		for (int i = 0; i < REGION_FAILURES; i++) {
			int64_t word = atomic_load(&destination->failures[i]);
			struct unanswered one;

			if (word == 0)
				continue;
			one = look(destination, i, word, now);
			if (one.fingerprint != fingerprint || one.at < now - horizon ||
			    (place >= 0 && one.owner != thread))
				continue;
			best = word;
			place = i;
			if (one.owner == thread)
				break;
		}
		if (place < 0)
			return false;
		if (take(destination, place, best, now, claimed))
			return true;
	}
}

/* A request that was answered: its fingerprint, and when, in units of 2^24 ns. */
#define ANSWERED_SHIFT 24 /* 17 ms */
#define ANSWERED_HOLDS NS_PER_S

static ucell64 *answered_place(struct destination *destination, uint32_t fingerprint)
{
	return &destination->answered[fingerprint & (REGION_ANSWERED - 1)];
}

bool failures_is_answered(struct destination *destination, uint32_t fingerprint, int64_t now)
{
	uint64_t word = LOAD(*answered_place(destination, fingerprint));
	uint32_t age = (uint32_t)((uint64_t)now >> ANSWERED_SHIFT) - (uint32_t)word;

	return fingerprint && word >> 32 == fingerprint && age <= ANSWERED_HOLDS >> ANSWERED_SHIFT;
}

void failures_answered(struct destination *destination, uint32_t fingerprint, int64_t now)
{
	STORE(*answered_place(destination, fingerprint),
	      (uint64_t)fingerprint << 32 | (uint32_t)((uint64_t)now >> ANSWERED_SHIFT));
	for (int i = 0; i < REGION_FAILURES; i++) {
		int64_t word = LOAD(destination->failures[i]);

		if (word == 0)
			continue;
		if (failure_fingerprint(word, atomic_load(&destination->details[i])) == fingerprint)
			atomic_compare_exchange_strong(&destination->failures[i], &word, 0);
	}
}
