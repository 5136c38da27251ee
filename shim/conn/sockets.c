/* SPDX-License-Identifier: MIT */
/* The socket table: entries, their validation, and what becomes of them as numbers are reused. */
#include "conn/sockets.h"

#include "conn/flight.h"
#include "conn/twins.h"
#include "report/record.h"
#include "report/report.h"
#include "sys/cell.h"
#include "sys/fault.h"
#include "sys/real.h"

#include <errno.h>

_Atomic(uint8_t) socket_watch[SOCKETS];
/* Nearly all programs get by without another block. */
static struct socket_entry first_block[BLOCK_NUMBERS];
block_base socket_blocks[BLOCKS] = { (uintptr_t)first_block };

/* One more than the highest number of which anything was ever known: bounds every search. */
static _Atomic(int) highest;

static const uint8_t watched_in[] = {
	[SOCKET_NONE] = WATCH_END,
	[SOCKET_CONNECTING] = WATCH_READ | WATCH_WRITE | WATCH_END,
	[SOCKET_THROTTLED] = WATCH_READ | WATCH_WRITE | WATCH_END,
	[SOCKET_FAILED] = WATCH_END,
	[SOCKET_OPEN] = WATCH_READ | WATCH_WRITE | WATCH_END,
	[SOCKET_ASKED] = WATCH_READ | WATCH_WRITE | WATCH_END,
	[SOCKET_ANSWERED] = WATCH_WRITE | WATCH_END,
	[SOCKET_HEAD] = WATCH_READ | WATCH_WRITE | WATCH_END,
	[SOCKET_DONE] = WATCH_END,
	[SOCKET_CUT] = WATCH_WRITE | WATCH_END,
};

uint64_t socket_cookie(int fd)
{
	uint64_t cookie = COOKIE_NONE;
	socklen_t len = sizeof(cookie);
	int saved = errno;

	if (real.getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) != 0) {
		/* A kernel, or a user-space stack, without it says ENOPROTOOPT. */
		cookie = errno == ENOPROTOOPT ? COOKIE_NONE : 0;
		if (cookie == 0 && errno != EBADF && errno != ENOTSOCK)
			fault_count();
	}
	errno = saved;
	return cookie;
}

static void drop(int fd, struct socket_entry *entry)
{
	flight_end(entry);
	STORE(entry->state, SOCKET_NONE);
	STORE(socket_watch[fd], 0);
}

/* Its outcome is known, or nobody waits for it any more. */
static inline void land(struct socket_entry *entry, enum socket_state state)
{
	if (LOAD(entry->traits) & (TRAIT_FLYING | TRAIT_PERMIT) && state != SOCKET_CONNECTING &&
	    state != SOCKET_OPEN && state != SOCKET_ASKED)
		flight_end(entry);
}

/* known: of what was watched, what still holds. */
static inline void watch(int fd, const struct socket_entry *entry, enum socket_state state,
                         unsigned int known)
{
	unsigned int bits = watched_in[state] | known, traits = LOAD(entry->traits);

	/* A kept connection tells nothing more by writing until its reply came. One that never
	 * answered does: by EPIPE, or by living long enough. */
	if (state == SOCKET_ASKED && traits & (TRAIT_SERVED | TRAIT_ONE_WAY) &&
	    !(traits & TRAIT_PARTIAL))
		bits &= ~(unsigned int)WATCH_WRITE;
	if (traits & TRAIT_REPLY_TIMEOUT && bits & WATCH_READ)
		bits |= WATCH_TIMED;
	if (traits & (TRAIT_KEPT | TRAIT_AGREES) && state == SOCKET_ANSWERED)
		bits |= WATCH_READ;
	STORE(socket_watch[fd], (uint8_t)bits);
}

static inline void reach(int fd)
{
	int high = LOAD(highest);

	while (fd >= high && !atomic_compare_exchange_weak(&highest, &high, fd + 1))
		;
}

unsigned int socket_limit(void)
{
	return (unsigned int)LOAD(highest);
}

struct socket_entry *socket_begin(int fd)
{
	struct socket_entry *entry;

