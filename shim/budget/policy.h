/* SPDX-License-Identifier: MIT */
/*
 * What an operator can ask for, in the units the arithmetic uses. One struct policy per
 * [destination] section; the parser fills it, everybody else only reads it.
 *
 * Units: tokens are milli-tokens (mt, int64), times are nanoseconds of CLOCK_MONOTONIC (int64),
 * shares are parts per million (ppm). Every field is a plain number in the range the key table
 * gives, so a reader that races with a reload sees old or new values, never an invalid one.
 */
#ifndef RETRYBUDGET_BUDGET_POLICY_H
#define RETRYBUDGET_BUDGET_POLICY_H

#include "sys/arithmetic.h"

#include <stdbool.h>

#define MT_PER_TOKEN INT64_C(1000)
#define PPM_WHOLE    INT64_C(1000000)

enum mode {
	MODE_OFF,     /* neither judged nor counted */
	MODE_OBSERVE, /* judged, counted and logged, never throttled */
	MODE_ENFORCE,
};

/* What decides about a destination's retries; one file each, see strategy.h. */
enum strategy {
	STRATEGY_BUCKET,
	STRATEGY_WINDOW,
	STRATEGY_ADAPTIVE,
	STRATEGY_THROTTLE,
	STRATEGY_PROBABILISTIC,
	STRATEGY_CONCURRENCY,
	STRATEGY_COUNT,
};

/* What takes tokens out of a destination's bucket. */
enum charge {
	CHARGE_RETRY,   /* a retry, before it goes */
	CHARGE_FAILURE, /* every failure, that of a first try too; retries only look at the level */
};

/* What a window's `ratio` is a share of. */
enum ratio_of {
	RATIO_OF_SUCCESSES,
	RATIO_OF_REQUESTS, /* first tries, whatever became of them */
};

/* How a window's `window_min` and what was earned come together. */
enum reserve {
	RESERVE_LEAST, /* the larger of the two */
	RESERVE_EXTRA, /* the sum */
};

enum jitter {
	JITTER_FULL,
	JITTER_EQUAL,
	JITTER_DECORRELATED,
	JITTER_NONE,
};

enum nonblocking {
	NONBLOCKING_PARK,
	NONBLOCKING_REDIRECT,
	NONBLOCKING_PASS,
};

/* What becomes of a request sent again on a kept connection that may not go yet. */
enum http_deny {
	HTTP_DENY_CLOSE, /* as if the server had closed the connection while it was idle */
	HTTP_DENY_RESET, /* the send fails with ECONNRESET */
	HTTP_DENY_PASS,  /* it goes, and is counted */
};

/* What becomes of a datagram that repeats an unanswered one too early. */
enum udp_deny {
	UDP_PASS, /* it goes, and is counted */
	UDP_DROP,
};

/* How an attempt failed (failure_of() in conn/outcome.c says which error is which); also the value
 * of `class=` in a record. */
enum failure {
	FAILURE_NONE,
	FAILURE_REFUSED,
	FAILURE_UNREACHABLE,
	FAILURE_TIMEOUT,
	FAILURE_RESET,
	FAILURE_DROPPED,
	FAILURE_LOCAL,
	FAILURE_LOOKUP,
	FAILURE_STATUS, /* an HTTP status from the policy's list */
	FAILURE_COUNT,
};

/* How a bucket fills; the process-wide bucket and each destination have one. */
struct bucket_rule {
	int64_t capacity;  /* mt, > 0 */
	int64_t earn;      /* mt per success */
	int64_t floor;     /* mt per second */
	int64_t start;     /* ppm of capacity that a new bucket holds */
	int64_t threshold; /* ppm of capacity that must remain after paying */
};

struct backoff_rule {
	int64_t base;   /* ns */
	int64_t factor; /* thousandths, >= 1000 */
	int64_t cap;    /* ns */
	int64_t min;    /* ns, lower bound of every delay */
	int32_t jitter; /* enum jitter */
};

/* When a circuit breaker opens, and when it closes again. */
struct breaker_rule {
	int64_t failures;  /* in a row that open it; 0 = they do not */
	int64_t rate;      /* ppm of the outcomes within window that opens it; 0 = it does not */
	int64_t volume;    /* outcomes within window below which rate does not count, >= 1 */
	int64_t window;    /* ns */
	int64_t open;      /* ns, jittered upward */
	int64_t probes;    /* attempts in flight while half open, >= 1 */
	int64_t successes; /* in a row that close it, >= 1 */
	int32_t on;        /* boolean */
};

