/* SPDX-License-Identifier: MIT */
/*
 * Who probes (shim/budget/leased.c; shim/tool/ledger.h, the purse of probes) for spin: hosts that all
 * wait at a destination which answers nobody, for whom there is no token, and a ledger that lends one
 * probe each tick. While a lease lives its probe goes, and nothing else; without one a host probes by
 * itself, once in N_MAX ticks, at a moment of its own. A lease lasts LIFE ticks.
 *
 * Any host ends and comes again, any agent stops and starts, any message is lost, the ledger is gone
 * and there again, and forgets all, as often as you like, in any order, and without an end of time. A
 * host asks once a tick, and what may go is gone before the next one; what is late, or comes twice,
 * is lease.pml's.
 *
 * Checked in every state: in no window of w ticks more than 1 + w probes of leases go, and no more
 * than that of hosts that have none. And from the last thing on that goes wrong, be the ledger there
 * or gone, somebody probes before what is left of a lease and N_MAX ticks are over.
 *
 * tests/fleet/specified runs this, and the broken variants, of which each has to be found.
 */
#define HOSTS 2
#define N_MAX 3 /* that there can be */
#define LIFE  2

#ifdef FORGETFUL /* broken: nothing is learnt */
#define LEARN 0
#else
#define LEARN LIFE
#endif
#ifdef UNSTRETCHED /* broken: without a lease each probes as if it were alone */
#define EVERY 1
#else
#define EVERY N_MAX
#endif
#ifndef MOST /* less is found to be too little */
#define MOST (LIFE - 1 + N_MAX) /* of the tick in which something went wrong the first part is over */
#endif

/* Of a host, and its agent. */
bool is_there[HOSTS] = true, has_agent[HOSTS] = true;
bool has_asked[HOSTS]; /* in this tick */
bool held[HOSTS];      /* a probe */
byte left[HOSTS];      /* of its lease */
bool is_good[HOSTS];   /* the ledger lends, as it said last */
bool is_due[HOSTS];    /* its own, without a lease */

/* Of the ledger. */
bool is_up = true, free = true, has_lain, known[HOSTS], k_out[HOSTS];
byte out[LIFE], learning, k_age[HOSTS];

byte clock; /* in its round of N_MAX */

/* Of all: ticks without any probe; and what went beyond one a tick. */
byte silent, leased, alone;

byte i, give, choice;

/* A lease of nothing is one, as long as the ledger lends: somebody else has the probe. */
#define LEASED(h)  (left[h] > 0 && (is_good[h] || held[h]))
#define MAY_GO(h)  (is_there[h] && (LEASED(h) -> held[h] : is_due[h]))
#define IS_DONE(h) (!MAY_GO(h) && (!is_there[h] || !has_agent[h] || has_asked[h]))
#define SOMEBODY   (is_there[0] || is_there[1])

inline go(h)
{
	if
	:: LEASED(h) -> held[h] = false; leased++
	:: else -> is_due[h] = false; alone++
	fi;
	silent = 0;
	assert(leased <= 1);
	assert(alone <= 1)
}

inline tick()
{
	clock = (clock + 1) % N_MAX;
#ifdef STUCK /* broken: a probe that was lent to who has ended never comes back */
	out[1] = out[1] + out[0];
#else
	out[1] = out[0];
#endif
	out[0] = 0;
	learning = (learning > 0 -> learning - 1 : 0);
	has_lain = free;
	free = (free || (learning == 0 && out[1] == 0) -> true : false);
	for (i : 0 .. HOSTS - 1) {
		has_asked[i] = false;
#ifndef ENDLESS /* broken: a lease that nobody renews stays */
		left[i] = (left[i] > 0 -> left[i] - 1 : 0);
#endif
		held[i] = held[i] && left[i] > 0;
		is_good[i] = is_good[i] && left[i] > 0;
		k_age[i] = (k_age[i] < LIFE -> k_age[i] + 1 : LIFE);
		k_out[i] = k_out[i] && k_age[i] < LIFE;
#ifndef NOBODY /* broken: without a lease nobody probes */
		is_due[i] = is_there[i] && (is_due[i] || i % EVERY == clock % EVERY);
#endif
#ifndef SAVED /* broken: what falls due while a lease lives goes when that ends */
		is_due[i] = is_due[i] && !LEASED(i)
#endif
	}
	i = 0;
	leased = (leased > 0 -> leased - 1 : 0);
	alone = (alone > 0 -> alone - 1 : 0);
	silent = (SOMEBODY -> silent + 1 : 0);
	assert(silent <= MOST)
}

/* What the ledger does with a request. It may keep a probe for who waits longer, but not for a whole tick. */
inline serve(h)
{
	if
	:: known[h] && k_age[h] < LIFE -> out[k_age[h]] = out[k_age[h]] - k_out[h]
	:: else
	fi;
	out[0] = out[0] + held[h];
	free = free && out[0] + out[1] == 0;
	give = (learning == 0 && free && !held[h] && (has_lain || choice) -> 1 : 0);
	free = free && !give;
	out[0] = out[0] + give;
	known[h] = true;
	k_out[h] = held[h] || give;
	k_age[h] = 0
}

inline hear(h)
{
	held[h] = held[h] || give;
	is_good[h] = learning == 0;
	left[h] = (is_good[h] || held[h] -> LIFE : 0);
	is_due[h] = is_due[h] && !LEASED(h)
}

/* The agent that comes after another takes over what that has lent, as long as it lasts. */
inline stop(h)
{
	has_agent[h] = false;
	has_asked[h] = false;
	known[h] = false; /* the next one is another */
	k_out[h] = false;
	k_age[h] = LIFE;
	silent = 0
}

inline end(h)
{
	stop(h);
	is_there[h] = false;
	held[h] = false;
	left[h] = 0;
	is_good[h] = false;
	is_due[h] = false
}

inline forget()
{
	out[0] = 0;
	out[1] = 0;
	for (i : 0 .. HOSTS - 1) {
		known[i] = false;
		k_out[i] = false;
		k_age[i] = LIFE
	}
	i = 0;
	has_lain = false;
	free = LEARN == 0;
	learning = LEARN;
	silent = 0
}

#define HOST(h) \
	:: d_step { MAY_GO(h) -> go(h) } \
	:: atomic { is_there[h] && has_agent[h] && !has_asked[h] -> has_asked[h] = true; \
		if \
		:: !is_up \
		:: is_up -> silent = 0 /* lost: the request, or the answer */ \
		:: is_up -> choice = 0; serve(h); give = 0; silent = 0 \
		:: is_up -> choice = 0; serve(h); hear(h) \
		:: is_up -> choice = 1; serve(h); hear(h) \
		fi; \
		choice = 0; give = 0 } \
	:: d_step { has_agent[h] -> stop(h) } \
	:: d_step { is_there[h] && !has_agent[h] -> has_agent[h] = true; silent = 0 } \
	:: d_step { is_there[h] -> end(h) } \
	:: d_step { !is_there[h] -> is_there[h] = true; has_agent[h] = true; silent = 0 }

init {
	k_age[0] = LIFE; k_age[1] = LIFE;
	do
	:: d_step { IS_DONE(0) && IS_DONE(1) -> tick() }
	HOST(0)
	HOST(1)
	:: d_step { is_up -> is_up = false; silent = 0 }
	:: d_step { !is_up -> is_up = true; silent = 0 }
	:: d_step { forget() }
	od
}