	if (!socket_make_room(fd))
		return NULL;
	entry = socket_at(fd);
	land(entry, SOCKET_NONE); /* of a socket whose close was not seen */
	/* Who looks at the number meanwhile, on another thread, must not take one half for the
	 * other: until all of it is there nothing is. */
	STORE(entry->state, SOCKET_NONE);
	STORE_RELEASE(entry->cookie, 0);
	STORE(entry->seen_changes, 0);
	STORE(entry->common, 0);
	return entry;
}

void socket_show(int fd, struct socket_entry *entry, enum socket_state state)
{
	STORE_RELEASE(entry->state, (uint8_t)state);
	reach(fd);
	watch(fd, entry, state, 0);
}

struct socket_entry *socket_enter(int fd, const struct socket_entry *from)
{
	struct socket_entry *entry = socket_begin(fd);

	if (!entry)
		return NULL;
	STORE(entry->cookie, LOAD(from->cookie));
	STORE(entry->since, LOAD(from->since));
	STORE(entry->began, LOAD(from->began));
	STORE(entry->slot, LOAD(from->slot));
	STORE(entry->generation, LOAD(from->generation));
	STORE(entry->owner, LOAD(from->owner));
	STORE(entry->place, LOAD(from->place));
	STORE(entry->process, LOAD(from->process));
	STORE(entry->fingerprint, LOAD(from->fingerprint));
	STORE(entry->claimed_at, LOAD(from->claimed_at));
	STORE(entry->claimed_owner, LOAD(from->claimed_owner));
	STORE(entry->claimed_fingerprint, LOAD(from->claimed_fingerprint));
	STORE(entry->claimed_place, LOAD(from->claimed_place));
	STORE(entry->claimed_number, LOAD(from->claimed_number));
	STORE(entry->claimed_refused, LOAD(from->claimed_refused));
	STORE(entry->number, LOAD(from->number));
	STORE(entry->purse, LOAD(from->purse));
	STORE(entry->timeout_ms, LOAD(from->timeout_ms));
	STORE(entry->calling, LOAD(from->calling));
	STORE(entry->traits, LOAD(from->traits));
	socket_show(fd, entry, LOAD(from->state));
	return entry;
}

void socket_put(int fd, struct socket_entry *entry, enum socket_state state)
{
	STORE(entry->state, (uint8_t)state);
	land(entry, state);
	watch(fd, entry, state, LOAD(socket_watch[fd]) & WATCH_EMPTY);
}

bool socket_move(int fd, struct socket_entry *entry, enum socket_state from,
                 enum socket_event event)
{
	const struct move *move = &moves[from < SOCKET_COUNT ? from : SOCKET_NONE][event];
	enum socket_state to = (enum socket_state)move->next;
	uint8_t expected = (uint8_t)from;

	if (move->outcome == MOVE_IMPOSSIBLE ||
	    !atomic_compare_exchange_strong(&entry->state, &expected, (uint8_t)to))
		return false;
	land(entry, to);
	watch(fd, entry, to, LOAD(socket_watch[fd]) & WATCH_EMPTY);
	if (LOAD(entry->traits) & TRAIT_SHARED)
		socket_move_twins(fd, entry, to);
	return true;
}

static bool is_common(int fd, struct socket_entry *entry)
{
	return (atomic_load(&entry->traits) & ~(uint32_t)(TRAITS_COMMON & ~TRAIT_SERVED)) ==
	           TRAIT_SERVED &&
	       !(atomic_load(&socket_watch[fd]) & (WATCH_STALE | WATCH_SERVER));
}

/* Who adds a trait, or closes the number, does so before clearing `common`; we look after setting
 * it, so one of the two sees the other. */
void socket_show_common(int fd, struct socket_entry *entry, uint32_t changes)
{
	if (!is_common(fd, entry))
		return;
	atomic_store(&entry->common, socket_common(changes));
	if (!is_common(fd, entry))
		STORE(entry->common, 0);
}

void socket_looked(int fd, const struct socket_entry *entry)
{
	uint8_t watched = LOAD(socket_watch[fd]);

	/* Of a number that has just been given out again it would be how that was made. */
	if (watched & WATCH_END && !(~LOAD(entry->traits) & (TRAIT_WAITED | TRAIT_NOWAIT)))
		(void)atomic_compare_exchange_strong(&socket_watch[fd], &watched,
		                                     (uint8_t)(watched | WATCH_EMPTY));
}

