/* SPDX-License-Identifier: MIT */
/*
 * Asking running processes for something: one word is written into their region, where each that
 * shares it finds it at its next call that might be throttled, and answers. No signal, and nothing
 * of a process is stopped or mapped. (A signal would end its calls and could not be told from its
 * own.)
 */
#ifndef RETRYBUDGET_TOOL_ASK_H
#define RETRYBUDGET_TOOL_ASK_H

#include "region/steering.h"
#include "tool/family.h"

enum asked_state {
	ASKED_WRITTEN,     /* and not answered yet */
	ASKED_ANSWERED,    /* by some at least */
	ASKED_OVERWRITTEN, /* somebody else has asked for something else */
	ASKED_ENDED,       /* there is none of the processes any more */
	ASKED_FOREIGN,     /* it is other users' too */
	ASKED_UNREADABLE,  /* why: snapshot_sentence() */
};

/* Processes that share a region, and what became of the request to them. */
struct asked {
	enum asked_state state;
	struct process *members;
	size_t count;     /* of those that live */
	size_t answering; /* the one by which the region is reached */
	int mapping;
	bool is_open;
	struct region_file file;
	int64_t word;
	enum steering_answer answer;
	uint32_t takers; /* processes that have taken it */
	int64_t mode;    /* that is in force */
	char program[4 * REGION_PROGRAM + 1];
	char config[4 * REGION_PATH + 1];
	char version[4 * REGION_VERSION + 1];
	char sentence[160];
};

struct asking {
	struct steering_request request; /* its number is of no account */
	bool keep_mode;                  /* of a request that stands already */
	const char *program;             /* or NULL */
	pid_t pid;                       /* or 0 */
	struct asked *list;
	size_t count;
	size_t unreadable; /* processes that could not be looked into */
};

/* Writes the request to all who are meant. False with errno if /proc cannot be read, or there is no
 * memory. */
bool ask(struct asking *asking);

/* Looks at what they answer, until all have or the time is over. */
void ask_await(struct asking *asking, double seconds);

/* True if every process has taken it. */
bool asked_all(const struct asked *asked);

void ask_free(struct asking *asking);

#endif
