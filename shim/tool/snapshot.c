/* SPDX-License-Identifier: MIT */
/* Slots are read twice, so that what was read while it was written is seen. */
#include "tool/snapshot.h"

#include "tool/region_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define LOOKS 8 /* at a slot that changes all the time */

#define HEAD         offsetof(struct region, first)
#define LAYOUT_SHIFT 56 /* of the magic */
#define MAGIC_OF_ANY (REGION_MAGIC & ((INT64_C(1) << LAYOUT_SHIFT) - 1))

static void clamp(cell64 *cells, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*cells); i++)
		if (LOAD(cells[i]) < 0)
			STORE(cells[i], 0);
}

/* Counters only grow: one that went back was read while it was written, or the slot was emptied. */
static bool is_later(const struct destination *one, const struct destination *next)
{
	const cell64 *before = (const cell64 *)&one->tally, *after = (const cell64 *)&next->tally;

	if (LOAD(one->generation) != LOAD(next->generation) ||
	    LOAD(one->named) != LOAD(next->named) ||
	    memcmp(one->name, next->name, sizeof(one->name)) != 0 ||
	    memcmp(one->policy, next->policy, sizeof(one->policy)) != 0)
		return false;
	for (size_t i = 0; i < sizeof(one->tally) / sizeof(*before); i++)
		if (LOAD(after[i]) < LOAD(before[i]))
			return false;
	return true;
}

/* False if the slot has not the name of this key, or never stands still. */
static bool read_slot(const struct region_file *file, int64_t key, struct destination *out,
                      size_t offset, enum snapshot_state *state)
{
	static struct destination before;

	*state = region_file_read(file, offset, out, sizeof(*out));
	for (int i = 0; i < LOOKS && *state == SNAPSHOT_GOOD; i++) {
		if (!(key & 1) || LOAD(out->named) != key)
			return false;
		memcpy(&before, out, sizeof(before));
		*state = region_file_read(file, offset, out, sizeof(*out));
		if (*state == SNAPSHOT_GOOD && is_later(&before, out)) {
			out->name[sizeof(out->name) - 1] = '\0';
			out->policy[sizeof(out->policy) - 1] = '\0';
			clamp((cell64 *)&out->tally, sizeof(out->tally));
			return true;
		}
	}
	return false;
}

/* Room that is kept for the next look. */
static struct {
	struct destination *destinations;
	uint32_t *slots;
	size_t room;
} kept;

/* False: no memory. */
static bool make_room(size_t count)
{
	size_t room = kept.room ? 2 * kept.room : 64;
	struct destination *destinations;
	uint32_t *slots;

	if (count < kept.room)
		return true;
	slots = realloc(kept.slots, room * sizeof(*slots));
	if (slots)
		kept.slots = slots;
	destinations = aligned_alloc(REGION_LINE, room * sizeof(*destinations));
	if (!slots || !destinations) {
		free(destinations);
		return false;
	}
	if (count > 0)
		memcpy(destinations, kept.destinations, count * sizeof(*destinations));
	free(kept.destinations);
	kept.destinations = destinations;
	kept.room = room;
	return true;
}

static bool is_kept(const struct snapshot_choice *choice, const struct snapshot *so_far,
                    uint32_t slot, const struct destination *one)
{
	return !choice || choice->keeps(so_far, slot, one, choice->arg);
}

/* The slots of a chunk that lies at an offset of a file. */
static enum snapshot_state read_chunk(const struct region_file *file, size_t offset,
                                      uint32_t number, const struct snapshot_choice *choice,
                                      struct snapshot *out)
{
	static cell64 keys[REGION_CHUNK];
	enum snapshot_state state =
	    region_file_read(file, offset + offsetof(struct chunk, keys), keys, sizeof(keys));

	for (uint32_t i = 0; i < REGION_CHUNK && state == SNAPSHOT_GOOD; i++) {
		size_t at =
		    offset + offsetof(struct chunk, destinations) + i * sizeof(struct destination);
		uint32_t slot = number * REGION_CHUNK + i;
		struct destination *one;

		if (LOAD(keys[i]) == 0 || !make_room((size_t)out->slot_count))
			continue;
		one = &kept.destinations[out->slot_count];
		if (read_slot(file, LOAD(keys[i]), one, at, &state) &&
		    is_kept(choice, out, slot, one))
			kept.slots[out->slot_count++] = slot;
	}
	return state;
}

struct chunk_name snapshot_chunk(const struct snapshot *snapshot, uint32_t number)
{
	return (struct chunk_name) { LOAD(snapshot->region->nonce),
		                     LOAD(snapshot->region->chunks[number]), number };
}

static enum snapshot_state check_head(const struct region *head, char *layout)
{
	int64_t magic = LOAD(head->magic);
	char digit = (char)(magic >> LAYOUT_SHIFT);

	if ((magic & ((INT64_C(1) << LAYOUT_SHIFT) - 1)) != MAGIC_OF_ANY)
		return SNAPSHOT_FALSE;
	*layout = digit;
	if (digit < '0' || digit > 'z')
		return SNAPSHOT_FALSE;
	if (digit != REGION_LAYOUT)
		return SNAPSHOT_LAYOUT;
	return LOAD(head->size) == (int64_t)sizeof(struct region) ? SNAPSHOT_GOOD : SNAPSHOT_FALSE;
}

