/* SPDX-License-Identifier: MIT */
/*
 * The one region of shared memory: counters and budgets, laid out alike in 32- and 64-bit
 * processes, made of 64-bit atomics and bytes, without pointers or locks. A mapping of zeroes is a
 * valid, empty region. Whoever reads it clamps what it reads: another process may have written
 * garbage.
 */
#ifndef RETRYBUDGET_REGION_REGION_H
#define RETRYBUDGET_REGION_REGION_H

#include "budget/admission.h"
#include "budget/budget.h"
#include "budget/spread.h"
#include "config/scope.h"

#define REGION_LAYOUT         'P' /* grows with the layout: in the magic, and in a share's name */
#define REGION_MAGIC          (INT64_C(0x0030746567646272) | (int64_t)REGION_LAYOUT << 56) /* "rbdget0P" */
#define REGION_CHUNK          512 /* destinations in a chunk */
#define REGION_CHUNKS         256 /* the region's own, and those that a share grows by */
#define REGION_LEVELS         9   /* of chunks: 1, 1, 2, 4 and so on to 128 */
#define REGION_DESTINATIONS   (REGION_CHUNK * REGION_CHUNKS)
#define REGION_LINE           64 /* bytes that processors pass around */
#define REGION_LINE_CELLS     ((int)(REGION_LINE / sizeof(cell64)))
#define REGION_FAILURES       64
#define REGION_ANSWERED       8 /* places for requests that were answered, a power of 2 */
#define REGION_KIN            26
#define REGION_PARENTS        512
#define REGION_KIN_ROWS       7 /* lineages that spin at a time, and one place for all others */
#define REGION_MIXED          8 /* places for threads that have mixed work, a power of 2 */
#define REGION_ADMISSIONS     64
#define REGION_TALLIES        16 /* places where those who share it count what all do */
#define REGION_DECISIONS      8
#define REGION_DECISION_WORDS 5
#define REGION_RULES          20 /* places for the rules of the judging, dest/rules.h */
#define REGION_TIMES          20 /* places of a histogram of times */
#define REGION_VERSION        16
#define REGION_PROGRAM        64
#define REGION_PATH           256
#define REGION_LABEL          64 /* of a section of the configuration, and a NUL */
#define REGION_SITES          3
#define REGION_SITE           128 /* of a call site, and a NUL */
#define REGION_NAME           288 /* a 253-byte host name, a port, or a unix socket path, and a NUL */

/*
 * Who made the region, as its constructor knew it, for tools that read it from outside. Children of
 * fork share the region, and what stands here stays their ancestor's; so it does in a region that
 * more programs share. Only the mode and the configuration follow a reload.
 */
struct region_identity {
	cell64 pid;         /* in its own namespace; 0: nobody has begun to write */
	cell64 is_whole;    /* 1 once all of it is written */
	cell64 started;     /* clock ticks after boot, as in /proc/PID/stat; 0 = not known */
	cell64 scope;       /* enum scope of the region itself */
	cell64 mode;        /* enum mode of [retrybudget] */
	cell64 config_hash; /* of the bytes of the file (FNV-1a); 0: none was read */
	char version[REGION_VERSION];
	char program[REGION_PROGRAM]; /* text ends with a NUL here, or is cut */
	char config[REGION_PATH];
};

/* What an operator asks of the processes that share the region; see region/steering.h. 0: nothing
 * yet. */
struct steering {
	cell64 request; /* the only word that anybody else writes, but `changes` */
	cell64 answer;  /* of whoever took it last */
	cell64 takers;  /* how many processes have */
};

/* Times on a scale of powers of two: place 0 counts those under 1 ms, place i those under 2^i ms,
 * the last any longer. */
struct times {
	cell64 sum; /* ns */
	cell64 counts[REGION_TIMES];
};

