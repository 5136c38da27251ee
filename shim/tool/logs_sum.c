/* SPDX-License-Identifier: MIT */
/* What a log says in sum, by destination, program, call site and hour, and of each loop. */
#include "tool/logs_sum.h"

#include "sys/arithmetic.h"
#include "tool/logs_time.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the stack is our own here */

/* Rows of a table; the rest is one row. Names come from the log, and there may be any number. */
#define ROWS_MAX 4096
#define OTHER    "(others)"

const char *const log_table_names[LOG_TABLES] = { "destination", "program", "site", "hour" };

static int by_key(const void *a, const void *b)
{
	const struct log_row *one = a, *other = b;

	return strcmp(one->key, other->key);
}

static struct log_row *row_of(struct log_rows *table, const char *key)
{
	struct log_row wanted = { .key = (char *)(uintptr_t)key }, **found, *row, **rows;

	found = tfind(&wanted, &table->tree, by_key);
	if (found)
		return *found;
	if (table->count >= ROWS_MAX && strcmp(key, OTHER) != 0)
		return row_of(table, OTHER);
	row = calloc(1, sizeof(*row));
	rows = reallocarray(table->rows, table->count + 1, sizeof(struct log_row *));
	if (rows)
		table->rows = rows;
	if (!row || !rows || !(row->key = strdup(key)) || !tsearch(row, &table->tree, by_key)) {
		if (row)
			free(row->key);
		free(row);
		return NULL;
	}
	rows[table->count++] = row;
	return row;
}

static bool is_event(const struct log_entry *entry, const char *event)
{
	return strcmp(entry->event, event) == 0;
}

static void count(struct log_row *row, const struct log_entry *entry)
{
	if (!row)
		return;
	row->records++;
	add_to(&row->attempts, entry->attempts);
	add_to(is_event(entry, "would-throttle") ? &row->would : &row->throttled, entry->throttled);
	add_to(&row->refused, entry->refused);
	add_to(&row->parked, entry->parked);
	add_to(&row->held, entry->held);
	add_to(&row->waited_ms, entry->waited_ms);
	row->exhausted += is_event(entry, "exhausted");
	row->recovered += is_event(entry, "recovered");
}

static int by_names(const void *a, const void *b)
{
	const struct log_loop *one = a, *other = b;
	int order = strcmp(one->program, other->program);

	return order ? order : strcmp(one->destination, other->destination);
}

static struct log_loop *new_loop(const struct log_entry *entry)
{
	size_t n = strlen(entry->program) + 1, m = strlen(entry->destination) + 1;
	struct log_loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return NULL;
	loop->row.key = malloc(n + m);
	if (!loop->row.key) {
		free(loop);
		return NULL;
	}
	memcpy(loop->row.key, entry->program, n);
	memcpy(loop->row.key + n, entry->destination, m);
	loop->program = loop->row.key;
	loop->destination = loop->row.key + n;
	return loop;
}

static struct log_loop *loop_of(struct log_sums *sums, const struct log_entry *entry)
{
	struct log_loop wanted = { .program = entry->program, .destination = entry->destination };
	struct log_loop **found = tfind(&wanted, &sums->loop_tree, by_names), **list, *loop;

	if (found)
		return *found;
	if (sums->loop_count >= ROWS_MAX)
		return NULL;
	list = reallocarray(sums->loops, sums->loop_count + 1, sizeof(struct log_loop *));
	if (!list)
		return NULL;
	sums->loops = list;
	loop = new_loop(entry);
	if (!loop)
		return NULL;
	if (!tsearch(loop, &sums->loop_tree, by_names)) {
		free(loop->row.key);
		free(loop);
		return NULL;
	}
	list[sums->loop_count++] = loop;
	return loop;
}

/* The streak of the process, or of those that share its budget. */
static size_t streak_of(struct log_loop *loop, int64_t pid)
{
	size_t i;

	for (i = 0; i < LOOP_PROCESSES; i++)
		if (loop->processes[i].pid == pid)
			return i;
	i = loop->next_process++ % LOOP_PROCESSES;
	memset(&loop->processes[i], 0, sizeof(loop->processes[i]));
	loop->processes[i].pid = pid;
	return i;
}

/* retry= counts those that went: in mode observe all of them, else those too that were held first,
 * which are among the throttled. */
static void count_in_a_row(struct log_loop *loop, const struct log_entry *entry, size_t i)
{
	int64_t sum;

	if (!is_event(entry, "would-throttle")) {
		add_to(&loop->processes[i].denied, entry->refused);
		add_to(&loop->processes[i].denied, entry->parked);
	}
	sum = loop->processes[i].denied;
	add_to(&sum, entry->retry);
	if (sum > loop->in_a_row)
		loop->in_a_row = sum;
}

/* The first record of an outage is written at once. */
#define AT_ONCE_MS 1000

/* How long a program waits for the end of a connect that was parked (pace/refuse.c), at least. */
#define PARKED_MS 1000

/* How much of since_ms= its attempts= are about. -1: not known, for the records of this streak
 * before it are not among what is read. */
static int64_t untold_ms(struct log_loop *loop, const struct log_entry *entry, size_t i)
{
	int64_t ms = entry->since_ms, before = loop->processes[i].since_ms;

	if (before > 0 && before <= ms)
		return ms - before;
	return ms <= AT_ONCE_MS ? ms : -1;
}

