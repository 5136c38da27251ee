/* SPDX-License-Identifier: MIT */
/* Sums, loops and records as people read them. */
#include "tool/logs_print.h"

#include "tool/logs_site.h"
#include "tool/logs_time.h"

#include <inttypes.h>
#include <string.h>

#define KEY_WIDTH 48

static void print_table(FILE *out, const char *heading, const struct log_rows *table)
{
	int width = (int)strlen(heading);

	if (table->count == 0)
		return;
	for (size_t i = 0; i < table->count; i++) {
		size_t n = strlen(table->rows[i]->key);

		if (n > (size_t)width)
			width = n > KEY_WIDTH ? KEY_WIDTH : (int)n;
	}
	fprintf(out, "\n%-*s %9s %9s %9s %9s %9s %9s %10s %9s %9s\n", width, heading, "ATTEMPTS",
	        "THROTTLED", "WOULD", "REFUSED", "PARKED", "HELD", "WAITED_MS", "EXHAUSTED",
	        "RECOVERED");
	for (size_t i = 0; i < table->count; i++) {
		const struct log_row *row = table->rows[i];

		fprintf(out,
		        "%-*s %9" PRId64 " %9" PRId64 " %9" PRId64 " %9" PRId64 " %9" PRId64
		        " %9" PRId64 " %10" PRId64 " %9" PRId64 " %9" PRId64 "\n",
		        width, row->key, row->attempts, row->throttled, row->would, row->refused,
		        row->parked, row->held, row->waited_ms, row->exhausted, row->recovered);
	}
}

void log_print_finding(FILE *out, const struct log_loop *loop, const struct log_finding *finding)
{
	fprintf(out, "%s at %s: %s\n", loop->program, loop->destination, finding->text);
}

static void print_loop(FILE *out, const struct log_loop *loop, const char *directory)
{
	struct log_finding findings[LOG_FINDINGS];
	size_t count = log_findings(loop, findings);
	const char *name = log_site_name(loop->site, directory);

	if (count == 0)
		return;
	fprintf(out, "\n%s at %s%s%s\n", loop->program, loop->destination,
	        loop->class[0] ? ", which failed by " : "", loop->class);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "  %s\n", findings[i].text);
	if (loop->site[0])
		fprintf(out, "  from %s%s%s%s\n", name, *name ? " (" : "", loop->site,
		        *name ? ")" : "");
}

void log_print_sums(FILE *out, const struct log_sums *sums, unsigned tables, const char *directory)
{
	static const char *const headings[LOG_TABLES] = { "DESTINATION", "PROGRAM", "CALL SITE",
		                                          "HOUR" };

	fprintf(out, "%" PRId64 " records", sums->records);
	if (sums->first > 0) {
		fprintf(out, " from %s", log_time_text(sums->first));
		fprintf(out, " to %s", log_time_text(sums->last));
	}
	if (sums->not_understood > 0)
		fprintf(out, "; %" PRId64 " other lines", sums->not_understood);
	putc('\n', out);
	for (int i = 0; i < LOG_TABLES; i++)
		if (tables & 1U << i)
			print_table(out, headings[i], &sums->tables[i]);
	for (size_t i = 0; i < sums->loop_count; i++)
		print_loop(out, sums->loops[i], directory);
}

static void print_number(FILE *out, const char *name, int64_t value)
{
	if (value > 0)
		fprintf(out, " %s=%" PRId64, name, value);
}

static void print_text(FILE *out, const char *name, const char *text)
{
	if (text[0])
		fprintf(out, " %s=%s", name, text);
}

void log_print_entry(FILE *out, const struct log_entry *entry)
{
	fprintf(out, "%s %s", log_time_text(entry->when), entry->program[0] ? entry->program : "-");
	if (entry->pid > 0)
		fprintf(out, "[%" PRId64 "]", entry->pid);
	fprintf(out, " %s", entry->event);
	if (entry->destination[0])
		fprintf(out, " %s", entry->destination);
	print_text(out, "class", entry->class);
	print_text(out, "error", entry->error);
	print_text(out, "why", entry->why);
	print_number(out, "retry", entry->retry);
	print_number(out, "attempts", entry->attempts);
	print_number(out, "throttled", entry->throttled);
	print_number(out, "waited_ms", entry->waited_ms);
	print_number(out, "since_ms", entry->since_ms);
	putc('\n', out);
}
