/* SPDX-License-Identifier: MIT */
/* Sessions by the number of their carrier, and the way back. */
#include "conn/tls_session.h"

#include "config/current.h"
#include "conn/outcome.h"
#include "dest/profile.h"
#include "region/state.h"
#include "report/record.h"
#include "report/report.h"
#include "sys/cell.h"
#include "sys/fault.h"
#include "sys/memory.h"
#include "sys/real.h"

#include <errno.h>
#include <sys/mman.h>

/* Where a session may be found: with a thousand of them others have them all for one in ten
 * million.
 */
#define PLACES 4

struct carrier {
	_Atomic(uintptr_t) session; /* only compared, never looked into */
	/* Of the socket that was seen to carry it: a number that dup2() gives to the carrier of
	 * another session has the trait, too. */
	ucell64 cookie;
	_Atomic(int32_t) told;
};

struct tables {
	struct carrier carriers[SOCKETS];
	/* By a hash of the session: its carrier's number + 1. */
	_Atomic(int32_t) numbers[SOCKETS + PLACES];
};

static _Atomic(struct tables *) tables;

void session_prepare(void)
{
	struct tables *none = NULL, *new;
	int saved = errno;

	if (atomic_load(&tables))
		return;
	new = mmap(NULL, sizeof(*new), PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	errno = saved;
	if (new == MAP_FAILED)
		fault_count();
	else if (!atomic_compare_exchange_strong(&tables, &none, new))
		munmap(new, sizeof(*new));
}

/* The first of the session's places. */
static _Atomic(int32_t) *places_of(struct tables *known, const void *session)
{
	uint64_t hash = (uint64_t)(uintptr_t)session * UINT64_C(0x9e3779b97f4a7c15);

	return &known->numbers[hash >> 48];
}

static bool is_of_its_socket(const struct carrier *carrier, int fd)
{
	return LOAD(carrier->cookie) == LOAD(socket_at(fd)->cookie);
}

int session_fd(const void *session)
{
	struct tables *known = atomic_load(&tables);

	if (!known)
		return -1;
	for (int i = 0; i < PLACES; i++) {
		int fd = LOAD(places_of(known, session)[i]) - 1;

		if (fd >= 0 && session_carries(fd) &&
		    LOAD(known->carriers[fd].session) == (uintptr_t)session &&
		    is_of_its_socket(&known->carriers[fd], fd))
			return fd;
	}
	return -1;
}

static bool is_wanted(const struct socket_entry *entry)
{
	struct account account;
	struct trial trial;

	if (!trial_of(entry, &trial))
		return false;
	destination_account(trial.destination, config_current(), &account);
	return account.policy->tls;
}

/* A handshake record of TLS 1.0 or later that begins with a ClientHello (RFC 8446 5.1, 4). */
static bool is_hello(const struct iovec *part)
{
	const unsigned char *data = part->iov_base;

	return part->iov_len > 5 && memory_is_there(data, 6) && data[0] == 0x16 &&
	       data[1] == 0x03 && data[5] == 0x01;
}

static void carry(struct tables *known, int fd, const void *session)
{
	_Atomic(int32_t) *places = places_of(known, session);
	int free = 0;

	/* One that is taken no more, or the first. */
	for (int i = PLACES - 1; i >= 0; i--) {
		int other = LOAD(places[i]) - 1;

		if (other < 0 || other == fd || !session_carries(other))
			free = i;
	}
	STORE(known->carriers[fd].told, 0);
	STORE(known->carriers[fd].cookie, LOAD(socket_at(fd)->cookie));
	STORE(known->carriers[fd].session, (uintptr_t)session);
	STORE(places[free], fd + 1);
}

void session_look(int fd, const struct iovec *parts)
{
	struct tables *known = atomic_load(&tables);
	const void *session = thread_facts.session;
	struct socket_entry *entry = socket_find(fd);
	struct trial trial;
	int other;

	if (!known || !entry || (other = session_fd(session)) == fd || !is_wanted(entry) ||
	    !memory_is_there(parts, sizeof(*parts)) || !is_hello(parts))
		return;
	/* A callback of the library may talk to somebody else by TLS of its own, unseen. But the
	 * carrier may have been closed, unseen too, and the session be another's memory. */
	if ((other >= 0 && socket_believe(other, socket_at(other))) || !socket_identify(fd, entry))
		return;
	carry(known, fd, session);
	atomic_fetch_and(&entry->traits,
	                 (uint32_t) ~(TRAIT_HANDSHAKE_DONE | TRAIT_OPENED | TRAIT_FRAMES));
	socket_mark(entry, TRAIT_CARRIER);
	if (trial_of(entry, &trial))
		profile_carry(trial.destination);
}

void session_tell(int fd, int err)
{
	STORE(atomic_load(&tables)->carriers[fd].told, err);
}

int session_told(int fd)
{
	struct carrier *carrier = &atomic_load(&tables)->carriers[fd];
	int32_t told = is_of_its_socket(carrier, fd) ? LOAD(carrier->told) : 0;

	if (told != ECONNRESET)
		STORE(carrier->told, 0);
	return told;
}
