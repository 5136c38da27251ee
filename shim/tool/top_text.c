/* SPDX-License-Identifier: MIT */
/* The lines of `retrybudget top`, which are the same on a screen and in print. */
#include "tool/top_text.h"

#include "dest/rules.h"
#include "tool/called_from.h"
#include "tool/stat_facts.h"
#include "tool/stat_lease.h"
#include "tool/stat_text.h"

#include <inttypes.h>
#include <string.h>

#define BAR 40

void top_print_head(FILE *out, const struct top *top, int width)
{
	struct columns columns = columns_choose(width, COLUMNS_ALL);
	const char *space = "";
	char heading[32];

	for (int i = 0; i < COLUMNS_ALL; i++) {
		if (!columns.shown[i])
			continue;
		/* Of the column that the rows are in the order of. */
		(void)snprintf(heading, sizeof(heading), "%s%s", column_heading((enum column)i),
		               i == (int)top->sort ? top->reversed ? "^" : "v" : "");
		fputs(space, out);
		column_print(out, &columns, (enum column)i, heading, false);
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
	struct columns columns = columns_choose(width, COLUMNS_ALL);
	const char *space = "";
	char number[24];

	for (int i = 0; i < COLUMNS_ALL; i++) {
		const char *text = row->cells[i];

		if (!columns.shown[i])
			continue;
		if (i > COLUMN_DESTINATION && !row->readable)
			break;
		fputs(space, out);
		space = " ";
		if (i == COLUMN_THROTTLED) {
			print_sparkline(out, row, utf8);
			continue;
		}
		if (i == COLUMN_DESTINATION) {
			text = row->name;
		} else if (!*text && i >= COLUMN_ATTEMPTS && i <= COLUMN_STREAK) {
			(void)snprintf(number, sizeof(number), "%" PRId64, row->values[i]);
			text = number;
		}
		column_print(out, &columns, (enum column)i, text,
		             width != 0 && (row->readable || i < COLUMN_DESTINATION));
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
		print_bar(out, greater(tokens, 0), capacity);
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
	        "; probes %" PRId64 ", mistaken %" PRId64 "; held %" PRId64 "\n",
	        attempts, attempts > retries ? attempts - retries : 0, retries, LOAD(tally->probes),
	        LOAD(tally->mistaken), LOAD(tally->held));
	print_rules(out, tally);
	if (one)
		(void)called_from_print(out, "    ", family, one);
	stat_print_tally(out, one ? family_text(one->name, REGION_NAME) : "(all)", tally);
	if (one)
		stat_print_lease(out, one);
	print_histogram(out, "delays drawn for repeats", &tally->delays);
	print_histogram(out, "waits of calls that were held", &tally->waits);
}
