/* SPDX-License-Identifier: MIT */
/*
 * Outcomes: how an attempt ended, and what that does to its destination. Every way of learning an
 * outcome ends here, once per attempt. Async-signal-safe; errno is left alone.
 */
#ifndef RETRYBUDGET_TRACK_OUTCOME_H
#define RETRYBUDGET_TRACK_OUTCOME_H

#include "track/destinations.h"
#include "track/sockets.h"

/* Who tried, and how; what is known of an attempt when its outcome comes. */
struct trial {
	struct destination *destination;
	uint32_t generation; /* of the slot: an attempt may outlast its name there */
	int32_t owner;       /* thread that tried */
	uint32_t place;      /* of the address among those of its name, 0 = none */
	uint32_t print;      /* of the request that it is for, 0 = not known (track/request.h) */
	uint32_t run;        /* tries of that request, this one included */
	bool counted;        /* the first try of it is known to be among them */
	bool retry;
};

/* The class of a connect or data error; FAILURE_NONE: neutral (the caller's own mistake, EINTR).
 * is_unix: EAGAIN is a full backlog there, and the want of a free port elsewhere. */
enum failure failure_of(int err, bool is_unix);

/* Counts a failure, if the trial stands. err: the errno of a failed connect, eai: the code of a
 * failed lookup, else 0.
 */
void outcome_failure(const struct trial *trial, enum failure failure, int err, int eai);

/* Counts a live success at an address (place: as in a trial). */
void outcome_success(struct destination *destination, uint32_t place);

/* What became of a tracked socket whose outcome is open, as the kernel knows it (TCP_INFO):
 * counts it and moves the entry on. Called when the host is about to give the number up. */
void outcome_ask(int fd, struct socket_entry *entry);

/* True if the host has waited long enough for an answer to call it a timeout (a second since it
 * last sent, or since it connected). One system call. */
bool outcome_waited(int fd, const struct socket_entry *entry);

/* True if the peer's kernel has acknowledged all that was sent (also where nobody can tell): then
 * the peer had the request when it closed, otherwise it had closed before. One system call. */
bool outcome_taken(int fd);

/* True if the peer has answered the connect (also where nobody can tell). Not so at first where a
 * connect reports success before it has sent anything, and its outcome comes from a later call
 * (TCP_FASTOPEN_CONNECT), or where a request left with it (MSG_FASTOPEN). One system call. */
bool outcome_met(int fd);

/* True if the connection is up and the peer has acknowledged data on it. One system call. */
bool outcome_alive(int fd);

/* False: the destination has been evicted since, and its slot is another name's. */
bool trial_stands(const struct trial *trial);

/* Rebuilds the trial of an entry. False: its destination has been evicted. */
bool trial_of(const struct socket_entry *entry, struct trial *trial);

#endif
