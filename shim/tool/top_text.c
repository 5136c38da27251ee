/* SPDX-License-Identifier: MIT */
/* The lines of `retrybudget top`, which are the same on a screen and in print. */
#include "tool/top.h"

#include "dest/rules.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define NAME_LEAST 20
#define BAR        40

/* drop: where there is no room the lowest goes first; 0 never. */
static const struct column {
	const char *heading;
	int width, drop;
	bool left;
} columns[TOP_COLUMNS] = {
	[TOP_PID] = { "PID", 10, 11, true },
	[TOP_PROGRAM] = { "PROGRAM", 15, 10, true },
	[TOP_MODE] = { "MODE", 8, 7, true },
	[TOP_DESTINATION] = { "DESTINATION", 30, 0, true },
	[TOP_ATTEMPTS] = { "ATTEMPTS", 9, 9, false },
	[TOP_RETRIES] = { "RETRIES", 8, 4, false },
	[TOP_ANSWERED] = { "ANSWERED", 9, 2, false },
	[TOP_FAILED] = { "FAILED", 8, 8, false },
	[TOP_REFUSED] = { "REFUSED", 8, 12, false },
	[TOP_WAITED] = { "WAITED", 7, 1, false },
	[TOP_TOKENS] = { "TOKENS", 9, 6, false },
	[TOP_STREAK] = { "STREAK", 7, 3, false },
	[TOP_LAST] = { "LAST", 12, 5, true },
	[TOP_THROTTLED] = { "THROTTLED", TOP_HISTORY, 0, true },
};

enum top_column top_column_named(const char *name)
{
	int column = 0;

	while (column < TOP_COLUMNS && strcasecmp(columns[column].heading, name) != 0)
		column++;
	return (enum top_column)column;
}

const char *top_heading(enum top_column column)
{
	return columns[column].heading;
}

/* Which columns are shown in so many cells, and how wide the name is then. */
static void choose_columns(int width, bool shown[TOP_COLUMNS], int *name)
{
	int used = 0;

	*name = columns[TOP_DESTINATION].width;
	for (int i = 0; i < TOP_COLUMNS; i++) {
		shown[i] = true;
		used += i == TOP_DESTINATION ? NAME_LEAST : columns[i].width + 1;
	}
	if (width == 0)
		return;
	for (int drop = 1; drop <= TOP_COLUMNS && used > width; drop++)
		for (int i = 0; i < TOP_COLUMNS; i++)
			if (columns[i].drop == drop) {
				shown[i] = false;
				used -= columns[i].width + 1;
			}
	*name = NAME_LEAST + (width > used ? width - used : 0);
}

/* Where there is no room a name loses its middle, as the port at the end tells most. */
static void print_name(FILE *out, const char *name, int width)
{
	int n = (int)strlen(name), tail = (width - 1) / 2;

	if (n <= width)
		fprintf(out, "%-*s", width, name);
	else
		fprintf(out, "%.*s~%s", width - 1 - tail, name, name + n - tail);
}

/* Cut where there is no room, and shown to be. */
static void print_cell(FILE *out, const char *text, int width, bool left, bool cut)
{
	if (cut && (int)strlen(text) > width)
		fprintf(out, "%.*s~", width - 1, text);
	else if (left)
		fprintf(out, "%-*s", width, text);
	else
		fprintf(out, "%*s", width, text);
}

void top_print_head(FILE *out, const struct top *top, int width)
{
	bool shown[TOP_COLUMNS];
	const char *space = "";
	char heading[32];
	int name;

	choose_columns(width, shown, &name);
	for (int i = 0; i < TOP_COLUMNS; i++) {
		if (!shown[i])
			continue;
		/* Of the column that the rows are in the order of. */
		(void)snprintf(heading, sizeof(heading), "%s%s", columns[i].heading,
		               i == (int)top->sort ? top->reversed ? "^" : "v" : "");
		fputs(space, out);
		print_cell(out, heading, i == TOP_DESTINATION ? name : columns[i].width,
		           columns[i].left, false);
		space = " ";
	}
}

/* Each as a share of the most among them: what has been nothing stays empty. */
static void print_sparkline(FILE *out, const struct top_row *row, bool utf8)
{
	static const char *const blocks[] = { "\u2581", "\u2582", "\u2583", "\u2584",
		                              "\u2585", "\u2586", "\u2587", "\u2588" };
	static const char *const plain[] = { ".", ":", "-", "=", "+", "*", "#", "@" };
	int64_t most = 1;

	for (int i = 0; i < TOP_HISTORY; i++)
		if (row->history[i] > most)
			most = row->history[i];
	for (int i = 0; i < TOP_HISTORY; i++) {
		int level = (int)((double)row->history[i] / (double)most * 7.999);

		if (row->history[i] <= 0)
			putc(i < TOP_HISTORY - row->looks ? ' ' : '_', out);
		else
			fputs(utf8 ? blocks[level] : plain[level], out);
	}
}

