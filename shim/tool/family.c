/* SPDX-License-Identifier: MIT */
/* Who shares a region: the file that is mapped says so. */
#include "tool/family.h"

#include "sys/text.h"

#include <string.h>

#define TEXTS 4

const char *family_text(const char *bytes, size_t size)
{
	static char texts[TEXTS][4 * REGION_NAME + 1];
	static unsigned int next;
	char *out = texts[next++ % TEXTS];
	struct text text;

	text_start(&text, out, sizeof(texts[0]));
	text_escaped(&text, bytes, strnlen(bytes, size), sizeof(texts[0]) - 1);
	return out;
}

const char *family_program(const struct family *family)
{
	const struct process *first = &family->members[0];

	if (family->snapshot->state == SNAPSHOT_GOOD && first->regions[0].kind == MAPPING_OWN &&
	    family->snapshot->region->identity.program[0])
		return family_text(family->snapshot->region->identity.program, REGION_PROGRAM);
	return family_text(first->name, sizeof(first->name));
}

static bool share_region(const struct process *a, const struct process *b)
{
	return a->region_count == 1 && b->region_count == 1 &&
	       a->regions[0].inode == b->regions[0].inode &&
	       a->regions[0].space == b->regions[0].space &&
	       a->regions[0].major == b->regions[0].major &&
	       a->regions[0].minor == b->regions[0].minor;
}

/* Whoever of a family is still there answers for all. */
static void ask(struct family *family, struct snapshot *snapshot)
{
	do {
		snapshot_take(&family->members[0], snapshot);
		if (snapshot->state != SNAPSHOT_GONE || family->count == 1)
			break;
		family->members++;
		family->count--;
	} while (true);
}

bool families_visit(pid_t only, void (*visit)(struct family *, struct snapshot *, void *),
                    void *arg, size_t *unreadable)
{
	static struct snapshot snapshot;
	struct processes found;

	if (!processes_find(&found, only))
		return false;
	for (size_t i = 0, next; i < found.count; i = next) {
		struct family family = { .members = &found.list[i],
			                 .snapshot = &snapshot,
			                 .whole = only != 0 };

		for (next = i + 1;
		     next < found.count && share_region(&found.list[i], &found.list[next]);)
			next++;
		family.count = next - i;
		ask(&family, &snapshot);
		visit(&family, &snapshot, arg);
	}
	*unreadable = found.unreadable;
	processes_free(&found);
	return true;
}