/* The pauses that are the program's own. */
static void count_pace(struct log_loop *loop, const struct log_entry *entry, size_t i)
{
	int64_t ms = untold_ms(loop, entry, i), ours = entry->waited_ms;

	loop->processes[i].since_ms = entry->since_ms;
	if (ms < 0)
		return;
	add_to(&ours,
	       entry->parked < INT64_MAX / PARKED_MS ? entry->parked * PARKED_MS : INT64_MAX);
	add_to(&loop->tries, entry->attempts);
	add_to(&loop->own_ms, ms > ours ? ms - ours : 0);
}

static void copy_text(char *out, size_t size, const char *text)
{
	if (text[0] != '\0')
		(void)snprintf(out, size, "%s", text);
}

/* What no further try can mend. */
static bool is_permanent(const char *error)
{
	static const char *const errors[] = {
		"EACCES",         "EPERM",    "EAFNOSUPPORT", "EPROTOTYPE",   "EINVAL",
		"ENOENT",         "ENOTSOCK", "EOPNOTSUPP",   "EAI_NONAME",   "EAI_NODATA",
		"EAI_FAMILY",     "EAI_FAIL", "EAI_SERVICE",  "EAI_BADFLAGS", "EAI_SOCKTYPE",
		"EAI_ADDRFAMILY", "EPROTO",
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (strcmp(error, errors[i]) == 0)
			return true;
	return false;
}

static void judge(struct log_loop *loop, const struct log_entry *entry)
{
	size_t i = streak_of(loop, entry->pid);

	count(&loop->row, entry);
	copy_text(loop->site, sizeof(loop->site), entry->site);
	copy_text(loop->class, sizeof(loop->class), entry->class);
	if (entry->retry > 0 && is_permanent(entry->error)) {
		loop->permanent++;
		copy_text(loop->error, sizeof(loop->error), entry->error);
	}
	count_in_a_row(loop, entry, i);
	if (entry->attempts > 0)
		count_pace(loop, entry, i);
	if (is_event(entry, "recovered"))
		loop->processes[i].since_ms = loop->processes[i].denied = 0;
}

struct log_loop *log_sum(struct log_sums *sums, const struct log_entry *entry)
{
	char hour[32];
	struct log_loop *loop;

	sums->records++;
	if (entry->when > 0 && (sums->first == 0 || entry->when < sums->first))
		sums->first = entry->when;
	if (entry->when > sums->last)
		sums->last = entry->when;
	if (entry->program[0] != '\0')
		count(row_of(&sums->tables[BY_PROGRAM], entry->program), entry);
	if (entry->when > 0) {
		(void)snprintf(hour, sizeof(hour), "%.13s:00", log_time_text(entry->when));
		count(row_of(&sums->tables[BY_HOUR], hour), entry);
	}
	if (entry->destination[0] == '\0')
		return NULL;
	count(row_of(&sums->tables[BY_DESTINATION], entry->destination), entry);
	if (entry->site[0] != '\0')
		count(row_of(&sums->tables[BY_SITE], entry->site), entry);
	loop = loop_of(sums, entry);
	if (loop)
		judge(loop, entry);
	return loop;
}

static int most_first(const struct log_row *one, const struct log_row *other)
{
	int64_t a = one->throttled, b = other->throttled;

	add_to(&a, one->would);
	add_to(&b, other->would);
	if (a != b)
		return a < b ? 1 : -1;
	if (one->attempts != other->attempts)
		return one->attempts < other->attempts ? 1 : -1;
	return strcmp(one->key, other->key);
}

static int by_most(const void *a, const void *b)
{
	return most_first(*(struct log_row *const *)a, *(struct log_row *const *)b);
}

static int by_name(const void *a, const void *b)
{
	return by_key(*(struct log_row *const *)a, *(struct log_row *const *)b);
}

static int by_loop(const void *a, const void *b)
{
	const struct log_loop *one = *(struct log_loop *const *)a;
	const struct log_loop *other = *(struct log_loop *const *)b;
	int order = most_first(&one->row, &other->row);

	return order ? order : by_names(one, other);
}

void log_sums_sort(struct log_sums *sums)
{
	for (int i = 0; i < LOG_TABLES; i++)
		if (sums->tables[i].count > 0)
			qsort(sums->tables[i].rows, sums->tables[i].count, sizeof(struct log_row *),
			      i == BY_HOUR ? by_name : by_most);
	if (sums->loop_count > 0)
		qsort(sums->loops, sums->loop_count, sizeof(struct log_loop *), by_loop);
}

static void keep(void *node)
{
	(void)node;
}

void log_sums_free(struct log_sums *sums)
{
	for (int i = 0; i < LOG_TABLES; i++) {
		tdestroy(sums->tables[i].tree, keep);
		for (size_t k = 0; k < sums->tables[i].count; k++) {
			free(sums->tables[i].rows[k]->key);
			free(sums->tables[i].rows[k]);
		}
		free(sums->tables[i].rows);
	}
	tdestroy(sums->loop_tree, keep);
	for (size_t i = 0; i < sums->loop_count; i++) {
		free(sums->loops[i]->row.key);
		free(sums->loops[i]);
	}
	free(sums->loops);
	*sums = (struct log_sums) { 0 };
}
