/* SPDX-License-Identifier: MIT */
/* Slots are read twice, so that what was read while it was written is seen. */
#include "tool/snapshot.h"

#include "tool/region_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define LOOKS 8 /* at a slot that changes all the time */

#define HEAD         offsetof(struct region, destinations)
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

	if (LOAD(one->key) != LOAD(next->key) || LOAD(one->generation) != LOAD(next->generation) ||
	    LOAD(one->named) != LOAD(next->named) ||
	    memcmp(one->name, next->name, sizeof(one->name)) != 0 ||
	    memcmp(one->policy, next->policy, sizeof(one->policy)) != 0)
		return false;
	for (size_t i = 0; i < sizeof(one->tally) / sizeof(*before); i++)
		if (LOAD(after[i]) < LOAD(before[i]))
			return false;
	return true;
}

/* False if the slot has no name, or never stands still. */
static bool read_slot(const struct region_file *file, struct destination *out, size_t offset,
                      enum snapshot_state *state)
{
	static struct destination before;

	*state = region_file_read(file, offset, out, sizeof(*out));
	for (int i = 0; i < LOOKS && *state == SNAPSHOT_GOOD; i++) {
		if (!(LOAD(out->key) & 1) || LOAD(out->named) != LOAD(out->key))
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

static enum snapshot_state take(const struct region_file *file, struct snapshot *out)
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
	clamp((cell64 *)&region->tally, sizeof(region->tally));
	region->identity.version[REGION_VERSION - 1] = '\0';
	region->identity.program[REGION_PROGRAM - 1] = '\0';
	region->identity.config[REGION_PATH - 1] = '\0';
	for (int i = 0; i < REGION_DESTINATIONS; i++) {
		struct destination *slot = &region->destinations[i];
		size_t offset = HEAD + (size_t)i * sizeof(*slot);

		if (!(LOAD(region->used[i / 64]) >> i % 64 & 1))
			continue;
		if (read_slot(file, slot, offset, &state))
			out->slots[out->slot_count++] = (uint16_t)i;
		if (state != SNAPSHOT_GOOD)
			return state;
	}
	return SNAPSHOT_GOOD;
}

static enum snapshot_state take_mapping(const struct process *process,
                                        const struct mapping *mapping, struct snapshot *out)
{
	struct region_file file;
	enum snapshot_state state = region_file_open(process, mapping, false, &file);

	out->slot_count = 0;
	if (state != SNAPSHOT_GOOD)
		return state;
	state = take(&file, out);
	region_file_close(&file);
	/* By address another process might have answered that was given the number. */
	return process_lives(process) ? state : SNAPSHOT_GONE;
}

/* False: no memory. */
static bool begin(struct snapshot *out)
{
	static struct region *copy; /* of which only what is read is ever touched */

	if (!copy)
		copy = calloc(1, sizeof(*copy));
	*out = (struct snapshot) { .state = SNAPSHOT_NONE, .region = copy };
	return copy;
}

void snapshot_take_file(const struct region_file *file, struct snapshot *out)
{
	if (begin(out))
		out->state = take(file, out);
}

void snapshot_take(const struct process *process, struct snapshot *out)
{
	if (!begin(out))
		return;
	for (int i = 0; i < process->region_count && out->state != SNAPSHOT_GOOD; i++) {
		enum snapshot_state state = take_mapping(process, &process->regions[i], out);

		if (i == 0 || state == SNAPSHOT_GOOD) {
			out->state = state;
			out->mapping = i;
		}
	}
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
