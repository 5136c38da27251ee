/* SPDX-License-Identifier: MIT */
/*
 * The protocol of leases (shim/tool/ledger.h, tool/holder.h) for spin: two hosts and a ledger, of which any
 * request and answer is lost, comes twice, late or in another order; hosts die and come again; the
 * ledger forgets all, or goes back to what it knew before. A lease lasts LIFE ticks of time.
 *
 * Checked in every state: what is free, held and granted on its way is never more than CAPACITY. It
 * grows by time, so that no window of time sees more than CAPACITY and what time adds; and by two for
 * each attempt that was answered (the code: by five quarters), and these are gone, spent or not, a
 * lease's life after the ledger heard of it. And from every state on, when the faults end: all that
 * anybody held comes back, and whoever asks gets some. Who probes is probe.pml's.
 *
 * tests/fleet/specified runs this within bounds that it names, and the broken variants, of which each has to be found.
 */
#define HOSTS    2
#define CAPACITY 2
#define LIFE     2

#ifndef FAULTS
#define FAULTS 1 /* deaths, and losses of the ledger */
#endif

#ifdef EARLY /* broken: the ledger forgets a lease before its host does */
#define KEPT 1
#else
#define KEPT LIFE
#endif
#ifdef FORGETFUL /* broken: nothing is learnt */
#define LEARN 0
#else
#ifdef HASTY /* broken: learning ends too soon */
#define LEARN 1
#else
#define LEARN LIFE
#endif
#endif

/* Of a host. What it holds is void when left is 0. */
byte life[HOSTS], number[HOSTS], held[HOSTS], left[HOSTS];
byte part[HOSTS], part_left[HOSTS]; /* of what it holds, earned by answers: renewed by nothing */
byte won[HOSTS];    /* answered since its last request */
bool waits[HOSTS];  /* for the answer to its last request */
byte since[HOSTS];  /* ticks since it asked, up to LIFE */

/* Of the ledger: what is free, what may be held by the age of its word, and what it knows of hosts. */
byte free, learning, earned;
byte out[LIFE];
byte k_life[HOSTS], k_number[HOSTS], k_out[HOSTS], k_age[HOSTS];

/* What the ledger knew before. */
bool b_is;
byte b_free, b_out[LIFE], b_life[HOSTS], b_number[HOSTS], b_k_out[HOSTS], b_age[HOSTS];

/* On their way. */
chan requests = [2] of { byte, byte, byte, byte, byte, byte }; /* host, life, number, held, back, won */
chan answers = [1] of { byte, byte, byte, byte, byte };   /* host, life, number, granted, of it earned */
byte granted; /* in the answer on its way, 0 if none will be taken */

/* What may still happen. */
byte ticks = TICKS, asks = ASKS, deaths = FAULTS, losses = FAULTS, losing = LOSING, wins = WINS;

/* What the true answers may have added, by the age of the request that told them; answers that none
 * has told. */
byte more[LIFE], untold[HOSTS];

#define LEAST(x, y) (x < y -> x : y)
/* What nothing reads any more is 0, so that schedules which differ in that alone are one. */
#define TIDY(h) part_left[h] = (part[h] == 0 -> 0 : part_left[h]); left[h] = (held[h] == 0 -> 0 : left[h])
#define VOID(h) held[h] = (left[h] == 0 -> 0 : (part_left[h] == 0 -> held[h] - part[h] : held[h])); \
	part[h] = (left[h] == 0 || part_left[h] == 0 -> 0 : part[h]); TIDY(h)
#ifdef PATIENT /* for traces by chance, of which few would hear an answer otherwise */
#define MAY_ASK(h) (!waits[h] || since[h] > 0)
#define MAY_TICK (empty(requests) && empty(answers))
#else
#define MAY_ASK(h) true
#define MAY_TICK true
#endif
/* The hosts are alike: the first to do anything is host 0. */
#define MAY_ACT (number[0] > 0 || life[0] > 0)
#define TAKES(h, l, n) (waits[h] && life[h] == l && number[h] == n && since[h] < LIFE)
#define SOUND assert(free + earned + held[0] + held[1] + granted <= CAPACITY + more[0] + more[1])

byte h, l, n, a, b, w, sum, give, all, won_all, who;

inline tick()
{
	printf("TRACE tick\n");
	for (h : 0 .. HOSTS - 1) {
		left[h] = (left[h] > 0 -> left[h] - 1 : 0);
#ifndef RENEWED /* broken: what answers earned lasts as long as the lease */
		part_left[h] = (part_left[h] > 0 -> part_left[h] - 1 : 0);
#endif
		VOID(h);
		since[h] = (since[h] < LIFE -> since[h] + 1 : LIFE);
		k_age[h] = (k_age[h] < LIFE -> k_age[h] + 1 : LIFE);
		k_out[h] = (k_age[h] == LIFE -> 0 : k_out[h]);
		b_age[h] = (b_is && b_age[h] < LIFE -> b_age[h] + 1 : b_age[h])
	}
	if
	:: answers ? [h, l, n, a, w] -> answers ? <h, l, n, a, w>; granted = (TAKES(h, l, n) -> a : 0)
	:: else
	fi;
	/* The ledger in service does this in the other order, and a quarter of a life later: this is as
	 * early as it may be. */
	learning = (learning > 0 -> learning - 1 : 0);
	out[1] = (KEPT > 1 -> out[0] : 0);
	out[0] = 0;
	b_out[1] = b_out[0];
	b_out[0] = 0;
	more[1] = more[0];
	more[0] = 0;
#ifndef KEPT_EARNED /* broken: what answers earned lies there until somebody wants it */
	earned = 0;
#endif
	if
	:: learning == 0 && free + out[1] < CAPACITY -> free++
	:: else
	fi;
	h = 0; l = 0; n = 0; a = 0; w = 0; sum = 0
}

