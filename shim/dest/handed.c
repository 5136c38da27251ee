/* SPDX-License-Identifier: MIT */
/* Who is handed requests, in a table by thread. */
#include "dest/handed.h"

#include "sys/arithmetic.h"
#include "sys/cell.h"
#include "sys/thread.h"

#define PLACES 64

/* A worker that is woken takes a tenth of the least, and on a busy machine a few ms. Of any moments
 * a quarter are within the quarter of the time from one request to the next. */
#define SOON_LEAST (NS_PER_MS / 2)
#define SOON_MOST  (20 * NS_PER_MS)
#define SOON_PART  4

/* For each try that comes so, and for each that does not; what is enough, and all that is kept. */
#define GAIN   1
#define LOSS   2
#define ENOUGH 4
#define MOST   16

/* A word of the table: the thread, its points, and when the request was read that they are for. */
#define THREAD_AT  32
#define POINTS_AT  24
#define POINTS     UINT64_C(0xff)
#define STAMP      UINT64_C(0xffffff)
#define STAMP_UNIT 1024 /* ns */

static ucell64 table[PLACES];
static cell64 read_at;

static int64_t points_of(uint64_t known, int32_t thread)
{
	return known >> THREAD_AT == (uint32_t)thread ? (int64_t)(known >> POINTS_AT & POINTS) : 0;
}

static int64_t soon_of(int64_t requests)
{
	return within(NS_PER_S / greater(requests, 1) / SOON_PART, SOON_LEAST, SOON_MOST);
}

uint64_t handed_after(uint64_t known, int32_t thread, int64_t read, int64_t requests, int64_t now)
{
	uint64_t stamp = (uint64_t)read / STAMP_UNIT & STAMP;
	int64_t points = points_of(known, thread);

	if (read <= 0 || now < read || now - read >= soon_of(requests))
		points = greater(points - LOSS, 0);
	else if (stamp != (known & STAMP)) /* or it tries again for the same */
		points = lesser(points + GAIN, MOST);
	return (uint64_t)(uint32_t)thread << THREAD_AT | (uint64_t)points << POINTS_AT | stamp;
}

bool handed_is_known(uint64_t known, int32_t thread)
{
	return points_of(known, thread) >= ENOUGH;
}

void handed_read(int64_t now)
{
	STORE(read_at, now);
}

static ucell64 *place_of(int32_t thread)
{
	return &table[(uint32_t)thread % PLACES];
}

void handed_note_try(int64_t requests, int64_t now)
{
	int32_t thread = thread_id();
	ucell64 *place = place_of(thread);

	STORE(*place, handed_after(LOAD(*place), thread, LOAD(read_at), requests, now));
}

bool handed_is(void)
{
	int32_t thread = thread_id();

	return handed_is_known(LOAD(*place_of(thread)), thread);
}
