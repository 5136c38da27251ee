/* SPDX-License-Identifier: MIT */
/*
 * The socket table: what is known of a descriptor number. Only a hint, because many closes are
 * never seen (HAZARDS 24): before anything is concluded from an entry its SO_COOKIE is held against
 * the socket that has the number now. Budgets belong to destinations, never to descriptors.
 *
 * One byte per number says which calls have to look further; all other traffic costs a load and a
 * branch. Lock-free, async-signal-safe; numbers beyond the table are not tracked, nor are those for
 * which there is no memory (sys/blocks.h).
 */
#ifndef RETRYBUDGET_CONN_SOCKETS_H
#define RETRYBUDGET_CONN_SOCKETS_H

#include "conn/states.h"
#include "sys/blocks.h"
#include "sys/cell.h"

#include <stdbool.h>

enum {
	WATCH_READ = 0x01,  /* the next read tells something */
	WATCH_WRITE = 0x02, /* the next write tells something */
	WATCH_END = 0x04,   /* there is an entry: close, dup and so on have to look */
	WATCH_STALE = 0x08, /* closed as far as we saw: ask the cookie before believing */
	/* Came from accept: a read after a write is new work. With OTHER: UDP, of which nothing is
	 * known (READ and WRITE) or which is asked by datagrams (conn/asked_by.h). */
	WATCH_SERVER = 0x10,
	WATCH_STREAM = 0x20, /* made by socket() as a stream, so connect need not ask */
	/* The same bit beside an entry, which only streams have: the program has looked for the
	 * reply before, and looks without waiting. That there is none yet tells nothing. */
	WATCH_EMPTY = WATCH_STREAM,
	WATCH_OTHER = 0x40, /* made by socket() as something else */
	/* The same bit beside an entry, which only streams have: a read may wait for a reply no
	 * longer than the policy says (pace/reply_timeout.h). Only together with READ. */
	WATCH_TIMED = WATCH_OTHER,
	/* Made by socket() for UDP, while the configuration asked for datagrams somewhere: with
	 * READ and WRITE, and without an entry. */
	WATCH_DATAGRAM = 0x80,
};

enum {
	TRAIT_RETRY = 0x01,      /* the attempt was a retry */
	TRAIT_SERVED = 0x02,     /* bytes came at least once: a kept connection from then on */
	TRAIT_WAITED = 0x04,     /* the program has tried to read since it connected */
	TRAIT_SHARED = 0x08,     /* another number refers to the same socket */
	TRAIT_PARKED = 0x10,     /* options of ours are on the socket */
	TRAIT_NOWAIT = 0x20,     /* seen to be non-blocking */
	TRAIT_FINISHED = 0x40,   /* the program has ended its half */
	TRAIT_ONE_WAY = 0x80,    /* a one-way connection that has counted as a success */
	TRAIT_TIMED_OUT = 0x100, /* counted as a timeout; the answer may still come */
	TRAIT_PAID = 0x200,      /* a retry that has been paid for */
	TRAIT_DEMANDED = 0x400,  /* somebody had asked the program for something */
	TRAIT_COUNTED = 0x800,   /* its number is known to count from the first try */
	TRAIT_PASSED = 0x1000,   /* the failure that it answers has been passed over before */
	TRAIT_CLAIMED_COUNTED = 0x2000, /* and its number was known to, too */
	TRAIT_PUTS_OFF = 0x4000,        /* we took TCP_FASTOPEN_CONNECT off the socket */
	TRAIT_CLAIMED_HELD = 0x8000,    /* the failure that it answers was made by us */
	TRAIT_HTTP = 0x10000,           /* replies are read for their HTTP/1 status */
	/* The last reply was a failure: the next request may retry. Before any has come: the
	 * connection's first request is judged in the place of its connect (conn/deferred.h). */
	TRAIT_REPLY_FAILED = 0x20000,
	TRAIT_AGAIN = 0x40000,         /* the request that goes out next has been judged */
	TRAIT_REPLY_TIMEOUT = 0x80000, /* its policy has a reply_timeout */
	TRAIT_BOUNDED =
	    0x100000, /* an option of ours bounds its connect (conn/connect_timeout.h) */
	TRAIT_BOUNDED_UNIX = 0x200000,   /* the one of the unix family */
	TRAIT_CARRIER = 0x400000,        /* of a TLS session (conn/tls_session.h) */
	TRAIT_HANDSHAKE_DONE = 0x800000, /* its handshake is over */
	TRAIT_FLYING = 0x1000000,        /* counted among the attempts in flight (conn/flight.h) */
	TRAIT_PERMIT = 0x2000000,        /* holds a permit of a half-open breaker */
	TRAIT_PROBE = 0x4000000,         /* had one: its outcomes decide */
	TRAIT_KEPT = 0x8000000,          /* its policy has a reconnect_spread: its end tells */
	TRAIT_OPENED = 0x10000000,  /* the program reads in the session by calls that are seen */
	TRAIT_FRAMES = 0x20000000,  /* HTTP/2: not all that is sent wants an answer */
	TRAIT_PARTIAL = 0x40000000, /* more of the request is to be written (conn/pieces.h) */
	TRAIT_AGREES = 0x80000000,  /* its peer has not answered but agreed how to go on */