inline spend(i)
{
	held[i]--;
	part[i] = LEAST(part[i], held[i]);
	TIDY(i);
	printf("TRACE spend %d\n", i)
}

inline win(i)
{
	spend(i);
	printf("TRACE win %d\n", i);
	wins--;
	won[i]++;
	untold[i]++
}

inline ask(i, gives)
{
	number[i]++;
	waits[i] = true;
	since[i] = 0;
	b = (gives && held[i] > 0 -> 1 : 0);
	granted = 0;
	printf("TRACE ask %d %d\n", i, b);
	requests ! i, life[i], number[i], held[i] - b, b, won[i];
#ifndef AGAIN /* broken: told in each request until one is answered */
	won[i] = 0;
#endif
#ifndef GREEDY /* broken: what is given back is kept */
	held[i] = held[i] - b;
	part[i] = LEAST(part[i], held[i]);
	TIDY(i);
#endif
	b = 0
}

inline serve()
{
	requests ? h, l, n, a, b, w;
	printf("TRACE serve %d %d %d\n", h, l, n);
	if
	:: k_life[h] == l + 1 && n <= k_number[h] ->
#ifdef TWICE /* broken: what comes twice counts twice */
		free = (free + b <= CAPACITY -> free + b : CAPACITY)
#endif
	:: else ->
		if
		:: k_life[h] == l + 1 && k_age[h] < KEPT ->
			out[k_age[h]] = (out[k_age[h]] > k_out[h] -> out[k_age[h]] - k_out[h] : 0);
			b = (k_out[h] < a + b -> (k_out[h] < a -> 0 : k_out[h] - a) : b);
			free = (learning == 0 -> free + b : free);
			if
			:: learning == 0 ->
				earned = earned + 2 * w;
				more[0] = more[0] + 2 * LEAST(w, untold[h]);
				untold[h] = untold[h] - LEAST(w, untold[h])
			:: else
			fi
		:: else
		fi;
		out[0] = out[0] + a;
		sum = out[0] + out[1];
		free = (sum >= CAPACITY -> 0 : (free + sum > CAPACITY -> CAPACITY - sum : free));
		give = (learning > 0 -> 0 : free);
		give = (give > 1 && !all -> 1 : give);
		free = free - give;
		w = (learning > 0 -> 0 : earned);
		w = (w > 1 && !won_all -> 1 : w);
		earned = earned - w;
		give = give + w;
#ifndef UNCOUNTED /* broken: a grant is not counted until its host says that it holds it */
		out[0] = out[0] + give;
		k_out[h] = a + give;
#else
		k_out[h] = a;
#endif
		k_life[h] = l + 1;
		k_number[h] = n;
		k_age[h] = 0;
		if
		:: nfull(answers) -> answers ! h, l, n, give, w; granted = (TAKES(h, l, n) -> give : 0)
		:: full(answers)
		fi
	fi;
	h = 0; l = 0; n = 0; a = 0; b = 0; w = 0; sum = 0; give = 0; all = 0; won_all = 0
}

inline hear()
{
	answers ? h, l, n, a, w;
	if
#ifdef LATE /* broken: any answer is taken */
	:: true ->
#else
	:: TAKES(h, l, n) ->
#endif
		held[h] = held[h] + a;
#ifdef FROM_NOW /* broken: a lease counts from its answer */
		left[h] = LIFE;
#else
		left[h] = LIFE - since[h];
#endif
		part_left[h] = (w > 0 -> (part[h] > 0 -> LEAST(part_left[h], LIFE - since[h]) : LIFE - since[h]) : part_left[h]);
		part[h] = part[h] + w;
		VOID(h);
		waits[h] = false;
		since[h] = LIFE;
#ifdef AGAIN
		won[h] = 0
#endif
	:: else
	fi;
	granted = 0;
	printf("TRACE hear %d %d %d\n", h, l, n);
	h = 0; l = 0; n = 0; a = 0; w = 0
}

inline die(i)
{
	printf("TRACE die %d\n", i);
	life[i]++;
	number[i] = 0;
	held[i] = 0;
	left[i] = 0;
	part[i] = 0;
	part_left[i] = 0;
	won[i] = 0;
	waits[i] = false;
	since[i] = LIFE;
	if
	:: answers ? [eval(i), l, n, a, w] -> granted = 0
	:: else
	fi
}

