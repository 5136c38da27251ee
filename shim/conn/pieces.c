/* SPDX-License-Identifier: MIT */
/* Requests in pieces, in a table by entry. */
#include "conn/pieces.h"

#include "dest/fingerprint.h"
#include "sys/cell.h"
#include "sys/memory.h"

#define SLOTS      128
#define PARTS_MOST 64 /* of one write */

struct slot {
	_Atomic(bool) busy; /* while one thread reads or writes the rest */
	int64_t began;      /* of the entry that it is of */
	size_t offered;     /* bytes of the last write, as looked at */
	const struct socket_entry *entry;
	struct fingerprint_reader reader;
};

static struct slot slots[SLOTS];

/* The slot of an entry, claimed; NULL: another thread has it. */
static struct slot *claim(const struct socket_entry *entry)
{
	struct slot *slot = &slots[(uintptr_t)entry / sizeof(*entry) % SLOTS];
	bool free = false;

	return atomic_compare_exchange_strong(&slot->busy, &free, true) ? slot : NULL;
}

static void release(struct slot *slot)
{
	atomic_store(&slot->busy, false);
}

/* Reads n bytes of the program's. False: they are not there. */
static bool read_part(struct fingerprint_reader *reader, const char *bytes, size_t n)
{
	while (n > 0) {
		size_t some = n < MEMORY_MOST ? n : MEMORY_MOST;

		if (!memory_is_there(bytes, some))
			return false;
		fingerprint_read(reader, bytes, some);
		if (reader->seen >= FINGERPRINT_MOST)
			return true;
		bytes += some;
		n -= some;
	}
	return true;
}

/* Reads what is about to be written. *offered: its bytes. */
static enum fingerprint_said read_parts(struct fingerprint_reader *reader,
                                        const struct iovec *parts, size_t count, size_t *offered,
                                        uint32_t *fingerprint)
{
	*fingerprint = 0;
	*offered = 0;
	if (count > PARTS_MOST)
		return FINGERPRINT_NONE;
	for (size_t i = 0; i < count; i++) {
		*offered += parts[i].iov_len;
		if (!read_part(reader, parts[i].iov_base, parts[i].iov_len))
			return FINGERPRINT_NONE;
	}
	return fingerprint_said(reader, fingerprint);
}

static void set_partial(struct socket_entry *entry, bool partial)
{
	if (!(LOAD(entry->traits) & TRAIT_PARTIAL) == !partial)
		return;
	if (partial)
		socket_mark(entry, TRAIT_PARTIAL);
	else
		atomic_fetch_and(&entry->traits, (uint32_t)~TRAIT_PARTIAL);
}

static bool goes_on(const struct slot *slot, const struct socket_entry *entry)
{
	return slot->entry == entry && slot->began == LOAD(entry->began);
}

uint32_t pieces_look(struct socket_entry *entry, const struct iovec *parts, size_t count)
{
	bool more = LOAD(entry->traits) & TRAIT_PARTIAL && LOAD(entry->state) == SOCKET_ASKED;
	struct slot *slot = claim(entry);
	enum fingerprint_said said = FINGERPRINT_NONE;
	uint32_t fingerprint = 0;

	if (slot && (!more || goes_on(slot, entry))) {
		if (!more)
			slot->reader = (struct fingerprint_reader) { 0 };
		slot->entry = entry;
		slot->began = LOAD(entry->began);
		said = read_parts(&slot->reader, parts, count, &slot->offered, &fingerprint);
	}
	set_partial(entry, said == FINGERPRINT_PARTIAL);
	if (slot)
		release(slot);
	return fingerprint;
}

void pieces_sent(int fd, struct socket_entry *entry, ssize_t result)
{
	struct slot *slot = claim(entry);
	bool whole = slot && goes_on(slot, entry) && result >= 0 && slot->offered == (size_t)result;

	if (slot) {
		slot->offered = SIZE_MAX; /* what comes next has to be looked at first */
		release(slot);
	}
	if (whole)
		return;
	set_partial(entry, false);
	socket_move(fd, entry, SOCKET_ASKED, ON_REQUEST); /* what is watched changes */
}
