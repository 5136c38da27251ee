/* SPDX-License-Identifier: MIT */
/* A word for each kind of kin: 32 bits of hash, 32 of time in units of 2^27 ns. Of a destination's
 * words the oldest is written over. */
#include "dest/lineage.h"

#include "dest/address.h"
#include "dest/destinations.h"
#include "dest/firsts.h"
#include "dest/own_program.h"
#include "dest/spin_row.h"
#include "region/state.h"
#include "sys/confined.h"
#include "sys/hash.h"
#include "sys/real.h"

#include <string.h>
#include <unistd.h>

#define TIME_SHIFT 27
/* A parent whose last child was told longer ago, of which two whole units are certain, starts less
 * than the four a second that a hold lets through. */
#define PACED (300 * NS_PER_MS)
#define AHEAD (10 * NS_PER_S) /* until when one may be parked; what is further is garbage */

/* From the widest to the narrowest, as a rule. */
enum kin { KIN_PROGRAM, KIN_COMMAND, KIN_UNIT, KIN_SESSION, KIN_PARENT, KINDS };

static uint64_t program, unit; /* 0: this process shares nothing; it is of no unit */
static uint64_t command;       /* the program with its arguments */
static bool named;
/* As the constructor knew it: who locks himself in (seccomp) may not ask later, and one whose
 * parent has ended still is of its lineage. */
static struct {
	int32_t process;
	int64_t at;
	uint64_t kin[KINDS];
} at_start;

/* The destinations that this process has tried while they failed; and those of them where it has
 * not been answered since. */
static struct firsts tried, owed;

static uint64_t hash_of(uint64_t seed, enum kin kind, uint64_t value)
{
	uint64_t words[] = { (uint64_t)kind, value };
	uint64_t hash = hash_bytes(seed, words, sizeof(words));

	hash = (hash ^ hash >> 32) & UINT32_MAX;
	return hash ? hash : 1;
}

/* In a share of its own a command is of one lineage, whoever started it. */
static void kin_of(int32_t parent, int32_t session, uint64_t kin[KINDS])
{
	kin[KIN_PROGRAM] = hash_of(program, KIN_PROGRAM, 0);
	kin[KIN_COMMAND] = named ? hash_of(command, KIN_COMMAND, 0) : 0;
	kin[KIN_UNIT] = unit ? hash_of(command, KIN_UNIT, unit) : 0;
	kin[KIN_SESSION] = hash_of(command, KIN_SESSION, (uint64_t)session);
	kin[KIN_PARENT] = hash_of(command, KIN_PARENT, (uint64_t)parent);
}

void lineage_setup(bool is_named)
{
	int32_t parent = (int32_t)getppid();
	int32_t session = (int32_t)getsid(0);

	named = is_named;
	unit = own_unit_hash();
	program = own_program_hash();
	command = own_command_hash(program);
	at_start.process = thread_process();
	at_start.at = monotonic();
	kin_of(parent, session, at_start.kin);
}

bool lineage_is_worker(void)
{
	return program && at_start.process != thread_process();
}

/* As it was at the start, but in a forked process. */
static void kin_of_this(uint64_t kin[KINDS])
{
	int32_t parent, session;

	if (at_start.process == thread_process() || confined_by_itself()) {
		memcpy(kin, at_start.kin, sizeof(at_start.kin));
		return;
	}
	parent = (int32_t)getppid();
	session = (int32_t)getsid(0);
	kin_of(parent, session, kin);
}

/* Another one's hash is never 0. */
static bool is_lineage(const uint64_t kin[KINDS], uint64_t hash)
{
	for (int kind = KIN_COMMAND; kind < KINDS; kind++)
		if (kin[kind] == hash)
			return true;
	return false;
}

static uint32_t time_of(int64_t now)
{
	return (uint32_t)((uint64_t)now >> TIME_SHIFT);
}

/* Units since then; what lies in the future a rival has just written. */
static uint32_t age_of(int64_t word, int64_t now)
{
	uint32_t age = time_of(now) - (uint32_t)word;

	return age > UINT32_MAX / 2 ? 0 : age;
}

enum lineage lineage_of(struct destination *destination, uint32_t slot, int64_t horizon,
                        int64_t now)
{
	uint64_t kin[KINDS];
	bool knows_program = false;

	if (!program || !firsts_note(&tried, slot))
		return LINEAGE_UNKNOWN;
	firsts_note(&owed, slot);
	kin_of_this(kin);
	for (int i = 0; i < REGION_KIN; i++) {
		int64_t word = LOAD(destination->kin[i]);
		uint64_t hash = (uint64_t)word >> 32;

		if (word == 0 || (int64_t)age_of(word, now) > horizon >> TIME_SHIFT)
			continue;
		if (hash == kin[KIN_PROGRAM])
			knows_program = true;
		else if (is_lineage(kin, hash))
			return LINEAGE_SAME;
	}
	return knows_program ? LINEAGE_OTHER : LINEAGE_STRANGER;
}

