/* SPDX-License-Identifier: MIT */
/* Unanswered failures, packed: 22 bits of owner (the kernel's largest thread id is 2^22), 12 of the
 * address's place, 30 of time in units of 2^22 ns. A word of 0 is a free place. The detail beside
 * it: 12 bits that tell which word it goes with, 1 each for held, passed and counted, 12 of finer
 * time, 5 of number, 32 of fingerprint. */
#include "dest/failures.h"

#include "dest/profile.h"
#include "sys/arithmetic.h"
#include "sys/cell.h"

#include <errno.h>
#include <signal.h>

#define TIME_SHIFT 22 /* 4.2 ms */
#define TIME_BITS  30 /* wraps after 52 days; a failure that old is read as young once */
#define TIME_MASK  ((UINT64_C(1) << TIME_BITS) - 1)
#define FINE_SHIFT 10 /* 1 us: new work may come soon after a failure */
#define FINE_MASK  0xfff
#define NUMBER_MAX 31

#define DETAIL_NUMBER  32
#define DETAIL_COUNTED (UINT64_C(1) << 37)
#define DETAIL_FINE    38
#define DETAIL_PASSED  (UINT64_C(1) << 50)
#define DETAIL_HELD    (UINT64_C(1) << 51)
#define DETAIL_CHECK   52

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
		.at = (int64_t)((units - age) << TIME_SHIFT),
		.number = 1,
	};
}

static uint64_t check_of(int64_t word)
{
	uint64_t bits = (uint64_t)word;

	return (bits ^ bits >> 12 ^ bits >> 24 ^ bits >> 36 ^ bits >> 48 ^ bits >> 60) & 0xfff;
}

static int64_t pack_detail(const struct unanswered *failure, int64_t word)
{
	uint64_t number = failure->number > NUMBER_MAX ? NUMBER_MAX : failure->number;
	uint64_t fine = (uint64_t)failure->at >> FINE_SHIFT & FINE_MASK;

	return (int64_t)(check_of(word) << DETAIL_CHECK | fine << DETAIL_FINE |
	                 number << DETAIL_NUMBER | failure->fingerprint |
	                 (failure->counted ? DETAIL_COUNTED : 0) |
	                 (failure->passed ? DETAIL_PASSED : 0) | (failure->held ? DETAIL_HELD : 0));
}

/* Adds what the detail says, if it goes with the word. */
static void unpack_detail(struct unanswered *failure, int64_t packed, int64_t word)
{
	uint64_t detail = (uint64_t)packed;

	if (detail >> DETAIL_CHECK != check_of(word))
		return;
	failure->fingerprint = (uint32_t)detail;
	failure->number = (uint32_t)(detail >> DETAIL_NUMBER) & NUMBER_MAX;
	failure->counted = detail & DETAIL_COUNTED;
	failure->passed = detail & DETAIL_PASSED;
	failure->held = detail & DETAIL_HELD;
	failure->at += (int64_t)(detail >> DETAIL_FINE & FINE_MASK) << FINE_SHIFT;
}

static struct unanswered look(struct destination *destination, int place, int64_t word, int64_t now)
{
	struct unanswered one = unpack(word, now);

	unpack_detail(&one, atomic_load(&destination->details[place]), word);
	return one;
}

