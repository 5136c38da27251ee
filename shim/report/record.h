/* SPDX-License-Identifier: MIT */
/*
 * Records: one logfmt line each (retrybudget(5), RECORDS), sent as one datagram on a
 * transient socket, or to stderr where asked. Async-signal-safe, no allocation, no stdio; nothing
 * of a name or path can forge a field or a line.
 */
#ifndef RETRYBUDGET_REPORT_RECORD_H
#define RETRYBUDGET_REPORT_RECORD_H

#include "config/log_settings.h"
#include "region/region.h"

#include <stddef.h>
#include <sys/socket.h>

#define RECORD_MAX 960 /* bytes of one line with its NUL; a stack frame holds it (report.c) */

enum event {
	EVENT_LOADED,
	EVENT_CONFIG_ERROR,
	EVENT_RELOADED,
	EVENT_ATTEMPT,   /* [log] attempts = on; never rate-limited */
	EVENT_RETRYING,  /* first retry of a streak */
	EVENT_THROTTLED, /* sums, while anything is throttled; would-throttle in observe mode */
	EVENT_EXHAUSTED, /* the tokens ran out */
	EVENT_REFILLED,  /* tokens that ran out are all there again */
	EVENT_RECOVERED, /* first success after a streak that was reported */
	EVENT_REJECTED,  /* by an [admission] section; printed as would-reject in observe mode
	                  */
	EVENT_SCOPE,     /* the shared region could not be had; a private one is used */
	EVENT_BREAKER_OPEN,
	EVENT_BREAKER_HALF_OPEN,
	EVENT_BREAKER_CLOSED,
	EVENT_SPREAD, /* many connections were lost at once (would-spread in observe mode), or
	               * many processes have begun */
	EVENT_MODE,   /* an operator has asked for another mode, which is the text */
};

/* What one record says; zero or NULL fields are left out of the line. */
struct record {
	enum event event;
	struct destination *destination; /* also where the rate limit is kept */
	struct admission *admission;     /* likewise, of an EVENT_REJECTED */
	const struct sockaddr *listen;   /* where the program listens */
	socklen_t listen_len;
	const char *policy;             /* label of the policy */
	const struct sockaddr *address; /* the address tried, if any */
	socklen_t address_len;
	enum failure failure;      /* class= of the failure that is being answered */
	bool retry;                /* kind= of an EVENT_ATTEMPT */
	const char *why;           /* the rule that said what the attempt is (dest/rules.h) */
	int32_t thread;            /* thread=, the kernel's id of the thread that tries */
	bool observe;              /* it goes all the same */
	bool in_observe;           /* because of the mode: which sums of the destination it takes */
	int64_t streak;            /* retry= */
	int64_t tokens, capacity;  /* mt */
	enum budget_source source; /* by=, of those */
	int64_t process_tokens, process_capacity;
	int64_t queue;    /* queue=, of an EVENT_REJECTED: who waited behind */
	int64_t wait;     /* ns, wait_ms= */
	int64_t since;    /* ns, since_ms=: age of the streak */
	int64_t due;      /* ns, due_ms=: until a repeat may go */
	int exhausted;    /* which tokens (budget_is_exhausted()) */
	int err;          /* errno told to the program, printed by name; 0 = none */
	int eai;          /* EAI_ code told to the program, printed by name; 0 = none */
	const char *file; /* of a configuration message */
	int line;
	const char *text; /* msg=, quoted and escaped */
};

/* The class= of a failure, as records write it. NULL: FAILURE_NONE. */
const char *failure_name(enum failure failure);

/* What the rate limit hands to the record that passes (report/limit.h): zero is left out. */
struct told {
	int64_t attempts, throttled, refused, parked, held;
	int64_t waited; /* ns */
	int64_t suppressed;
	bool owed; /* it ends what was written since the last that ended something */
};

/* The event= of a record. */
const char *record_event(const struct record *record);

/* Appends the line of a record (without syslog header or newline) to out, never more than size
 * bytes including a NUL; returns its length. Pure: the unit tests read it. told and site are passed
 * in because they are found while reporting. */
size_t record_format(char *out, size_t size, const struct record *record, const char *prog,
                     const struct told *told, const char *site);

#endif