/* The statuses that are counted by themselves; the last place is any other. */
enum status_place {
	STATUS_429,
	STATUS_500,
	STATUS_502,
	STATUS_503,
	STATUS_504,
	STATUS_OTHER,
	STATUS_PLACES,
};

/* Counters of one destination, or of all together. Only ever incremented. What each refusal and
 * each answer counts stands first, in one line of a cache, and the rule in the next ones. */
struct tally {
	cell64 attempts;
	cell64 retries; /* of the attempts: judged to be retries, whether let through or not */
	cell64 refused; /* retries refused, parked or redirected, and what a breaker has throttled;
	                 * in observe: would have been */
	cell64 avoided; /* of the refused: never came to the network */
	cell64 exhausted; /* refusals for want of tokens */
	cell64 successes;
	cell64 answered[2]; /* attempts whose destination has answered, once each: [0] first tries,
	                     * [1] retries. A connection that lives long answers more often, which
	                     * `successes` may count. */
	cell64 rules[REGION_RULES];     /* judged by each, but for the first, `quiet` */
	cell64 parked;                  /* of the refused: the program is told later */
	cell64 held;                    /* calls that were held or spread, and then went */
	cell64 probes;                  /* retries let through without a token (ADMITTED_PROBE) */
	cell64 mistaken;                /* retries whose request proved to be new work: paid back */
	cell64 failures[FAILURE_COUNT]; /* by enum failure; [0] unused */
	cell64 failed[2];               /* failures, as `answered` */
	cell64 evicted;    /* destinations in use that made room for it: more are tried at a time
	                    * than there are places */
	cell64 breaker[3]; /* changes: opened, half-opened, closed */
	cell64 statuses[STATUS_PLACES]; /* HTTP statuses that failed, by enum status_place */
	struct times waits;             /* of calls that were held */
	struct times delays;            /* that were drawn for the gate */
	struct times recoveries; /* from a streak's first failure to the success that ends it */
};

/* See region/decisions.h. */
struct decision_place {
	cell64 words[REGION_DECISION_WORDS];
};

/* What no record has told yet of a destination that fails. The next one of its kind takes it all,
 * so that the sums over all records are what was counted. */
struct untold {
	cell64 attempts;  /* asked for since the failure that began the streak, that one included */
	cell64 throttled; /* of them: refused, parked, or held and then let go */
	cell64 refused;   /* told at once */
	cell64 parked;    /* told later */
	cell64 held;      /* calls that were held, whatever came of them */
	cell64 waited;    /* ns, all of these together */
};

