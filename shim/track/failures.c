/* SPDX-License-Identifier: MIT */
/* Unanswered failures, packed: 22 bits of owner (the kernel's largest thread id is 2^22), 12 of the
 * address's place, 30 of time in units of 2^22 ns. A word of 0 is a free place. */
#include "track/failures.h"

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
	};
}

void failures_add(struct destination *destination, const struct unanswered *failure)
{
	int64_t word = pack(failure), empty;

	for (int i = 0; i < REGION_FAILURES; i++) {
		empty = 0;
		if (atomic_load_explicit(&destination->failures[i], memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong(&destination->failures[i], &empty, word))
			return;
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
			*claimed = (struct unanswered) { .at = at < now ? at : now };
			return true;
		}
	}
	return false;
}

enum kinship { STRANGER, NOBODYS, OWN };

bool failures_claim(struct destination *destination, int32_t thread, int64_t horizon, int64_t now,
                    struct unanswered *claimed)
{
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
			if (one.owner == thread)
				kin = OWN;
			else if (one.owner == FAILURE_ANYONE ||
			         (best_kin < NOBODYS && is_gone(one.owner)))
				kin = NOBODYS;
			else
				continue;
			if (kin > best_kin ||
			    (kin == best_kin && one.at > unpack(best_word, now).at)) {
				best = i;
				best_word = word;
				best_kin = kin;
			}
		}
		if (best < 0)
			return claim_unplaced(destination, horizon, now, claimed);
		if (atomic_compare_exchange_strong(&destination->failures[best], &best_word, 0)) {
			*claimed = unpack(best_word, now);
			return true;
		}
	}
}
