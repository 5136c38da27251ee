/* SPDX-License-Identifier: MIT */
/* Writing zeroes over what a share remembers of its destinations. */
#include "tool/share_reset.h"

#include "tool/family.h"
#include "tool/share_files.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the stack is our own here */

/* Zero is a valid value of every cell: full, and nothing has failed. Processes that change them
 * meanwhile lose nothing but what they have just counted. */
static enum snapshot_state clear(const struct region_file *file, size_t at, size_t from, size_t end)
{
	static const char nothing[sizeof(struct destination)];

	return region_file_write(file, at + from, nothing, end - from);
}

/* at: where the slot is in the file. */
static enum snapshot_state clear_slot(const struct region_file *file, size_t at)
{
	enum snapshot_state state = clear(file, at, offsetof(struct destination, refused_now),
	                                  offsetof(struct destination, untold));

	if (state == SNAPSHOT_GOOD)
		state = clear(file, at, offsetof(struct destination, parked_now),
		              offsetof(struct destination, parked_now) + sizeof(cell64));
	if (state == SNAPSHOT_GOOD)
		state = clear(file, at, offsetof(struct destination, unclaimed),
		              offsetof(struct destination, profile));
	if (state == SNAPSHOT_GOOD)
		state = clear(file, at, offsetof(struct destination, kin),
		              offsetof(struct destination, decided));
	return state;
}

static enum snapshot_state clear_destination(const struct region_file *file,
                                             const struct snapshot *snapshot, uint32_t slot)
{
	size_t at =
	    offsetof(struct chunk, destinations) + slot % REGION_CHUNK * sizeof(struct destination);
	const struct chunk_name name = snapshot_chunk(snapshot, slot / REGION_CHUNK);
	struct region_file chunk;
	enum snapshot_state state;

	if (slot < REGION_CHUNK)
		return clear_slot(file, offsetof(struct region, first) + at);
	state = chunk_file_open(NULL, NULL, &name, true, &chunk);
	if (state != SNAPSHOT_GOOD)
		return state;
	state = clear_slot(&chunk, at);
	region_file_close(&chunk);
	return state;
}

int share_reset(const struct region_file *file, const char *destination, const char **why)
{
	enum snapshot_state state = SNAPSHOT_GOOD;
	struct snapshot snapshot;
	int cleared = 0;

	snapshot_take_file(file, &snapshot);
	if (snapshot.state != SNAPSHOT_GOOD) {
		*why = share_sentence(&snapshot);
		return -1;
	}
	for (int i = 0; i < snapshot.slot_count && state == SNAPSHOT_GOOD; i++) {
		const struct destination *one = &snapshot.destinations[i];

		if (destination && strcmp(family_text(one->name, REGION_NAME), destination) != 0)
			continue;
		state = clear_destination(file, &snapshot, snapshot.slots[i]);
		cleared += state == SNAPSHOT_GOOD;
	}
	if (!destination && state == SNAPSHOT_GOOD)
		state = clear(file, 0, offsetof(struct region, process),
		              offsetof(struct region, process) + sizeof(struct bucket));
	*why = "cannot be written";
	return state == SNAPSHOT_GOOD ? cleared : -1;
}