/* A slot. Its key is in the chunk. No two of them have a line of a cache in common, and what is
 * written by others begins a line. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct destination {
	cell64 generation; /* grows when the slot is given to another name */
	cell64 slot;       /* which one it is, as its claimer wrote: to be checked */
	cell64 named;      /* the key that name was written for */
	cell64 address[2]; /* the last one tried, IPv4 mapped, as it lies in memory; 0 = none */
	cell64 port;       /* host byte order */
	cell64 last_errno; /* the last real error of a connect, what a refusal replays; 0 = none */
	cell64 last_eai;   /* the same for a lookup, an EAI_ code (negative); 0 = none */
	cell64 last_failure; /* enum failure */
	cell64 last_unmet;   /* 1: that failed before the peer had answered the connect */
	cell64 good_place;   /* place of the address that answered last, 0 once it fails
	                        (dest/names.h) */
	cell64 bad_place;    /* of the one that failed last, likewise */
	cell64 records[4];   /* ns, when each kind of rate-limited record was last written */
	cell64 answer_time;  /* ns that answers take, 0 = none came yet (dest/answer_time.h) */
	cell64 failing_time; /* ns that attempts take to fail, likewise */
	cell64 gave_up;      /* connects in a row that the program gave up early, likewise */
	cell64 knocks;       /* connections that nobody used and the peer ended, likewise */
	cell64 greetings;    /* connections that the peer ended after a greeting, likewise */
	cell64 converses;    /* it has answered what was asked after its greeting */
	cell64 exhausted;    /* which tokens ran out, as a record has said; 0 = all there */
	cell64 unclaimed;    /* failures that found no free place below: anyone may answer them */
	cell64 unclaimed_at; /* ns, the last of those */
	cell64 failures[REGION_FAILURES];  /* unanswered failures, packed; see dest/failures.h */
	cell64 details[REGION_FAILURES];   /* what is known of each: the request that failed */
	ucell64 answered[REGION_ANSWERED]; /* requests answered lately; see dest/failures.h */
	cell64 profile;              /* what the program does after failures, dest/profile.h */
	cell64 answerers;            /* and more of it: whose failures threads answer */
	cell64 news;                 /* how its new requests end, dest/profile.h */
	ucell64 mixed[REGION_MIXED]; /* threads whose work there is of several kinds */
	cell64 pause;                /* ns, the shortest before it tries again; < 0: seen once */
	cell64 kin[REGION_KIN];      /* whose tries failed here, see dest/lineage.h */
	cell64 kin_rows[REGION_KIN_ROWS]; /* their refusals in a row, see dest/spin_row.h */
	cell64 starts;                    /* first tries of processes (sys/second_count.h) */
	cell64 deferred_now;              /* connects whose request is judged, likewise */
	struct spread spread;             /* connections that were lost at once */
	struct budget budget __attribute__((aligned(REGION_LINE)));
	cell64 decided;                                    /* verdicts so far */
	struct decision_place decisions[REGION_DECISIONS]; /* the last of them */
	/* What each refusal writes besides the budget's first line: two lines, and the rule's. */
	cell64 used_at __attribute__((aligned(REGION_LINE))); /* ns, last attempt: the coldest slot
	                                                         is evicted */
	cell64 refused_now; /* refusals that may be of a storm (pace/storm.h, sys/second_count.h) */
	struct untold untold[2]; /* [1]: in mode observe. They have records of their own */
	cell64 parked_now;       /* of refused_now: those that were parked, likewise */
	struct tally tally __attribute__((aligned(REGION_LINE)));
	cell64 sited; /* call sites so far; see region/sites.h */
	char sites[REGION_SITES][REGION_SITE];
	char policy[REGION_LABEL]; /* label of its section, by whoever looked it up last */
	char name[REGION_NAME];    /* NUL-terminated */
} __attribute__((aligned(REGION_LINE)));

/*
 * Slots, and their keys side by side, so that a search does not touch what it passes by. A share
 * that is full grows by chunks, each a segment of its own (region/chunks.h).
 */
struct chunk {
	cell64 magic;  /* REGION_MAGIC */
	cell64 nonce;  /* of the region that it belongs to */
	cell64 number; /* 0: the region's own */
	cell64 unused[5];
	cell64 keys[REGION_CHUNK]; /* hash of name; 0 = free. Even while the slot is emptied for
	                              that name */
	struct destination destinations[REGION_CHUNK];
};

