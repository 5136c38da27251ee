/* SPDX-License-Identifier: MIT */
/* On a call that may wait: wait, then pay and go, or fail. */
#include "hook/real.h"
#include "pace/answer.h"
#include "pace/turn.h"
#include "pace/verdict.h"
#include "pace/wait.h"
#include "track/thread.h"

#include <errno.h>
#include <sys/socket.h>

/* Threads released early, when the destination came back, go within this time of each other. */
#define SPREAD NS_PER_S

/* Of a wait, that is held against the deadline at a time. */
#define PIECE WAIT_SLICE

int64_t wait_bound_of(int fd)
{
	return fd < 0 ? INT64_MAX : wait_timeout_of(fd, SO_SNDTIMEO);
}

/* Waits piece by piece, each on the books of the streak before it begins: a jump out of here tells
 * nobody, and would else be held for the whole, or for nothing. */
static enum wait_end wait_on_the_books(const struct attempt *try, int64_t until, int64_t *now)
{
	struct budget *budget = try->account.budget;
	enum wait_end end = WAIT_OVER;

	/* Counted, since a clock may stand still (libfaketime). */
	for (int64_t pieces = (until - *now) / PIECE + 1; pieces > 0 && end == WAIT_OVER;
	     pieces--) {
		int64_t to = until - *now > PIECE ? *now + PIECE : until;

		turn_hold(try, *now, to);
		end = wait_until(to, budget);
		*now = monotonic();
		hold_cut(&budget->hold, to, *now);
	}
	return end;
}

/* Waits, at most until `bound` ns after the beginning. The failure that is answered stays on the
 * books, so that a jump or a cancellation out of here loses nothing; but without its request, for
 * another thread that sends the same meanwhile does not answer it. If it claimed it, and we were
 * refused, the failure would be back: of many threads each that is served would pay for one, and
 * leave as many as there were. */
static enum wait_end wait_turn(struct attempt *try, int64_t turn, int64_t bound, int64_t *now)
{
	struct unanswered kept = try->answered;
	int64_t until = try->began + (turn < bound ? turn : bound);
	enum wait_end end;

	kept.owner = thread_id();
	kept.print = 0;
	if (try->trial.retry)
		failures_add(try->trial.destination, &kept);
	end = wait_on_the_books(try, until, now);
	if (end == WAIT_RELEASED) {
		int64_t left = try->began + bound - *now;

		if (left > 0 &&
		    wait_until(*now + random_upto(thread_random(), left < SPREAD ? left : SPREAD),
		               NULL) == WAIT_INTERRUPTED)
			end = WAIT_INTERRUPTED;
		*now = monotonic();
	}
	if (try->trial.retry)
		failures_withdraw(try->trial.destination, &kept);
	return end;
}

bool pace_blocking(struct attempt *try, int64_t cost)
{
	int64_t own_bound = try->bound ? try->bound : wait_bound_of(try->fd),
		bound = try->account.policy->max_wait;
	int64_t now = try->began, left = turn_hold_left(try), turn, patience;
	bool asked = false;

	if (own_bound < bound)
		bound = own_bound;
	/* A refusal is paced by `min` even then. */
	if (left < try->account.policy->backoff.min)
		left = try->account.policy->backoff.min;
	if (left < bound)
		bound = left;
	patience = bound;
	turn = turn_is_broken(try) ? turn_of_breaker(try, now)
	       : try->trial.retry  ? turn_of_retry(try, cost)
	                           : 0;
	/* The server's own moment holds for a probe of the breaker too. */
	if (try->trial.retry && try->fd >= 0 && turn_is_broken(try)) {
		int64_t wanted = budget_asked_wait(&try->account, now, thread_random());

		if (turn < wanted)
			turn = wanted;
	}
	for (;;) {
		enum admission admission;
		int64_t more;

		if (turn > now - try->began) {
			enum wait_end end;

			if (try->fd >= 0 && try->cookie == 0)
				try->cookie = socket_cookie(try->fd);
			end = wait_turn(try, turn, bound, &now);

			if (end == WAIT_IMPOSSIBLE) {
				report_fault();
				return true;
			}
			/* A call that the kernel blocks holds its socket, and our wait does not:
			 * nothing must go to whatever has the number now. */
			if (!attempt_is_there(try))
				return answer_unsent(try, EBADF);
			if (!attempt_open_account(try))
				return true; /* switched off meanwhile */
			if (try->is_request && end == WAIT_INTERRUPTED && !wait_restarts())
				return answer_unsent(try, EINTR);
			if (end == WAIT_INTERRUPTED || (end == WAIT_OVER && turn > bound))
				break;
		}
		asked = true;
		admission = turn_admit(try, cost, now);
		if (admission != REFUSED)
			return answer_admitted(try, admission, now - try->began, now);
		/* Others are probing: wait on, it is soon known how that ended. By a clock that
		 * stands still (libfaketime), no longer either. */
		more = turn_of_breaker(try, now);
		if (more < NS_PER_MS)
			more = NS_PER_MS;
		patience -= more;
		if (!turn_is_broken(try) || now - try->began >= bound || patience < 0)
			break;
		turn = now - try->began + more;
	}
	if (try->is_request && bound == own_bound)
		return answer_unsent(try, EAGAIN);
	return answer_refused_now(try, asked && !turn_is_broken(try), now - try->began, now);
}
