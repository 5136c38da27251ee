/* SPDX-License-Identifier: MIT */
/* The kernel says who may write to whom (ptrace(2)); that nobody asks in another user's name even
 * where it would let him, by a capability, is up to us. */
#include "tool/ask.h"

#include "sys/real.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define PAUSE (20 * NS_PER_MS) /* between two looks at an answer */

/* Far more than is counted meanwhile: whoever has seen any value in between sees another. */
#define CHANGES_STEP (INT64_C(1) << 20)

static bool is_meant(const struct asking *asking, const struct family *family)
{
	if (asking->program && strcmp(family_program(family), asking->program) == 0)
		return true;
	for (size_t i = 0; i < family->count; i++) {
		const struct process *one = &family->members[i];

		if (asking->program ? strcmp(one->name, asking->program) == 0
		                    : one->pid == asking->pid)
			return true;
	}
	return false;
}

static bool may_ask(const struct family *family)
{
	for (size_t i = 0; i < family->count; i++)
		if (geteuid() != 0 && family->members[i].user != geteuid())
			return false;
	return true;
}

/* A member that lives, from the one asked last on; false: none does. */
static bool reach(struct asked *asked, bool for_writing)
{
	for (; asked->answering < asked->count; asked->answering++) {
		const struct process *one = &asked->members[asked->answering];

		if (!asked->is_open)
			asked->is_open =
			    region_file_open(one, &one->regions[asked->mapping], for_writing,
			                     &asked->file) == SNAPSHOT_GOOD;
		/* An open file stays the region's whoever lives. */
		if (asked->is_open && (asked->file.fd >= 0 || process_lives(one)))
			return true;
		if (asked->is_open)
			region_file_close(&asked->file);
		asked->is_open = false;
	}
	return false;
}

/* By address a process that has just begun another program might be written into: so its region is
 * looked at once more, right before. */
static enum snapshot_state write_word(struct asked *asked)
{
	enum snapshot_state state;
	int64_t head[2], changes;

	state = region_file_read(&asked->file, 0, head, sizeof(head));
	if (state != SNAPSHOT_GOOD)
		return state;
	if (head[0] != REGION_MAGIC || head[1] != (int64_t)sizeof(struct region))
		return SNAPSHOT_FALSE;
	state = region_file_write(&asked->file, offsetof(struct region, steering.request),
	                          &asked->word, sizeof(asked->word));
	if (state != SNAPSHOT_GOOD)
		return state;
	/* What waits for a change on connections that are well. Without it they look later. */
	if (region_file_read(&asked->file, offsetof(struct region, changes), &changes,
	                     sizeof(changes)) == SNAPSHOT_GOOD) {
		changes = (int64_t)((uint64_t)changes + CHANGES_STEP);
		(void)region_file_write(&asked->file, offsetof(struct region, changes), &changes,
		                        sizeof(changes));
	}
	return SNAPSHOT_GOOD;
}

static int64_t new_word(const struct asking *asking, const struct region *region)
{
	struct steering_request request = asking->request, stands;

	if (asking->keep_mode) {
		bool known =
		    steering_read(LOAD(region->steering.request), &stands) == STEERING_GOOD;

		request.mode = known ? stands.mode : STEERING_AS_IN_FILE;
	}
	request.number = (uint32_t)monotonic(); /* no two in a second are the same */
	return steering_word(&request);
}

static void keep_text(char *out, size_t size, const char *text)
{
	(void)snprintf(out, size, "%s", text);
}

static void write_to(const struct asking *asking, struct asked *asked,
                     const struct snapshot *snapshot)
{
	const struct region *region = snapshot->region;
	struct snapshot failed = { .state = SNAPSHOT_GONE };

	asked->mapping = snapshot->mapping;
	asked->word = new_word(asking, region);
	keep_text(asked->config, sizeof(asked->config),
	          family_text(region->identity.config, REGION_PATH));
	keep_text(asked->version, sizeof(asked->version),
	          family_text(region->identity.version, REGION_VERSION));
	while (reach(asked, true)) {
		failed.state = write_word(asked);
		if (failed.state != SNAPSHOT_GONE)
			break;
		region_file_close(&asked->file);
		asked->is_open = false;
		asked->answering++;
	}
	asked->state = failed.state == SNAPSHOT_GOOD   ? ASKED_WRITTEN
	               : failed.state == SNAPSHOT_GONE ? ASKED_ENDED
	                                               : ASKED_UNREADABLE;
	keep_text(asked->sentence, sizeof(asked->sentence), snapshot_sentence(&failed));
}

