/* SPDX-License-Identifier: MIT */
/* The rows of `retrybudget top`: collected at each look, and held against those of the one before.
 */
#include "tool/top_rows.h"

#include "sys/real.h"
#include "tool/stat.h"
#include "tool/stat_facts.h"
#include "tool/stat_lease.h"
#include "tool/stat_text.h"
#include "tool/top_text.h"

#include <stdlib.h>
#include <string.h>

struct collecting {
	struct top *top;
	struct top_row *rows;
	size_t count, room, regions;
	int64_t now;
	bool failed; /* no memory */
	bool early;
};

static int compare_keys(const struct top_key *a, const struct top_key *b)
{
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int compare_identity(const void *a, const void *b)
{
	const struct top_row *one = a, *other = b;
	int keys = compare_keys(&one->key, &other->key);

	return keys ? keys : strcmp(one->name, other->name);
}

bool top_same(const struct top_row *row, const struct top_key *key, const char *name)
{
	return compare_keys(&row->key, key) == 0 && strcmp(row->name, name) == 0;
}

static struct top_key key_of(const struct family *family)
{
	const struct process *first = &family->members[0];

	if (first->region_count != 1)
		return (struct top_key) { .pid = first->pid };
	return (struct top_key) { .inode = first->regions[0].inode,
		                  .major = first->regions[0].major,
		                  .minor = first->regions[0].minor };
}

static struct top_row *new_row(struct collecting *collecting, const struct family *family,
                               const char *name)
{
	struct top_row *row;

	if (collecting->count == collecting->room) {
		size_t room = collecting->room ? 2 * collecting->room : 64;
		void *rows = realloc(collecting->rows, room * sizeof(*row));

		if (!rows) {
			collecting->failed = true;
			return NULL;
		}
		collecting->rows = rows;
		collecting->room = room;
	}
	row = &collecting->rows[collecting->count];
	*row = (struct top_row) { .key = key_of(family), .pid = family->members[0].pid };
	row->name = strdup(name);
	if (!row->name) {
		collecting->failed = true;
		return NULL;
	}
	collecting->count++;
	row->values[COLUMN_PID] = row->pid;
	(void)snprintf(row->cells[COLUMN_PID], sizeof(row->cells[0]), "%s", stat_pids(family));
	(void)snprintf(row->cells[COLUMN_PROGRAM], sizeof(row->cells[0]), "%s",
	               family_program(family));
	return row;
}

static void add(struct collecting *collecting, const struct family *family, const char *name,
                const struct tally *tally, const struct bucket *bucket,
                const struct destination *one)
{
	struct top_row *row = new_row(collecting, family, name);
	int64_t tokens, capacity, streak;

	if (!row)
		return;
	row->readable = true;
	row->values[COLUMN_ATTEMPTS] = LOAD(tally->attempts);
	row->values[COLUMN_RETRIES] = LOAD(tally->retries);
	row->values[COLUMN_ANSWERED] = stat_sum(tally->answered, 2);
	row->values[COLUMN_FAILED] = stat_sum(tally->failed, 2);
	row->values[COLUMN_REFUSED] = LOAD(tally->refused);
	row->values[COLUMN_HELD] = LOAD(tally->held);
	row->values[COLUMN_TOKENS] = stat_tokens(bucket, &tokens, &capacity) ? tokens : INT64_MAX;
	streak = one ? LOAD(one->budget.streak) : 0;
	row->values[COLUMN_STREAK] = greater(streak, 0);
	(void)snprintf(row->cells[COLUMN_MODE], sizeof(row->cells[0]), "%s", stat_mode_of(family));
	(void)snprintf(row->cells[COLUMN_TOKENS], sizeof(row->cells[0]), "%s",
	               one ? stat_budget(one) : stat_level(bucket));
	(void)snprintf(row->cells[COLUMN_LAST], sizeof(row->cells[0]), "%s",
	               one ? stat_last(one) : "");
}

/* Keeps the text of the destination that is looked at; the one before if there is no memory. */
static void detail(struct collecting *collecting, const struct family *family, const char *name,
                   const struct destination *one)
{
	struct top_detail *detail = &collecting->top->detail;
	struct top_key key = key_of(family);
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (!detail->name || compare_keys(&detail->key, &key) != 0 ||
	    strcmp(detail->name, name) != 0 || !(out = open_memstream(&text, &size)))
		return;
	top_print_detail(out, family, one, collecting->now);
	if (fclose(out) != 0) {
		free(text);
		return;
	}
	free(detail->text);
	detail->text = text;
	detail->at = collecting->now;
	detail->found = true;
}

static void visit(struct family *family, struct snapshot *snapshot, void *arg)
{
	struct collecting *collecting = arg;
	const struct region *region = snapshot->region;
	const char *wanted = collecting->top->wanted;

	if (wanted && !stat_choose(wanted, family, snapshot))
		return;
	if (snapshot->state == SNAPSHOT_GONE)
		return;
	collecting->regions++;
	if (snapshot->state != SNAPSHOT_GOOD) {
		new_row(collecting, family, snapshot_sentence(snapshot));
		return;
	}
	for (int i = 0; i < snapshot->slot_count && !collecting->top->processes; i++) {
		const struct destination *one = &snapshot->destinations[i];
		const char *name = family_text(one->name, REGION_NAME);

		detail(collecting, family, name, one);
		add(collecting, family, name, &one->tally, &one->budget.bucket, one);
	}
	if (snapshot->slot_count == 0 || collecting->top->processes) {
		detail(collecting, family, "(all)", NULL);
		add(collecting, family, "(all)", &region->tally, &region->process, NULL);
	}
}

static int64_t throttled(const struct top_row *row)
{
	int64_t sum = 0;

	add_to(&sum, row->values[COLUMN_REFUSED]);
	add_to(&sum, row->values[COLUMN_HELD]);
	return sum;
}

static void take_history(struct top_row *row, const struct top_row *before, bool early)
{
	int64_t change = throttled(row) - throttled(before);
	int step = early ? 0 : 1;

	memcpy(row->history, before->history + step,
	       sizeof(row->history) - (size_t)step * sizeof(*row->history));
	if (!early)
		row->history[TOP_HISTORY - 1] = 0;
	/* A slot that was emptied meanwhile counts from 0. */
	row->history[TOP_HISTORY - 1] += greater(change, 0);
	row->looks = before->looks < TOP_HISTORY ? before->looks + step : TOP_HISTORY;
	row->values[COLUMN_THROTTLED] = row->history[TOP_HISTORY - 1];
}

/* One whose process has ended stays for some looks, as it was last; true: it does. A destination
 * that its process has forgotten goes at once. */
static bool keep_gone(struct collecting *collecting, struct top_row *row, bool lives)
{
	struct top_row *kept;

	if (lives || row->gone >= TOP_GONE || !row->readable)
		return false;
	if (collecting->count == collecting->room) {
		void *rows = realloc(collecting->rows, (collecting->room + 64) * sizeof(*row));

		if (!rows)
			return false;
		collecting->rows = rows;
		collecting->room += 64;
	}
	kept = &collecting->rows[collecting->count++];
	*kept = *row;
	row->name = NULL;
	if (collecting->early && kept->gone > 0)
		return true;
	kept->gone++;
	memmove(kept->history, kept->history + 1, sizeof(kept->history) - sizeof(*kept->history));
	kept->history[TOP_HISTORY - 1] = kept->values[COLUMN_THROTTLED] = 0;
	(void)snprintf(kept->cells[COLUMN_MODE], sizeof(kept->cells[0]), "ended");
	return true;
}

/* Both lists in the order of their identities. */
static void merge(struct collecting *collecting, struct top_row *before, size_t count)
{
	size_t found = collecting->count, next = 0;

	for (size_t i = 0; i < count; i++) {
		bool lives;

		while (next < found && compare_identity(&collecting->rows[next], &before[i]) < 0)
			next++;
		if (next < found && compare_identity(&collecting->rows[next], &before[i]) == 0) {
			take_history(&collecting->rows[next], &before[i], collecting->early);
			continue;
		}
		lives = (next < found &&
		         compare_keys(&collecting->rows[next].key, &before[i].key) == 0) ||
		        (next > 0 &&
		         compare_keys(&collecting->rows[next - 1].key, &before[i].key) == 0);
		keep_gone(collecting, &before[i], lives);
	}
}

static void free_rows(struct top_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(rows[i].name);
	free(rows);
}

bool top_look(struct top *top, bool early)
{
	struct collecting collecting = { .top = top, .early = early };
	size_t unreadable;

	collecting.now = monotonic();
	top->detail.found = false;
	if (!families_visit(0, visit, &collecting, &unreadable) || collecting.failed) {
		free_rows(collecting.rows, collecting.count);
		return false;
	}
	if (collecting.count)
		qsort(collecting.rows, collecting.count, sizeof(*collecting.rows),
		      compare_identity);
	if (top->count)
		qsort(top->rows, top->count, sizeof(*top->rows), compare_identity);
	top->regions = collecting.regions;
	merge(&collecting, top->rows, top->count);
	free_rows(top->rows, top->count);
	top->rows = collecting.rows;
	top->count = collecting.count;
	top->unreadable = unreadable;
	top->ended = 0;
	for (size_t i = 0; i < top->count; i++)
		top->ended += top->rows[i].gone > 0;
	top_sort(top);
	return true;
}

void top_free(struct top *top)
{
	free_rows(top->rows, top->count);
	free(top->detail.name);
	free(top->detail.text);
	top->rows = NULL;
	top->count = 0;
	top->detail = (struct top_detail) { 0 };
}

static const struct top *sorted; /* qsort() hands nothing on */

static bool is_words(enum column column)
{
	return column == COLUMN_PROGRAM || column == COLUMN_MODE || column == COLUMN_LAST;
}

/* Numbers from the largest, tokens from the fewest, words by the alphabet. */
static int compare_rows(const void *a, const void *b)
{
	const struct top_row *one = a, *other = b;
	enum column column = sorted->sort;
	int order;

	if (column == COLUMN_DESTINATION)
		order = strcmp(one->name, other->name);
	else if (is_words(column))
		order = strcmp(one->cells[column], other->cells[column]);
	else
		order = (one->values[column] < other->values[column]) -
		        (one->values[column] > other->values[column]);
	if (column == COLUMN_PID || column == COLUMN_TOKENS)
		order = -order;
	if (sorted->reversed)
		order = -order;
	/* Else rows that are alike would change places at each look. */
	return order ? order : compare_identity(a, b);
}

void top_sort(struct top *top)
{
	sorted = top;
	if (top->count)
		qsort(top->rows, top->count, sizeof(*top->rows), compare_rows);
}