void top_print_row(FILE *out, const struct top_row *row, int width, bool utf8)
{
	bool shown[TOP_COLUMNS];
	const char *space = "";
	char number[24];
	int name;

	choose_columns(width, shown, &name);
	for (int i = 0; i < TOP_COLUMNS; i++) {
		const char *text = row->cells[i];

		if (!shown[i])
			continue;
		if (i > TOP_DESTINATION && !row->readable)
			break;
		fputs(space, out);
		space = " ";
		if (i == TOP_THROTTLED) {
			print_sparkline(out, row, utf8);
			continue;
		}
		if (i == TOP_DESTINATION && width != 0 && row->readable) {
			print_name(out, row->name, name);
			continue;
		}
		if (i == TOP_DESTINATION) {
			text = row->name;
		} else if (!*text && i >= TOP_ATTEMPTS && i <= TOP_STREAK) {
			(void)snprintf(number, sizeof(number), "%" PRId64, row->values[i]);
			text = number;
		}
		print_cell(out, text, i == TOP_DESTINATION ? name : columns[i].width,
		           columns[i].left, width != 0 && (row->readable || i < TOP_DESTINATION));
	}
}

static void print_bar(FILE *out, int64_t value, int64_t most)
{
	int filled = most > 0 ? (int)((double)value / (double)most * BAR + 0.5) : 0;

	for (int i = 0; i < BAR; i++)
		putc(i < filled ? '#' : '.', out);
}

static void print_bucket(FILE *out, const char *what, const struct bucket *bucket)
{
	int64_t tokens, capacity;

	fprintf(out, "    %-22s ", what);
	if (stat_tokens(bucket, &tokens, &capacity))
		print_bar(out, tokens > 0 ? tokens : 0, capacity);
	else
		print_bar(out, 1, 1);
	fprintf(out, " %s\n", stat_level(bucket));
}

static void print_histogram(FILE *out, const char *what, const struct times *times)
{
	int64_t most = 0;
	int first = -1, last = -1;

	for (int i = 0; i < REGION_TIMES; i++) {
		if (LOAD(times->counts[i]) == 0)
			continue;
		first = first < 0 ? i : first;
		last = i;
		if (LOAD(times->counts[i]) > most)
			most = LOAD(times->counts[i]);
	}
	if (first < 0)
		return;
	fprintf(out, "\n%s\n", what);
	for (int i = first; i <= last; i++) {
		bool longest = i == REGION_TIMES - 1;

		fprintf(out, "    %-6s%9" PRId64 " ms ", longest ? "over" : "under",
		        INT64_C(1) << (longest ? i - 1 : i));
		print_bar(out, LOAD(times->counts[i]), most);
		fprintf(out, " %" PRId64 "\n", LOAD(times->counts[i]));
	}
}

static void print_budget(FILE *out, const struct destination *one, int64_t now)
{
	const struct budget *budget = &one->budget;
	int64_t streak = LOAD(budget->streak), due = LOAD(budget->due_at);
	int64_t began = LOAD(budget->began_at);

	if (streak <= 0) {
		fputs("    no failure since the last answer\n", out);
		return;
	}
	fprintf(out, "    %" PRId64 " %s since the last answer, the last %s", streak,
	        streak == 1 ? "failure" : "failures", stat_last(one));
	if (began > 0 && began <= now)
		fprintf(out, ", the first %" PRId64 " s ago", (now - began) / NS_PER_S);
	if (due > now)
		fprintf(out, "\n    the next repeat may go in %" PRId64 " ms",
		        (due - now) / NS_PER_MS);
	putc('\n', out);
}

static void print_rules(FILE *out, const struct tally *tally)
{
	for (size_t i = 0; i < rule_count && i < REGION_RULES; i++)
		if (LOAD(tally->rules[i]) > 0)
			fprintf(out, "    %-14s%9" PRId64 "  %s\n", rules[i].name,
			        LOAD(tally->rules[i]), rules[i].reason);
}

void top_print_detail(FILE *out, const struct family *family, const struct destination *one,
                      int64_t now)
{
	const struct region *region = family->snapshot->region;
	const struct tally *tally = one ? &one->tally : &region->tally;
	int64_t attempts = LOAD(tally->attempts), retries = LOAD(tally->retries);

	fprintf(out, "%s[%s], mode %s", family_program(family), stat_pids(family),
	        stat_mode_of(family));
	if (one && one->policy[0])
		fprintf(out, ", section %s", family_text(one->policy, sizeof(one->policy)));
	fputs("\n\nbudget\n", out);
	if (one)
		print_bucket(out, "tokens", &one->budget.bucket);
	print_bucket(out, "of the whole process", &region->process);
	if (one)
		print_budget(out, one, now);
	fprintf(out,
	        "\njudged\n    attempts %" PRId64 ": new or unclear %" PRId64 ", retries %" PRId64
	        "; probes %" PRId64 ", mistaken %" PRId64 ", waited %" PRId64 "\n",
	        attempts, attempts > retries ? attempts - retries : 0, retries, LOAD(tally->probes),
	        LOAD(tally->mistaken), LOAD(tally->waited));
	print_rules(out, tally);
	stat_print_tally(out, one ? family_text(one->name, REGION_NAME) : "(all)", tally);
	print_histogram(out, "delays drawn for repeats", &tally->delays);
	print_histogram(out, "waits of calls that were held", &tally->waits);
}
