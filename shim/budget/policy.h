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

#include <stdint.h>

#define MT_PER_TOKEN INT64_C(1000)
#define PPM_WHOLE    INT64_C(1000000)
#define NS_PER_S     INT64_C(1000000000)
#define NS_PER_MS    INT64_C(1000000)

enum mode {
	MODE_OFF,     /* neither judged nor counted */
	MODE_OBSERVE, /* judged, counted and logged, never held back */
	MODE_ENFORCE,
};

enum strategy {
	STRATEGY_BUCKET,
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

/* What becomes of a datagram that repeats an unanswered one too early. */
enum udp_deny {
	UDP_PASS, /* it goes, and is counted */
	UDP_DROP,
};

/* How an attempt failed (DESIGN section 4); also the value of `class=` in a record. */
enum failure {
	FAILURE_NONE,
	FAILURE_REFUSED,
	FAILURE_UNREACHABLE,
	FAILURE_TIMEOUT,
	FAILURE_RESET,
	FAILURE_DROPPED,
	FAILURE_LOCAL,
	FAILURE_LOOKUP,
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

struct policy {
	struct bucket_rule bucket;
	struct backoff_rule backoff;
	int64_t cost;         /* mt per retry */
	int64_t cost_timeout; /* mt per retry that answers a timeout */
	int64_t probe;        /* ns after which an attempt goes whatever the tokens say, > 0 */
	int64_t max_wait;     /* ns, bound of one wait inside a blocking call */
	int64_t horizon;      /* ns, age at which an unanswered failure is forgotten */
	int64_t min_life;     /* ns, age from which a one-way connection counts as a success */
	int32_t mode;         /* enum mode */
	int32_t strategy;     /* enum strategy */
	int32_t nonblocking;  /* enum nonblocking */
	int32_t udp;          /* boolean: a datagram is a request */
	int32_t udp_deny;     /* enum udp_deny */
	int32_t deny_errno;   /* 0 = the destination's last real error */
};

#endif
