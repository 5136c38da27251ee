/* SPDX-License-Identifier: MIT */
/*
 * What accept goes on with after it has rejected a connection: the program must find what it would
 * have found had that connection never come.
 */
#ifndef RETRYBUDGET_ADMISSION_QUEUE_H
#define RETRYBUDGET_ADMISSION_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/* One call of accept by the program. */
struct queue {
	int listener;
	int rejected;
	bool nonblocking, waits; /* known from queue_rejecting() on */
	int64_t began;           /* ns */
};

/* Before the first real accept: notes whether the program is about to wait in it. errno is left
 * alone. */
void queue_enter(struct queue *queue, int listener);

/* Before a connection is rejected. True: the program would wait in accept for the next one. errno
 * is left alone. */
bool queue_rejecting(struct queue *queue);

/*
 * After a connection was rejected; interrupted: a signal came meanwhile (reject.h). True:
 * call the real accept again. False: return -1, errno is set:
 *
 *   EINTR		as a signal handler without SA_RESTART ends a blocking accept
 *   EAGAIN		SO_RCVTIMEO of the listening socket ran out
 *   ECONNABORTED	QUEUE_MOST were rejected in this call; or nobody is left in the queue
 *			of a blocking socket, and the program has not been seen to wait in accept
 *
 * May wait as the accept would, and is a cancellation point then, with nothing held.
 */
bool queue_again(struct queue *queue, bool interrupted);

#define QUEUE_MOST 64 /* in one call, where the program does not wait in accept: 2 ms or so */

#endif
