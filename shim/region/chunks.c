/* SPDX-License-Identifier: MIT */
/*
 * Whoever is killed on the way leaves a segment that no region names, which the sweep takes, or a
 * chunk that is whole: its number is published last. What the region says of a chunk is a claim of
 * whoever wrote it: only a segment of the share's own makers, with the region's nonce, is taken.
 */
#include "region/chunks.h"

#include "region/shared.h"
#include "sys/confined.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define AGAIN_AFTER NS_PER_S /* what could not be made */
#define PART_MOST   32       /* of the memory: one of so many parts */

struct chunk_view chunk_views[REGION_CHUNKS];

int chunk_levels_most = REGION_LEVELS - 1;

static cell64 not_before; /* ns */

void chunks_bound(int64_t memory)
{
	chunk_levels_most = 0;
	while (chunk_levels_most < REGION_LEVELS - 1 &&
	       memory / PART_MOST >= (int64_t)sizeof(struct chunk) << (chunk_levels_most + 1))
		chunk_levels_most++;
}

static struct segment_rights rights_of_chunk(void)
{
	struct segment_rights rights = *share_rights();

	if (rights.mode & 0070)
		rights.owner = SEGMENT_ANYONE;
	return rights;
}

/* Gives it to all threads of this process. */
static struct chunk *keep(struct chunk_view *view, struct chunk *chunk, int id)
{
	struct chunk *known = NULL;
	size_t size = REGION_CHUNK * sizeof(*view->policies);
	void *policies =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ucell64 *none = NULL;

	if (policies == MAP_FAILED) {
		segment_drop(id, chunk, false);
		return NULL;
	}
	if (!__atomic_compare_exchange_n(&view->policies, &none, policies, false, __ATOMIC_ACQ_REL,
	                                 __ATOMIC_ACQUIRE))
		(void)munmap(policies, size);
	if (atomic_compare_exchange_strong(&view->at, &known, chunk))
		return chunk;
	segment_drop(id, chunk, false); /* another thread was faster */
	return known;
}

/* In another IPC namespace the numbers mean nothing, and who replaced what they lead to would take
 * it from all others. Under `ulimit -v` a mapping takes room from the program, which may set that
 * at any time. number: of a chunk but the first; all chunks up to its level are as large as so many
 * bytes. */
static bool may_map(uint32_t number)
{
	int level = 32 - __builtin_clz(number);
	struct rlimit space;

	if (confined_perhaps() || /* a filter might not know what comes next */
	    !share_is_here())
		return false;
	return getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY ||
	       space.rlim_cur / PART_MOST >= (uint64_t)sizeof(struct chunk) << level;
}

static struct chunk *map(struct region *region, uint32_t number, int64_t said)
{
	struct chunk_view *view = &chunk_views[number];
	struct segment_rights rights = rights_of_chunk();
	enum segment_state state = SEGMENT_GONE;
	struct chunk *chunk;
	void *at = NULL;
	int id = (int)(said - 1);

	if (said > 0 && said <= INT32_MAX && rights.mode != 0)
		state = may_map(number) ? segment_map(id, sizeof(*chunk), &rights, &at)
		                        : SEGMENT_DENIED;
	if (state != SEGMENT_GOOD) {
		if (state != SEGMENT_DENIED)
			STORE(view->dead, said);
		return NULL;
	}
	chunk = at;
	if (LOAD_ACQUIRE(chunk->magic) == REGION_MAGIC &&
	    LOAD(chunk->nonce) == LOAD(region->nonce) && LOAD(chunk->number) == number)
		return keep(view, chunk, id);
	STORE(view->dead, said);
	segment_drop(id, at, false);
	return NULL;
}

struct chunk *chunk_reach(struct region *region, uint32_t number)
{
	struct chunk_view *view = &chunk_views[number];
	struct chunk *chunk = chunk_mapped(region, number);
	int64_t said;

	if (chunk)
		return chunk;
	said = LOAD_ACQUIRE(region->chunks[number]);
	if (said == 0 || LOAD(view->failed) == said)
		return NULL;
	chunk = map(region, number, said);
	if (!chunk)
		STORE(view->failed, said);
	return chunk;
}

static bool may_make(const struct segment_rights *rights)
{
	return rights->mode != 0 && (rights->mode & 0070 || geteuid() == rights->owner);
}

/* said: what the region says, 0 or a number that leads to nothing. */
static bool make(struct region *region, uint32_t number, int64_t said)
{
	struct chunk *chunk;
	void *at;
	int id;

	id =
	    may_map(number) ? segment_make(SEGMENT_CHUNK, sizeof(*chunk), share_rights(), &at) : -1;
	if (id < 0) {
		count(&region->faults);
		return false;
	}
	chunk = at;
	STORE(chunk->nonce, LOAD(region->nonce));
	STORE(chunk->number, number);
	STORE_RELEASE(chunk->magic, REGION_MAGIC);
	if (atomic_compare_exchange_strong(&region->chunks[number], &said, (int64_t)id + 1))
		return keep(&chunk_views[number], chunk, id) != NULL;
	segment_drop(id, at, true); /* another process was faster */
	return chunk_reach(region, number) != NULL;
}

bool chunk_grow(struct region *region, int64_t key, int64_t now)
{
	int levels = chunk_levels(region), level = 1;
	int64_t before = levels, said;
	uint32_t number;

	while (level <= levels && chunk_mapped(region, chunk_of_key(level, key)))
		level++;
	if (level > chunk_levels_most)
		return false;
	number = chunk_of_key(level, key);
	said = LOAD(region->chunks[number]);
	if (!chunk_reach(region, number)) {
		/* One that is there, and not for us, is not ours to replace. */
		if ((said != 0 && LOAD(chunk_views[number].dead) != said) ||
		    now < LOAD(not_before) || !may_make(share_rights()))
			return false;
		if (!make(region, number, said)) {
			STORE(not_before, now + AGAIN_AFTER);
			return false;
		}
	}
	if (level > levels)
		(void)atomic_compare_exchange_strong(&region->levels, &before, (int64_t)level);
	return true;
}

/* Of a chunk but the first: by what it says itself, or else by where it lies. */
uint32_t slot_search(struct region *region, const struct destination *of)
{
	int64_t said = LOAD(of->slot);

	if (said >= 0 && said < REGION_DESTINATIONS && slot_at(region, (uint32_t)said) == of)
		return (uint32_t)said;
	for (uint32_t number = 1; number < REGION_CHUNKS; number++) {
		const struct chunk *chunk = chunk_mapped(region, number);
		uintptr_t past = chunk ? (uintptr_t)of - (uintptr_t)chunk->destinations : 0;

		if (chunk && past < sizeof(chunk->destinations))
			return number * REGION_CHUNK + (uint32_t)(past / sizeof(*of));
	}
	return 0; /* of no chunk that is mapped, which cannot be */
}
