/* SPDX-License-Identifier: MIT */
/*
 * What an attempt is: new work, a repeat of what failed, or unclear. One ordered list of named
 * rules, pure functions over what is known; the first that holds decides, and its name goes into
 * the records (why=). The library does not know requests, so it says no more than it knows.
 */
#ifndef RETRYBUDGET_DEST_RULES_H
#define RETRYBUDGET_DEST_RULES_H

#include "sys/cell.h"

#include <stdbool.h>
#include <stddef.h>

enum kind {
	KIND_NEW,     /* goes, unless the policy has a breaker that is open, or reconnect_spread */
	KIND_REPEAT,  /* pays, and waits for the gate */
	KIND_UNCLEAR, /* goes within the destination's allowance, beyond it is a repeat */
};

/* What is known of an attempt when it is judged. */
struct evidence {
	bool quiet;      /* no failure within the horizon, or answered since; no way back is on */
	bool same;       /* the request at hand is one that failed */
	bool other;      /* the request at hand is another than the one that failed */
	bool demand;     /* somebody put a request to this thread, and none was answered since */
	bool sweep;      /* another address, or destination, not tried since a failure elsewhere */
	bool other_work; /* here failures were mostly followed by other requests */
	bool denied;     /* again or loop, whose last two tries here were refused by us */
	bool mixed;      /* again or loop, of a thread with other work there, which is answered */
	bool asked;      /* this thread serves several, and makes no more there than they ask for */
	bool invited;    /* it has waited for as long as the server asked for */
	bool kept;       /* on a kept connection, to a destination that mostly answers */
	bool again;      /* here failures were mostly followed by the same requests */
	bool stranger;   /* in a share: the first try of this program since others failed here */
	bool lineage; /* in a share: the first of a process, another of its lineage failed here */
	bool same_command;  /* the same, and the destination answers */
	bool other_command; /* it answers, and other commands of this program have failed here */
	bool loop; /* this thread's last try here failed, and it did nothing else; or the request
	            * after a failed reply */
};

struct rule {
	const char *name;
	enum kind says;
	bool (*applies)(const struct evidence *evidence);
	const char *reason; /* in a line, for people */
};

/* In the order in which they are asked. */
extern HIDDEN const struct rule rules[];
extern const size_t rule_count;

/* The first of them: where it applies no other need be asked. */
#define RULE_QUIET (&rules[0])

/* The rule that decides. Never NULL: the last one always applies. Pure. */
const struct rule *rule_for(const struct evidence *evidence);

#endif