struct policy {
	struct bucket_rule bucket;
	struct backoff_rule backoff;
	int64_t ratio;           /* mt per success, request or attempt in flight */
	int64_t window;          /* ns that the counts reach back */
	int64_t window_min;      /* mt per window */
	int64_t k;               /* thousandths, >= 1000: requests tolerated per success */
	int64_t target;          /* ppm: load that retries may add */
	int64_t min_concurrency; /* retries in flight, whatever the ratio says */
	int64_t sample;          /* ppm of the failures that may be retried */
	int64_t max_attempts;    /* failures in a row after which only the probe goes; 0 = none */
	int64_t instances;       /* of which this is one: they share what time gives, >= 1 */
	int64_t cost;            /* mt per retry */
	int64_t cost_timeout;    /* mt per retry that answers a timeout */
	int64_t probe;           /* ns after which an attempt goes whatever the tokens say, > 0 */
	int64_t hold;            /* ns for which a call that spins is held; 0 = none */
	int64_t horizon;         /* ns, age at which an unanswered failure is forgotten */
	int64_t min_life;        /* ns, age from which a one-way connection counts as a success */
	struct breaker_rule breaker;
	int64_t rate;             /* mt per second of all attempts; 0 = no bound */
	int64_t burst;            /* mt of all attempts at once, where there is one */
	int64_t connect_timeout;  /* ns, bound of a blocking connect; 0 = none */
	int64_t reply_timeout;    /* ns, bound of a blocking read of a reply; 0 = none */
	int64_t reconnect_spread; /* ns over which a mass loss is replaced; 0 = at once */
	int64_t start_spread;     /* ns over which first tries of many processes go; 0 = at once */
	int64_t start_burst;      /* of them in a second that are not */
	int64_t http_status; /* up to six codes of ten bits each, 0 = no more: they are failures */
	int64_t retry_after_cap; /* ns, longest Retry-After that is obeyed */
	int64_t fleet_reserve;   /* mt per second of all hosts that have no lease */
	int64_t fleet_n_max;     /* hosts that there can be, >= 1 */
	int64_t label;           /* lease_label() of the section's, where it is leased */
	int32_t fleet;           /* boolean, as the section says */
	int32_t leased;          /* boolean: so it is, and there is a fleet to draw on */
	int32_t bounds_first;    /* boolean: first tries too may have to wait, or be refused */
	int32_t plain;    /* boolean: nothing here that few policies ask for; false may be wrong */
	int32_t mode;     /* enum mode */
	int32_t strategy; /* enum strategy */
	int32_t preset;   /* enum preset of config/presets.h; only to show where keys come from */
	int32_t charge;   /* enum charge */
	int32_t refund;   /* boolean: a retry that succeeds gets its tokens back, and earns none */
	int32_t ratio_of; /* enum ratio_of */
	int32_t reserve;  /* enum reserve */
	int32_t nonblocking; /* enum nonblocking */
	int32_t udp;         /* boolean: a datagram is a request */
	int32_t udp_deny;    /* enum udp_deny */
	int32_t reply_errno; /* of a read that reply_timeout ends */
	int32_t http;        /* boolean: replies are read for an HTTP/1 status */
	int32_t http_deny;   /* enum http_deny */
	int32_t tls;         /* boolean: http inside TLS too */
	int32_t deny_errno;  /* 0 = the destination's last real error */
};

static inline bool policy_has_breaker(const struct policy *policy)
{
	return policy->breaker.on;
}

static inline bool policy_has_breaker_rate(const struct policy *policy)
{
	return policy->breaker.on && policy->breaker.rate > 0;
}

#define STATUS_BITS 10
#define STATUS_MOST 6 /* codes in one policy */

/* True if a reply with this status is a failure. */
static inline int policy_fails_status(const struct policy *policy, unsigned int status)
{
	for (uint64_t codes = (uint64_t)policy->http_status; codes; codes >>= STATUS_BITS)
		if ((codes & ((1U << STATUS_BITS) - 1)) == status)
			return 1;
	return 0;
}

#endif