	/* Beside these nothing need be looked at in an exchange of a kept connection. */
	TRAITS_COMMON = TRAIT_RETRY | TRAIT_SERVED | TRAIT_PAID | TRAIT_DEMANDED | TRAIT_COUNTED |
	                TRAIT_PASSED | TRAIT_CLAIMED_COUNTED | TRAIT_CLAIMED_HELD | TRAIT_WAITED |
	                TRAIT_NOWAIT | TRAIT_PROBE | TRAIT_HTTP | TRAIT_FRAMES,
};

/* Whether the program began as a client of SOCKS 5 does (not_now.h): a first write that is short
 * enough is looked at once the kernel has taken it. */
enum offer { OFFER_NONE, OFFER_PERHAPS, OFFER_MADE };

struct socket_entry {
	ucell64 cookie; /* SO_COOKIE, 0 = not taken yet, COOKIE_NONE = the kernel has none */
	cell64 since;   /* ns, when the attempt began, not counting a wait of ours */
	cell64 began;   /* ns, when the program made it */
	_Atomic(uint32_t) slot; /* index of the destination in the region */
	_Atomic(uint32_t) generation;
	_Atomic(int32_t) owner;   /* thread that connected */
	_Atomic(uint16_t) place;  /* of the address among those of its name */
	_Atomic(uint8_t) offer;   /* enum offer */
	_Atomic(int32_t) process; /* that connected: a child inherits this table and the socket */
	_Atomic(uint32_t)
	    seen_changes; /* region->changes when a success last changed nothing; 0: never */
	_Atomic(uint32_t)
	    fingerprint; /* of the request in flight (dest/fingerprint.h), 0 = not known */
	_Atomic(uint32_t) timeout_ms; /* our bound, while TRAIT_PARKED or TRAIT_BOUNDED */
	/* The failure that this attempt was taken to answer, as in struct unanswered; a number of
	 * 0: it answers none. The fingerprint is then that of its own request, if it is the first
	 * of all to its destination (feedback_put_off()). */
	cell64 claimed_at;
	_Atomic(int32_t) claimed_owner;
	_Atomic(uint32_t) claimed_fingerprint;
	_Atomic(uint16_t) claimed_place;
	_Atomic(uint8_t) claimed_number;
	_Atomic(uint8_t) number; /* tries of the request in flight, this one included */
	_Atomic(uint8_t) state;
	/* The real connect has not come back. What is called on the number meanwhile is a proxy's,
	 * preloaded behind us, that talks there before it lets the program do so. */
	_Atomic(bool) calling;
	_Atomic(bool) claimed_refused;
	_Atomic(uint8_t) purse; /* that has paid, while TRAIT_PAID: attempt_purse() */
	_Atomic(uint32_t) traits;
	/* As seen_changes (socket_common()), of a kept connection that has no trait but
	 * TRAITS_COMMON, and whose number is not stale: its exchanges are common
	 * (socket_exchange()). 0: to be looked at. */
	_Atomic(uint32_t) common;
};

#define COOKIE_NONE UINT64_MAX

extern HIDDEN _Atomic(uint8_t) socket_watch[SOCKETS];
extern HIDDEN block_base socket_blocks[BLOCKS];

/* The kernel's identity of a socket: the same through dup and fork, new when the number is given
 * out again. COOKIE_NONE: the kernel has none; 0: this is no socket, or nothing may be asked of it.
 * One system call. errno is left alone. */
uint64_t socket_cookie(int fd);

/* What is watched on a number, 0 for those beyond the table. The one load of the data path. */
static inline unsigned int socket_watched(int fd)
{
	if ((unsigned int)fd >= SOCKETS)
		return 0;
	return LOAD(socket_watch[fd]);
}

/* UDP of which nobody knows yet whether it is asked by datagrams, or which is (conn/asked_by.h). */
static inline bool socket_may_be_asked(unsigned int watched)
{
	return (watched & (WATCH_OTHER | WATCH_SERVER)) == (WATCH_OTHER | WATCH_SERVER);
}

