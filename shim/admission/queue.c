/* SPDX-License-Identifier: MIT */
/*
 * Three kinds of program.
 *
 * A non-blocking socket: accept again until EAGAIN, as epoll's edge mode needs it; but not for
 * ever, or a flood would hold the program there. Then ECONNABORTED, which accept(2) documents and
 * after which servers try again.
 *
 * A blocking socket, and a program that waits in accept: it goes on waiting.
 *
 * A blocking socket, and a program that comes to accept only when select or poll says that somebody
 * is there (Python's socketserver, many an old daemon): were it to wait in accept for the next one,
 * all of its other connections would stand still (UNIX Network Programming, volume 1,
 * section 16.6). It gets ECONNABORTED once the queue is empty. Which of the two a program is shows
 * when it calls accept and nobody is there; until then it is taken for the second.
 */
#include "admission/queue.h"

#include "budget/policy.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/socket_timeout.h"
#include "sys/transient.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#define PLACES 256

/* What tells the listening sockets on which this process was seen to wait from others, by
 * descriptor. */
static ucell64 waited_on[PLACES];

static ucell64 *place_of(int listener)
{
	return &waited_on[(unsigned int)listener % PLACES];
}

static uint64_t identity_of(int listener)
{
	struct transient at;

	transient_take(&at, listener);
	return at.identity;
}

static bool is_nonblocking(int listener)
{
	int flags = real.fcntl(listener, F_GETFL, 0);

	return flags == -1 || flags & O_NONBLOCK;
}

/* Whether somebody is in the queue: 1, 0; -1 with errno if a signal came. ms: how long to wait for
 * one. */
static int look(int listener, int ms)
{
	struct pollfd at = { .fd = listener, .events = POLLIN };

	return poll(&at, 1, ms);
}

void queue_enter(struct queue *queue, int listener)
{
	int saved = errno;

	queue->listener = listener;
	queue->rejected = 0;
	queue->began = monotonic();
	if (LOAD(*place_of(listener)) == 0 && !is_nonblocking(listener) && look(listener, 0) == 0)
		STORE(*place_of(listener), identity_of(listener));
	errno = saved;
}

/* The number may be another socket's since. */
static bool host_waits(int listener)
{
	uint64_t known = LOAD(*place_of(listener));

	if (known == 0)
		return false;
	if (known == identity_of(listener))
		return true;
	STORE(*place_of(listener), 0);
	return false;
}

/* The timeout begins anew with each real accept, and counts from the first one for the program. */
static bool time_is_left(const struct queue *queue)
{
	int64_t left = socket_timeout(queue->listener, SO_RCVTIMEO);

	if (left >= INT64_MAX - 1)
		return true;
	left -= monotonic() - queue->began;
	if (left > INT32_MAX * NS_PER_MS)
		return true;
	switch (left > 0 ? look(queue->listener, (int)((left + NS_PER_MS - 1) / NS_PER_MS)) : 0) {
	case 1:
		return true;
	case 0:
		errno = EAGAIN;
		return false;
	default:
		return false; /* EINTR: with a timeout set no accept is restarted (signal(7)) */
	}
}

bool queue_rejecting(struct queue *queue)
{
	int saved = errno;

	if (queue->rejected++ == 0) {
		queue->nonblocking = is_nonblocking(queue->listener);
		queue->waits = !queue->nonblocking && host_waits(queue->listener);
	}
	errno = saved;
	return queue->waits;
}

bool queue_again(struct queue *queue, bool interrupted)
{
	if (queue->waits) {
		if (!interrupted)
			return time_is_left(queue);
		errno = EINTR;
		return false;
	}
	if (queue->rejected < QUEUE_MOST && (queue->nonblocking || look(queue->listener, 0) == 1))
		return true;
	errno = ECONNABORTED;
	return false;
}