/* The place of a failure that attempts pass over, the oldest; -1: there is none. */
static int least_place(struct destination *destination, int64_t now, int64_t *word)
{
	int64_t oldest = INT64_MAX;
	int least = -1;

	for (int i = 0; i < REGION_FAILURES; i++) {
		int64_t here = atomic_load(&destination->failures[i]);
		struct unanswered one;

		if (here == 0)
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

/* Up to the next unit of time: what was asked for before a failure must not seem to have come
 * after. */
static int64_t word_of(struct unanswered *failure)
{
	failure->at += (INT64_C(1) << FINE_SHIFT) - 1;
	return pack(failure);
}

static bool put(struct destination *destination, int place, int64_t before,
                const struct unanswered *failure)
{
	struct unanswered kept = *failure;
	int64_t word = word_of(&kept);

	if (!atomic_compare_exchange_strong(&destination->failures[place], &before, word))
		return false;
	atomic_store(&destination->details[place], pack_detail(&kept, word));
	return true;
}

void failures_add(struct destination *destination, const struct unanswered *failure)
{
	int64_t before = 0;
	int least;

	for (int i = 0; i < REGION_FAILURES; i++)
		if (atomic_load_explicit(&destination->failures[i], memory_order_relaxed) == 0 &&
		    put(destination, i, 0, failure))
			return;
	least = least_place(destination, failure->at, &before);
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
		/* Not now - at: it may have been corrupted, and one of the future would be
		 * answered for ever. */
		if (at < now - horizon || at > now + horizon) {
			atomic_compare_exchange_strong(&destination->unclaimed, &left, 0);
			return false;
		}
		if (atomic_compare_exchange_weak(&destination->unclaimed, &left, left - 1)) {
			*claimed = (struct unanswered) { .at = at < now ? at : now, .number = 1 };
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
	struct unanswered one = look(destination, place, word, now);

	if (!atomic_compare_exchange_strong(&destination->failures[place], &word, 0))
		return false;
	*claimed = one;
	return true;
}

/* Notes that an attempt came which was something else. */
static void pass_over(struct destination *destination, int place, int64_t word)
{
	int64_t detail = atomic_load(&destination->details[place]);

	if ((uint64_t)detail >> DETAIL_CHECK == check_of(word))
		atomic_compare_exchange_strong(&destination->details[place], &detail,
		                               (int64_t)((uint64_t)detail | DETAIL_PASSED));
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

static struct choice choose(struct destination *destination, int32_t thread, int64_t horizon,
                            int64_t now)
{
	bool of_all = profile_is_shared(destination), oldest = profile_has_pause(destination);
	struct choice best = { .place = -1 };

	for (int i = 0; i < REGION_FAILURES; i++) {
		int64_t word = atomic_load(&destination->failures[i]);
		struct unanswered one;
		struct choice this;

		if (word == 0)
			continue;
		one = look(destination, i, word, now);
		if (one.at < now - horizon) {
			atomic_compare_exchange_strong(&destination->failures[i], &word, 0);
			continue;
		}
		if (one.passed)
			continue;
		this = (struct choice) { .place = i, .word = word, .at = one.at };
		this.early = !one.held && !profile_has_waited(destination, now - one.at);
		this.expected = !this.early && !profile_goes_on(destination, one.number);
		this.kin = kinship(one.owner, thread, of_all, best.kin);
		if (this.kin != STRANGER && is_better(&this, &best, oldest))
			best = this;
	}
	return best;
}

bool failures_claim(struct destination *destination, int32_t thread, int64_t horizon, int64_t now,
                    struct unanswered *claimed)
{
	for (;;) {
		struct choice best = choose(destination, thread, horizon, now);

		if (best.place < 0)
			return claim_unplaced(destination, horizon, now, claimed);
		if (!best.expected) {
			if (!best.early)
				pass_over(destination, best.place, best.word);
			*claimed = (struct unanswered) { .passed = true };
			return false;
		}
		if (take(destination, best.place, best.word, now, claimed))
			return true;
	}
}

void failures_forgive(struct destination *destination)
{
	if (atomic_load_explicit(&destination->unclaimed, memory_order_relaxed) != 0)
		atomic_store(&destination->unclaimed, 0);
	for (int i = 0; i < REGION_FAILURES; i++) {
		int64_t word = atomic_load(&destination->failures[i]);
		struct unanswered one = { 0 };

		if (word == 0)
			continue;
		unpack_detail(&one, atomic_load(&destination->details[i]), word);
		if (one.fingerprint)
			pass_over(destination, i, word);
		else
			atomic_compare_exchange_strong(&destination->failures[i], &word, 0);
	}
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
		int64_t word =
		    atomic_load_explicit(&destination->failures[i], memory_order_relaxed);
		struct unanswered one = { 0 };

		if (word == 0)
			continue;
		unpack_detail(&one, atomic_load(&destination->details[i]), word);
		if (one.fingerprint == fingerprint)
			atomic_compare_exchange_strong(&destination->failures[i], &word, 0);
	}
}