static void consider(struct family *family, struct snapshot *snapshot, void *arg)
{
	struct asking *asking = arg;
	struct asked *list, *asked;

	if (errno == ENOMEM || !is_meant(asking, family))
		return;
	list = reallocarray(asking->list, asking->count + 1, sizeof(*list));
	if (!list)
		return;
	asking->list = list;
	asked = &list[asking->count];
	*asked = (struct asked) { .count = family->count };
	asked->members = calloc(family->count, sizeof(*asked->members));
	if (!asked->members)
		return;
	memcpy(asked->members, family->members, family->count * sizeof(*asked->members));
	asking->count++;
	keep_text(asked->program, sizeof(asked->program), family_program(family));
	keep_text(asked->sentence, sizeof(asked->sentence), snapshot_sentence(snapshot));
	if (!may_ask(family))
		asked->state = ASKED_FOREIGN;
	else if (snapshot->state == SNAPSHOT_GONE)
		asked->state = ASKED_ENDED;
	else if (snapshot->state != SNAPSHOT_GOOD)
		asked->state = ASKED_UNREADABLE;
	else
		write_to(asking, asked, snapshot);
}

bool ask(struct asking *asking)
{
	errno = 0;
	return families_visit(0, consider, asking, &asking->unreadable) && errno != ENOMEM;
}

static void forget_the_dead(struct asked *asked)
{
	size_t alive = 0;

	for (size_t i = 0; i < asked->count; i++) {
		if (!process_lives(&asked->members[i]))
			continue;
		if (i == asked->answering)
			asked->answering = alive;
		asked->members[alive++] = asked->members[i];
	}
	asked->count = alive;
}

static void read_answer(struct asked *asked)
{
	struct steering steering;
	cell64 mode;

	if (asked->state != ASKED_WRITTEN && asked->state != ASKED_ANSWERED)
		return;
	/* The answer of one that has ended since stands. */
	if (reach(asked, false) &&
	    region_file_read(&asked->file, offsetof(struct region, steering), &steering,
	                     sizeof(steering)) == SNAPSHOT_GOOD &&
	    region_file_read(&asked->file, offsetof(struct region, identity.mode), &mode,
	                     sizeof(mode)) == SNAPSHOT_GOOD) {
		int64_t answer = LOAD(steering.answer), takers = LOAD(steering.takers);
		uint32_t number = steering_number(asked->word);

		asked->mode = LOAD(mode);
		if (LOAD(steering.request) != asked->word)
			asked->state = ASKED_OVERWRITTEN;
		if (steering_number(answer) == number) {
			asked->state = ASKED_ANSWERED;
			asked->answer = (enum steering_answer)((uint64_t)answer & STEERING_CHECK);
		}
		if ((uint64_t)takers >> 32 == number)
			asked->takers = (uint32_t)takers;
	}
	forget_the_dead(asked);
	if (asked->count == 0 && asked->state == ASKED_WRITTEN)
		asked->state = ASKED_ENDED;
}

bool asked_all(const struct asked *asked)
{
	return asked->state == ASKED_ANSWERED &&
	       (asked->answer == STEERING_REFUSED || asked->takers >= asked->count);
}

void ask_await(struct asking *asking, double seconds)
{
	const struct timespec pause = { .tv_nsec = PAUSE };
	int64_t until = monotonic() + (int64_t)(seconds * (double)NS_PER_S);

	for (;;) {
		bool due = false;

		for (size_t i = 0; i < asking->count; i++) {
			struct asked *asked = &asking->list[i];

			read_answer(asked);
			due |= asked->state == ASKED_WRITTEN ||
			       (asked->state == ASKED_ANSWERED && !asked_all(asked));
		}
		if (!due || monotonic() >= until)
			return;
		(void)nanosleep(&pause, NULL);
	}
}

void ask_free(struct asking *asking)
{
	for (size_t i = 0; i < asking->count; i++) {
		if (asking->list[i].is_open)
			region_file_close(&asking->list[i].file);
		free(asking->list[i].members);
	}
	free(asking->list);
	asking->list = NULL;
	asking->count = 0;
}
