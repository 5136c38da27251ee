/* SPDX-License-Identifier: MIT */
/*
 * A handler ends a wait, whether or not it wants calls restarted (SA_RESTART): most handlers that
 * set a flag are installed so, and whoever sends SIGTERM sends SIGKILL soon after.
 *
 * A wait in slices must not lose a handler that runs between two of them: by the time a slice is
 * over and its thread has a processor again, an alarm() may have rung. So signals that have a
 * handler are held but for ppoll, which lets them in, and which always tells of one (EINTR); all
 * that is left is what comes in the few instructions between two slices. ppoll needs no descriptor
 * that a fork could leak or a close-all loop reuse (as a timerfd would), and leaves nothing behind
 * when siglongjmp leaves it.
 *
 * libc's own signals (setuid and its like, by which one thread has all the others change their
 * user) are never held: the thread that calls setuid waits for ours. They end no wait, as they end
 * no connect.
 */
#include "pace/wait.h"

#include "region/state.h"
#include "region/steering.h"
#include "sys/confined.h"
#include "sys/real.h"
#include "sys/shelter.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum handlers {
	HANDLERS_NONE,
	HANDLERS_RESTART, /* all want the calls restarted that they interrupt */
	HANDLERS_END,     /* none does */
	HANDLERS_DIFFER,
};

/* What the handlers want that can end a call, those of signals that are not in `blocked`; these
 * signals are added to `held`. */
static enum handlers handlers(const sigset_t *blocked, sigset_t *held)
{
	enum handlers seen = HANDLERS_NONE;

	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;
		enum handlers kind;

		if (shelter_is_fault(number) || sigismember(blocked, number) == 1 ||
		    !shelter_is_handled(number, &action))
			continue;
		kind = action.sa_flags & SA_RESTART ? HANDLERS_RESTART : HANDLERS_END;
		seen = seen == HANDLERS_NONE || seen == kind ? kind : HANDLERS_DIFFER;
		sigaddset(held, number);
	}
	return seen;
}

/* Where they differ the call ends: the program then sees its error early, which it can stand,
 * instead of late, which an alarm() was meant to prevent. So it does where there is none: that one
 * has taken itself off (SA_RESETHAND), as the old ones without SA_RESTART do. */
bool wait_restarts(void)
{
	sigset_t blocked, held;

	sigemptyset(&held);
	return sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 &&
	       handlers(&blocked, &held) == HANDLERS_RESTART;
}

/* What setuid and its like change. */
struct user {
	uid_t users[3];
	gid_t groups[3], others[16];
	int count;
};

static void read_user(struct user *user)
{
	memset(user, 0, sizeof(*user));
	(void)getresuid(&user->users[0], &user->users[1], &user->users[2]);
	(void)getresgid(&user->groups[0], &user->groups[1], &user->groups[2]);
	user->count = getgroups(sizeof(user->others) / sizeof(user->others[0]), user->others);
	if (user->count < 0)
		user->count = getgroups(0, NULL);
}

/* Remembers the new one. */
static bool user_has_changed(struct user *user)
{
	struct user before = *user;

	read_user(user);
	return memcmp(user, &before, sizeof(before)) != 0;
}

/* Waits for `left`, of which it leaves what was left. 0: it is over; EINTR: a handler ran; else
 * waiting is impossible. The second look is for what came while its thread, its time over, had no
 * processor. */
static int wait_for_handler(struct timespec *left, const sigset_t *mask)
{
	struct timespec none = { 0 };

	if (syscall(SYS_ppoll, NULL, 0, left, mask, sizeof(uint64_t)) == 0 &&
	    syscall(SYS_ppoll, NULL, 0, &none, mask, sizeof(uint64_t)) == 0)
		return 0;
	return errno;
}

/* One slice of so many ns. 0: it is over; EINTR: a handler of the program's ended it; else waiting
 * is impossible. What libc's own handler has done is told by the user that has changed; where there
 * is no other handler (and none has been installed since), it was libc's. */
static int slice(int64_t length)
{
	struct timespec left = { .tv_sec = (time_t)(length / NS_PER_S),
		                 .tv_nsec = (long)(length % NS_PER_S) };
	int64_t until = monotonic() + length;
	enum handlers kind;
	struct user user;
	sigset_t own, held;
	int err;

	if (!shelter_block(&own))
		return errno;
	held = own;
	kind = handlers(&own, &held);
	if (kind != HANDLERS_NONE)
		read_user(&user);
	sigprocmask(SIG_SETMASK, &held, NULL);
	for (;;) {
		err = wait_for_handler(&left, &own);
		if (err != EINTR || (kind == HANDLERS_NONE ? handlers(&own, &held) != HANDLERS_NONE
		                                           : !user_has_changed(&user)))
			break;
		if (monotonic() >= until) {
			err = 0;
			break;
		}
	}
	sigprocmask(SIG_SETMASK, &own, NULL);
	return err;
}

enum wait_end wait_until(int64_t deadline, const struct budget *budget)
{
	enum wait_end end = WAIT_OVER;
	int64_t now = monotonic();
	/* A clock that stands still (libfaketime, where libc's own cannot be had) must not make the
	 * wait endless. */
	int64_t slices = (deadline - now) / WAIT_SLICE + 1;
	int saved = errno, ended;

	if (confined_by_itself())
		return WAIT_IMPOSSIBLE;
	for (;; now = monotonic()) {
		if (pthread_testcancel)
			pthread_testcancel();
		if (now >= deadline || slices-- < 0)
			break;
		if (budget && budget_is_back(budget)) {
			end = WAIT_RELEASED;
			break;
		}
		if (steering_asks(shim_region)) {
			end = WAIT_STEERED;
			break;
		}
		ended = slice(deadline - now > WAIT_SLICE ? WAIT_SLICE : deadline - now);
		if (ended != 0) {
			end = ended == EINTR ? WAIT_INTERRUPTED : WAIT_IMPOSSIBLE;
			break;
		}
	}
	errno = saved;
	return end;
}
