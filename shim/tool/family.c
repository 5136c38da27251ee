/* SPDX-License-Identifier: MIT */
/* Who shares a region: the file that is mapped says so. */
#include "tool/family.h"

#include "sys/hash.h"
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

const struct mapping *family_mapping(const struct family *family)
{
	return &family->members[0].regions[family->snapshot->mapping];
}

uint64_t family_key(const struct family *family)
{
	const struct mapping *at = family_mapping(family);
	const struct region_identity *who = &family->snapshot->region->identity;
	const int64_t parts[] = { at->major, at->minor, (int64_t)at->inode, LOAD(who->pid),
		                  LOAD(who->started) };

	return hash_bytes(HASH_START, parts, sizeof(parts));
}

const char *family_program(const struct family *family)
{
	const struct process *first = &family->members[0];

	if (family->snapshot->state == SNAPSHOT_GOOD &&
	    family_mapping(family)->kind == MAPPING_OWN &&
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

struct asked {
	struct family *family;
	const struct family_reader *reader;
	void *arg;
};

static bool is_kept(const struct snapshot *so_far, uint32_t slot, const struct destination *one,
                    void *arg)
{
	const struct asked *asked = arg;

	(void)so_far; /* the family's own */
	return asked->reader->keeps(asked->family, slot, one, asked->arg);
}

/* Whoever of a family is still there answers for all. */
static void ask(struct family *family, const struct family_reader *reader, void *arg,
                struct snapshot *snapshot)
{
	struct asked asked = { family, reader, arg };
	struct snapshot_choice choice = { is_kept, &asked };

	do {
		snapshot_take(&family->members[0], reader->keeps ? &choice : NULL, snapshot);
		if (snapshot->state != SNAPSHOT_GONE || family->count == 1)
			break;
		family->members++;
		family->count--;
	} while (true);
}

static bool read_all(pid_t only, const struct family_reader *reader, void *arg, size_t *unreadable)
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
		ask(&family, reader, arg, &snapshot);
		reader->visit(&family, &snapshot, arg);
	}
	*unreadable = found.unreadable;
	processes_free(&found);
	return true;
}

bool families_read(const struct family_reader *reader, void *arg, size_t *unreadable)
{
	return read_all(0, reader, arg, unreadable);
}

bool families_visit(pid_t only, void (*visit)(struct family *, struct snapshot *, void *),
                    void *arg, size_t *unreadable)
{
	const struct family_reader reader = { NULL, visit };

	return read_all(only, &reader, arg, unreadable);
}