/* Of those who share a region each process counts what all do in one of these. */
struct tally_place {
	struct tally tally;
} __attribute__((aligned(REGION_LINE)));

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): lines of a cache, as above */
struct region {
	cell64 magic; /* REGION_MAGIC once usable */
	cell64 size;  /* sizeof(struct region) of its maker */
	cell64 nonce; /* of a share: the name of the share says it too */
	struct region_identity identity;
	struct steering steering;
	cell64 lost_records; /* records that no listener took */
	cell64 faults;       /* what the kernel, a limit or a sandbox kept from the shim */
	struct {
		cell64 from;       /* ns, when the interval began that they are counted in */
		cell64 written;    /* about any destination, since then */
		cell64 suppressed; /* left out beyond that, and not yet told */
	} records;
	/* From 1, grows with each failure, each retry and each new configuration: while it stands
	 * still, a connection whose success changed nothing need not look again. It has a line of
	 * its own, for it is read where the counters below are written. */
	cell64 changes __attribute__((aligned(REGION_LINE)));
	struct bucket process __attribute__((aligned(REGION_LINE))); /* the process-wide bucket */
	struct tally tally __attribute__((aligned(REGION_LINE)));    /* see region_sum() */
	/* Chunks that are in use: levels of them above the first, and the numbers of their
	 * segments, plus 1; 0 = there is none. */
	cell64 levels __attribute__((aligned(REGION_LINE)));
	cell64 chunks[REGION_CHUNKS];
	struct chunk first;
	struct admission admissions[REGION_ADMISSIONS]; /* of the [admission] sections */
	/* Work that was done beside refusals, and the last second, from 1, that had any: see
	 * dest/demand.h. */
	cell64 served[2] __attribute__((aligned(REGION_LINE)));
	cell64 refused_in;
	struct tally_place tallies[REGION_TALLIES - 1];
	/* Of those who start a process for each try: when the last of them was told that it failed,
	 * see dest/lineage.h. */
	cell64 parents[REGION_PARENTS] __attribute__((aligned(REGION_LINE)));
} __attribute__((aligned(REGION_LINE)));

/*
 * Maps the region of a scope, or makes it. share: the share name, see share_name_valid().
 *
 * SCOPE_PROCESS is a memfd mapping: inherited by fork, gone with its last process. SCOPE_USER and
 * SCOPE_HOST are found by name: region/shared.h.
 *
 * Returns the mapping; where the shared one cannot be had, one of SCOPE_PROCESS with *why set to a
 * static text (else *why is NULL); NULL if nothing can be mapped. Leaves no descriptor open. Call
 * once, from the constructor.
 */
struct region *region_open(enum scope scope, const char *share, const char **why);

/*
 * `retrybudget run --stat-on-exit` reads the region when its processes have gone, and so keeps a
 * file for it: "PID:FD:INODE:CHILD" in the environment names that file, and the process that is to
 * take it for its region of SCOPE_PROCESS, whatever program it has become by exec. All others make
 * their own, as does whoever cannot open it or finds another file there. Call before region_open().
 */
#define REGION_VARIABLE "RETRYBUDGET_REGION"
void region_hand(const char *text);

/* The file for that, sealed: -1 with errno. */
int region_make_file(void);

/* Makes memory of zeroes, which nobody else can see yet, a region. nonce: of a share, else 0. */
static inline void region_begin(struct region *region, int64_t nonce)
{
	atomic_store(&region->size, (int64_t)sizeof(struct region));
	atomic_store(&region->nonce, nonce);
	atomic_fetch_or(&region->changes, 1);
	atomic_store(&region->magic, REGION_MAGIC);
}

/* As region_open() in another directory than /dev/shm, for the tests. */
struct region *region_open_in(const char *base, enum scope scope, const char *share,
                              const char **why);

/* One of the places where processes count what all do. Many that had the same would wait for its
 * lines at each attempt. */
static inline struct tally *region_tally(struct region *region, int64_t place)
{
	uint64_t at = (uint64_t)place % REGION_TALLIES;

	return at == 0 ? &region->tally : &region->tallies[at - 1].tally;
}

/* Adds what one of them has counted. */
static inline void tally_add(struct tally *sum, const struct tally *one)
{
	const cell64 *from = (const cell64 *)one;
	cell64 *to = (cell64 *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		STORE(to[i], (int64_t)((uint64_t)LOAD(to[i]) + (uint64_t)LOAD(from[i])));
}

/* What all have counted, together. */
static inline void region_sum(const struct region *region, struct tally *sum)
{
	*sum = (struct tally) { 0 };
	tally_add(sum, &region->tally);
	for (int i = 0; i < REGION_TALLIES - 1; i++)
		tally_add(sum, &region->tallies[i].tally);
}

static inline void count(cell64 *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

#endif