/* Whoever lost it sees that it has not written this ledger, and learns. */
inline lose_all()
{
	printf("TRACE flush\n");
	out[0] = 0; out[1] = 0;
	for (h : 0 .. HOSTS - 1) {
		k_life[h] = 0; k_number[h] = 0; k_out[h] = 0; k_age[h] = 0
	}
	h = 0;
	free = (LEARN > 0 -> 0 : CAPACITY);
	earned = 0;
	learning = LEARN
}

inline remember()
{
	printf("TRACE remember\n");
	b_free = free; b_out[0] = out[0]; b_out[1] = out[1];
	for (h : 0 .. HOSTS - 1) {
		b_life[h] = k_life[h]; b_number[h] = k_number[h]; b_k_out[h] = k_out[h]; b_age[h] = k_age[h]
	}
	h = 0
}

inline go_back()
{
	printf("TRACE back\n");
	out[0] = b_out[0]; out[1] = b_out[1];
	for (h : 0 .. HOSTS - 1) {
		k_life[h] = b_life[h]; k_number[h] = b_number[h]; k_out[h] = b_k_out[h]; k_age[h] = b_age[h]
	}
	free = (LEARN > 0 -> 0 : b_free);
	earned = 0;
	learning = LEARN;
	b_free = 0; b_out[0] = 0; b_out[1] = 0; b_is = false;
	for (h : 0 .. HOSTS - 1) {
		b_life[h] = 0; b_number[h] = 0; b_k_out[h] = 0; b_age[h] = 0
	}
	h = 0
}

/* Everybody but a host that asks again and again is gone, and nothing is lost any more. */
inline recover(i)
{
	do
	:: nempty(requests) -> requests ? h, l, n, a, b, w
	:: nempty(answers) -> answers ? h, l, n, a, w
	:: empty(requests) && empty(answers) -> break
	od;
	h = 0; l = 0; n = 0; a = 0; b = 0; w = 0; granted = 0;
	for (give : 0 .. LIFE + LEARN + CAPACITY) {
		tick()
	}
	assert(free == CAPACITY); /* the tokens of the dead have come back */
	ask(i, false);
	serve();
	hear();
	assert(held[i] > 0) /* who asks gets some: somebody probes */
}

init {
	free = CAPACITY;
	since[0] = LIFE; since[1] = LIFE;
	do
	:: d_step { ticks > 0 && MAY_TICK -> ticks--; tick(); SOUND }
	:: d_step { held[0] > 0 -> spend(0); SOUND }
	:: d_step { held[1] > 0 -> spend(1); SOUND }
	:: d_step { wins > 0 && held[0] > 0 -> win(0); SOUND }
	:: d_step { wins > 0 && held[1] > 0 -> win(1); SOUND }
	:: d_step { asks > 0 && nfull(requests) && MAY_ASK(0) -> asks--; ask(0, true); SOUND }
	:: d_step { asks > 0 && nfull(requests) && MAY_ASK(0) -> asks--; ask(0, false); SOUND }
	:: d_step { asks > 0 && nfull(requests) && MAY_ACT && MAY_ASK(1) -> asks--; ask(1, true); SOUND }
	:: d_step { asks > 0 && nfull(requests) && MAY_ACT && MAY_ASK(1) -> asks--; ask(1, false); SOUND }
	:: atomic { nempty(requests) -> /* all, or one */
		if
		:: all = 0
		:: all = 1
		fi;
		if
		:: won_all = 0
		:: won_all = 1
		fi;
		d_step { serve(); SOUND } }
	:: d_step { nempty(answers) -> hear(); SOUND }
	:: atomic { losing > 0 && nempty(requests) -> losing--; /* one that stays comes twice */
		requests ? h, l, n, a, b, w;
		if
		:: printf("TRACE lost %d %d %d\n", h, l, n)
		:: empty(requests) -> requests ! h, l, n, a, b, w; requests ! h, l, n, a, b, w;
			printf("TRACE twice %d %d %d\n", h, l, n)
		fi;
		h = 0; l = 0; n = 0; a = 0; b = 0; w = 0 }
	:: d_step { losing > 0 && nempty(answers) -> losing--; answers ? h, l, n, a, w; granted = 0;
		printf("TRACE unheard %d %d %d\n", h, l, n); h = 0; l = 0; n = 0; a = 0; w = 0 }
	:: d_step { len(requests) == 2 -> /* the second comes first */
		requests ? h, l, n, a, b, w; requests ! h, l, n, a, b, w; h = 0; l = 0; n = 0; a = 0; b = 0; w = 0 }
	:: d_step { deaths > 0 -> deaths--; die(0); SOUND }
	:: d_step { deaths > 0 && MAY_ACT -> deaths--; die(1); SOUND }
#ifndef BACK
	:: d_step { losses > 0 -> losses--; lose_all(); SOUND }
#endif
#ifdef BACK
	:: d_step { losses > 0 && !b_is -> b_is = true; remember() }
	:: d_step { losses > 0 && b_is -> losses--; go_back(); SOUND }
#endif
	:: atomic { ticks == 0 ->
		if
		:: who = 0
		:: who = 1
		fi;
		d_step { recover(who) };
		break }
	od
}