/* One of its kind is told later than now: it is parked. */
static bool is_ahead(int64_t word, int64_t now)
{
	return (uint32_t)word - time_of(now) - 1 < AHEAD >> TIME_SHIFT;
}

/* In the place of the oldest of so many words, if not there yet. */
static void remember(cell64 *words, int count, uint64_t hash, int64_t now)
{
	int64_t next = (int64_t)(hash << 32 | time_of(now)), oldest = -1;
	int place = 0;

	for (int i = 0; i < count; i++) {
		int64_t word = LOAD(words[i]);
		int64_t age = word == 0 ? INT64_MAX : (int64_t)age_of(word, now);

		if ((uint64_t)word >> 32 == hash) {
			if (word != next && !is_ahead(word, now))
				STORE(words[i], next);
			return;
		}
		if (age > oldest) {
			oldest = age;
			place = i;
		}
	}
	STORE(words[place], next);
}

void lineage_answered(struct destination *destination)
{
	uint64_t kin[KINDS];

	if (!program || !firsts_take(&owed, destination_slot(destination)))
		return;
	kin_of_this(kin);
	for (int i = 0; i < REGION_KIN; i++) {
		int64_t word = LOAD(destination->kin[i]);

		if (word != 0 && is_lineage(kin, (uint64_t)word >> 32))
			cell_swap(&destination->kin[i], word, 0);
	}
}

/* The hash that the row of its lineage has: that of the widest kind by which others are of it, so
 * that all of them name the same. 0: nobody here is of it. */
static uint64_t row_of(struct destination *destination, const uint64_t kin[KINDS])
{
	for (int kind = KIN_COMMAND; kind < KINDS; kind++)
		for (int i = 0; kin[kind] && i < REGION_KIN; i++)
			if ((uint64_t)LOAD(destination->kin[i]) >> 32 == kin[kind])
				return kin[kind];
	return 0;
}

/* Of its parent at that destination. */
static uint64_t parent_hash(struct destination *destination, const uint64_t kin[KINDS])
{
	uint64_t hash = kin[KIN_PARENT] ^ destination_slot(destination) * UINT64_C(0x9e3779b1);

	hash = (hash ^ hash >> 32) & UINT32_MAX;
	return hash ? hash : 1;
}

/* The line of the region in which it is remembered, if anywhere. */
static cell64 *parents_of(uint64_t hash)
{
	uint64_t line = hash % (REGION_PARENTS / REGION_LINE_CELLS);

	return &shim_region->parents[line * REGION_LINE_CELLS];
}

/* A child of its parent is told then, which is later than now where it is parked. */
static void tell_parent(struct destination *destination, const uint64_t kin[KINDS], int64_t at)
{
	uint64_t hash = parent_hash(destination, kin);

	remember(parents_of(hash), REGION_LINE_CELLS, hash, at);
}

/* Its parent has paused since the last of its children was told. One that nobody here knows may be
 * a loop's that starts each process by another parent. */
static bool is_paced(struct destination *destination, const uint64_t kin[KINDS], int64_t started)
{
	uint64_t hash = parent_hash(destination, kin);
	const cell64 *words = parents_of(hash);

	for (int i = 0; i < REGION_LINE_CELLS; i++) {
		int64_t word = LOAD(words[i]);

		if ((uint64_t)word >> 32 == hash)
			return age_of(word, started) > PACED >> TIME_SHIFT;
	}
	return false;
}

bool lineage_spins(struct destination *destination, int64_t began, int64_t now)
{
	/* When it was forked nobody has noted. */
	int64_t started = at_start.process == thread_process() ? at_start.at : began;
	uint64_t kin[KINDS], row;

	kin_of_this(kin);
	row = row_of(destination, kin);
	if (!row)
		return false;
	if (is_paced(destination, kin, started)) {
		spin_row_begun(destination->kin_rows, row, started, now);
		return false;
	}
	return spin_row_refused(destination->kin_rows, row, started, now);
}

void lineage_held(struct destination *destination, int64_t until)
{
	uint64_t kin[KINDS], row;

	kin_of_this(kin);
	row = row_of(destination, kin);
	if (!row)
		return;
	spin_row_held(destination->kin_rows, row, until);
	tell_parent(destination, kin, until);
}

void lineage_failed(struct destination *destination, int64_t began, int64_t now)
{
	uint64_t kin[KINDS], row = 0;

	if (!program)
		return;
	/* From now on what it has done itself tells what its tries are. */
	firsts_note(&tried, destination_slot(destination));
	firsts_note(&owed, destination_slot(destination));
	kin_of_this(kin);
	if (began)
		row = row_of(destination, kin); /* not by what it adds itself */
	for (int kind = 0; kind < KINDS; kind++)
		if (kin[kind])
			remember(destination->kin, REGION_KIN, kin[kind], now);
	tell_parent(destination, kin, now);
	if (row)
		spin_row_failed(destination->kin_rows, row, began, now);
}