/* Whoever reads the region hears the sum of what its processes have counted. */
static enum snapshot_state add_tallies(const struct region_file *file, struct region *region)
{
	static struct tally_place places[REGION_TALLIES - 1];
	enum snapshot_state state =
	    region_file_read(file, offsetof(struct region, tallies), places, sizeof(places));

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && state == SNAPSHOT_GOOD; i++)
		tally_add(&region->tally, &places[i].tally);
	return state;
}

/* process: whose it is; NULL: a share that was found by its name. */
static enum snapshot_state take(const struct region_file *file, const struct process *process,
                                const struct snapshot_choice *choice, struct snapshot *out)
{
	struct region *region = out->region;
	enum snapshot_state state;

	/* An older one may be smaller: first what all layouts begin with. */
	state = region_file_read(file, 0, region, offsetof(struct region, identity));
	if (state == SNAPSHOT_GOOD)
		state = check_head(region, &out->layout);
	if (state == SNAPSHOT_GOOD)
		state = region_file_read(file, 0, region, HEAD);
	if (state != SNAPSHOT_GOOD)
		return state;
	state = add_tallies(file, region);
	if (state != SNAPSHOT_GOOD)
		return state;
	clamp((cell64 *)&region->tally, sizeof(region->tally));
	region->identity.version[REGION_VERSION - 1] = '\0';
	region->identity.program[REGION_PROGRAM - 1] = '\0';
	region->identity.config[REGION_PATH - 1] = '\0';
	out->state = SNAPSHOT_GOOD; /* for whoever chooses: the head is */
	state = read_chunk(file, HEAD, 0, choice, out);
	chunk_files_forget();
	for (uint32_t number = 1; number < REGION_CHUNKS && state == SNAPSHOT_GOOD; number++) {
		struct region_file chunk;
		const struct chunk_name name = snapshot_chunk(out, number);
		enum snapshot_state opened =
		    chunk_file_open(process, process ? &process->regions[out->mapping] : NULL,
		                    &name, false, &chunk);

		if (opened != SNAPSHOT_GOOD) {
			out->missing += opened != SNAPSHOT_NONE;
			continue;
		}
		/* What changes under our hands is not the region's fault. */
		out->missing += read_chunk(&chunk, 0, number, choice, out) != SNAPSHOT_GOOD;
		region_file_close(&chunk);
	}
	out->destinations = kept.destinations;
	out->slots = kept.slots;
	return state;
}

static enum snapshot_state take_mapping(const struct process *process,
                                        const struct mapping *mapping,
                                        const struct snapshot_choice *choice, struct snapshot *out)
{
	struct region_file file;
	enum snapshot_state state = region_file_open(process, mapping, false, &file);

	out->slot_count = out->missing = 0;
	if (state != SNAPSHOT_GOOD)
		return state;
	state = take(&file, process, choice, out);
	region_file_close(&file);
	/* By address another process might have answered that was given the number. */
	return process_lives(process) ? state : SNAPSHOT_GONE;
}

/* False: no memory. */
static bool begin(struct snapshot *out)
{
	static struct region *copy; /* of which only its head is ever touched */

	if (!copy)
		copy = aligned_alloc(REGION_LINE, sizeof(*copy));
	*out = (struct snapshot) { .state = SNAPSHOT_NONE, .region = copy };
	return copy;
}

void snapshot_take_file(const struct region_file *file, struct snapshot *out)
{
	if (begin(out))
		out->state = take(file, NULL, NULL, out);
}

void snapshot_take(const struct process *process, const struct snapshot_choice *choice,
                   struct snapshot *out)
{
	if (!begin(out))
		return;
	for (int i = 0; i < process->region_count && out->state != SNAPSHOT_GOOD; i++) {
		enum snapshot_state before = out->state, state;

		out->mapping = i; /* for whoever chooses, and for its chunks */
		state = take_mapping(process, &process->regions[i], choice, out);
		out->state = i == 0 || state == SNAPSHOT_GOOD ? state : before;
	}
	if (out->state != SNAPSHOT_GOOD)
		out->mapping = 0;
	if (out->state == SNAPSHOT_NONE && !process_lives(process))
		out->state = SNAPSHOT_GONE;
}

const char *snapshot_word(const struct snapshot *snapshot)
{
	static const char *const words[] = {
		[SNAPSHOT_GOOD] = "good",     [SNAPSHOT_NONE] = "none",
		[SNAPSHOT_GONE] = "gone",     [SNAPSHOT_DENIED] = "denied",
		[SNAPSHOT_LAYOUT] = "layout", [SNAPSHOT_FALSE] = "false",
	};

	return words[snapshot->state];
}

const char *snapshot_sentence(const struct snapshot *snapshot)
{
	static char layout[96];

	switch (snapshot->state) {
	case SNAPSHOT_GOOD:
		return "can be read";
	case SNAPSHOT_NONE:
		return "the library is loaded, and is off or has a region without a name";
	case SNAPSHOT_GONE:
		return "ended while it was looked at";
	case SNAPSHOT_DENIED:
		return "may not be read: only root, its user, or CAP_SYS_PTRACE can";
	case SNAPSHOT_LAYOUT:
		(void)snprintf(layout, sizeof(layout),
		               "has a region of layout %c, this command reads layout %c: use that "
		               "version's own",
		               snapshot->layout, REGION_LAYOUT);
		return layout;
	case SNAPSHOT_FALSE:
	default:
		return "has memory of the region's name that is none";
	}
}