bool socket_identify(int fd, struct socket_entry *entry)
{
	if (LOAD(entry->cookie) == 0)
		STORE(entry->cookie, socket_cookie(fd));
	if (LOAD(entry->cookie) != 0)
		return true;
	drop(fd, entry);
	return false;
}

bool socket_believe(int fd, struct socket_entry *entry)
{
	uint64_t known = LOAD(entry->cookie);

	if (known == 0)
		return socket_identify(fd, entry);
	if (socket_cookie(fd) != known) {
		drop(fd, entry);
		return false;
	}
	if (socket_watched(fd) & WATCH_STALE)
		atomic_fetch_and(&socket_watch[fd], (uint8_t)~WATCH_STALE);
	return true;
}

void socket_forget(int fd)
{
	if ((unsigned int)fd >= SOCKETS)
		return;
	STORE(socket_watch[fd], 0);
	if (socket_has_room(fd))
		STORE(socket_at(fd)->state, SOCKET_NONE);
}

void socket_closed(int fd, struct socket_entry *entry)
{
	if (LOAD(entry->cookie) != 0) {
		atomic_fetch_or(&socket_watch[fd], WATCH_STALE);
		STORE_RELEASE(entry->common, 0);
		return;
	}
	STORE(socket_watch[fd], 0); /* nothing could ever say so */
	STORE(entry->state, SOCKET_NONE);
}

/* Makes room for a number that is watched so. Of UDP which the configuration does not ask for most
 * are clients, and those cost no system call: it has to be there. */
static bool finds_room(int fd, unsigned int bits)
{
	return socket_may_be_asked(bits) ? socket_has_room(fd) : socket_make_room(fd);
}

/* Of a number that has an entry, or gets what goes with one. */
static __attribute__((noinline)) unsigned int make_over(int fd, unsigned int bits)
{
	if (socket_has_room(fd)) { /* of a socket whose close was not seen */
		land(socket_at(fd), SOCKET_NONE);
		STORE(socket_at(fd)->state, SOCKET_NONE);
	}
	if (bits & (WATCH_SERVER | WATCH_DATAGRAM) && !finds_room(fd, bits))
		bits &= ~(unsigned int)(WATCH_SERVER | WATCH_DATAGRAM);
	if (bits & WATCH_SERVER)
		bits |= WATCH_READ;
	if (bits & WATCH_DATAGRAM || socket_may_be_asked(bits)) {
		bits |= WATCH_READ | WATCH_WRITE;
		STORE(socket_at(fd)->traits, 0);
	}
	return bits;
}

void socket_created(int fd, unsigned int bits)
{
	unsigned int before = socket_watched(fd);

	if ((unsigned int)fd >= SOCKETS || (bits == 0 && before == 0))
		return;
	if ((before | bits) & (WATCH_END | WATCH_SERVER | WATCH_DATAGRAM))
		bits = make_over(fd, bits);
	reach(fd);
	STORE(socket_watch[fd], (uint8_t)bits);
}

/* What is kept of one that is asked by datagrams (conn/asked_by.h). */
static void copy_record(int fd, int to)
{
	STORE(socket_at(to)->since, LOAD(socket_at(fd)->since));
	STORE(socket_at(to)->traits, LOAD(socket_at(fd)->traits));
}

void socket_duplicated(int fd, int to)
{
	struct socket_entry *entry = socket_find(fd);
	unsigned int bits = socket_watched(fd);
	struct socket_entry copy;

	if (fd == to)
		return;
	if (!entry) {
		if (bits & (WATCH_SERVER | WATCH_DATAGRAM) && !finds_room(to, bits))
			bits = 0;
		if ((unsigned int)to < SOCKETS && (bits || socket_watched(to))) {
			reach(to);
			if (socket_has_room(to))
				STORE(socket_at(to)->common, 0);
			if (socket_may_be_asked(bits))
				copy_record(fd, to);
			STORE(socket_watch[to], (uint8_t)bits);
		}
		return;
	}
	if (bits & WATCH_STALE ? !socket_believe(fd, entry) : !socket_identify(fd, entry)) {
		socket_forget(to);
		return;
	}
	socket_mark(entry, TRAIT_SHARED);
	copy = *entry;
	socket_enter(to, &copy);
}