/* The entry of a number that has room for one. */
static inline struct socket_entry *socket_at(int fd)
{
	return (struct socket_entry *)(block_of(socket_blocks, fd) +
	                               (unsigned int)fd * sizeof(struct socket_entry));
}

/* Whether the number has room for an entry: all do of which anything is watched but how they were
 * made (STREAM, OTHER). */
static inline bool socket_has_room(int fd)
{
	return (unsigned int)fd < SOCKETS && block_of(socket_blocks, fd);
}

/* Makes room. False: it cannot be tracked. */
static inline bool socket_make_room(int fd)
{
	return socket_has_room(fd) || block_map(socket_blocks, sizeof(struct socket_entry), fd);
}

/* One more than the highest number of which anything was ever known. */
unsigned int socket_limit(void);

/* The entry of a number, or NULL if there is none. */
static inline struct socket_entry *socket_find(int fd)
{
	return socket_watched(fd) & WATCH_END ? socket_at(fd) : 0;
}

/* Makes the entry of a socket that the program connects, for the caller to fill, and shows it to
 * the rest. NULL: not tracked. */
struct socket_entry *socket_begin(int fd);
void socket_show(int fd, struct socket_entry *entry, enum socket_state state);

/* Writes an entry for a socket that the program connects. Its cookie is taken with the first
 * traffic. NULL: not tracked. */
struct socket_entry *socket_enter(int fd, const struct socket_entry *entry);

/* What has happened to a connection in `from`: moves it as the state table says (states.def). One
 * caller wins, so each outcome counts once. Other numbers of the same socket move with it. False:
 * it is not in `from` any more, or nothing follows from the event there. */
bool socket_move(int fd, struct socket_entry *entry, enum socket_state from,
                 enum socket_event event);

/* The entry comes to be in a state that another one of the same socket has moved to. */
void socket_put(int fd, struct socket_entry *entry, enum socket_state state);

/* Adds traits to an entry, and returns what it had. */
static inline uint32_t socket_mark(struct socket_entry *entry, uint32_t traits)
{
	uint32_t before = atomic_fetch_or(&entry->traits, traits);

	if (traits & ~(uint32_t)TRAITS_COMMON)
		STORE_RELEASE(entry->common, 0); /* after it is there: socket_show_common() */
	return before;
}

/* What stands in `common` for these changes: never 0, whatever another process has written there.
 */
static inline uint32_t socket_common(uint32_t changes)
{
	return changes << 1 | 1;
}

/* The exchanges of fd are common, if it is a kept connection of which nothing else is known, for as
 * long as region->changes is this. */
void socket_show_common(int fd, struct socket_entry *entry, uint32_t changes);

/* The common exchange on a kept connection, with as few instructions as can be. changes: what
 * region->changes is. True: the entry was in `from`, has been moved to the only state that can
 * follow, and there is nothing more to do. */
static inline bool socket_exchange(int fd, struct socket_entry *entry, uint32_t changes,
                                   enum socket_state from)
{
	if (LOAD(entry->common) != socket_common(changes) || LOAD(entry->state) != from)
		return false;
	STORE(entry->state, (uint8_t)(SOCKET_ASKED + SOCKET_ANSWERED - from));
	if (from == SOCKET_ANSWERED) /* nobody looks at it */
		STORE(entry->fingerprint, 0);
	STORE(socket_watch[fd], (uint8_t)(LOAD(socket_watch[fd]) ^ (WATCH_READ | WATCH_WRITE)));
	return true;
}

/* The program has looked for bytes, and there were none: if it does not wait for them it need not
 * be asked again (WATCH_EMPTY). */
void socket_looked(int fd, const struct socket_entry *entry);

/* Takes the cookie if that has not been done. False: this is no socket, the entry is dropped. */
bool socket_identify(int fd, struct socket_entry *entry);

/* True if the number still is the socket the entry was written for; otherwise the entry is dropped.
 * One system call. errno is left alone. */
bool socket_believe(int fd, struct socket_entry *entry);

/* Drops what is known of a number. */
void socket_forget(int fd);

/* The program closed the number that has this entry, as far as this process can see: the close may
 * have failed, or have been a vfork child's (HAZARDS 20), so an entry with a cookie stays, to be
 * believed if that says so. */
void socket_closed(int fd, struct socket_entry *entry);

/* A number was given out anew by socket() or accept(). watch: WATCH_STREAM, _OTHER or _SERVER; with
 * _OTHER perhaps _DATAGRAM or _SERVER. */
void socket_created(int fd, unsigned int watch);

/* fd was duplicated to `to`. */
void socket_duplicated(int fd, int to);

#endif
