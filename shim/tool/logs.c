/* SPDX-License-Identifier: MIT */
/* retrybudget logs: what the records of a log say in sum, and what they say of each loop. */
#include "tool/logs_entry.h"
#include "tool/logs_files.h"
#include "tool/logs_findings.h"
#include "tool/logs_journal.h"
#include "tool/logs_json.h"
#include "tool/logs_lines.h"
#include "tool/logs_print.h"
#include "tool/logs_sum.h"
#include "tool/logs_time.h"
#include "tool/options.h"
#include "tool/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FILE "/var/log/retrybudget.log"
#define PAUSE_MS     200 /* between two looks at a file that is followed */

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the stack is our own here */

static const char usage[] =
    "usage: retrybudget logs [--since TIME] [--by WHAT] [--json] [FILE...]\n"
    "       retrybudget logs --follow [--since TIME] [--json] [FILE...]\n"
    "\n"
    "Sums up the records in files of syslog, with the rotated ones beside them, gzipped\n"
    "or not; '-' is the standard input. Without a FILE " DEFAULT_FILE ",\n"
    "where it is there, or the journal. Then it says what is wrong with each loop.\n"
    "\n";

static const char more[] =
    "\n"
    "TIME: 2h (ago; s, m, h, d, w), today, yesterday, 12:30, '2026-11-23 12:30'.\n"
    "Exit status: 0, 1 if something cannot be read, 2 for a wrong usage.\n";

struct command {
	struct log_sums sums;
	struct log_files files;
	struct log_lines lines;
	int64_t since, untimed; /* records without a time, which --since leaves out */
	bool has_since, follow, json, journal, failed;
	const char *journal_directory, *symbols;
	unsigned tables;
};

static int say_usage(FILE *out)
{
	return options_usage("logs", usage, more, out);
}

static void complain(struct command *command, const char *what, const char *why)
{
	fprintf(stderr, "retrybudget: logs: %s: %s\n", what, why);
	command->failed = true;
}

static void tell_findings(const struct command *command, struct log_loop *loop)
{
	struct log_finding findings[LOG_FINDINGS];
	size_t count = log_findings(loop, findings);

	for (size_t i = 0; i < count && !command->json; i++) {
		if (loop->told & 1U << findings[i].kind)
			continue;
		loop->told |= 1U << findings[i].kind;
		log_print_finding(stdout, loop, &findings[i]);
	}
}

static void take_entry(struct command *command, const struct log_entry *entry)
{
	struct log_loop *loop;

	if (command->has_since && entry->when < command->since) {
		command->untimed += entry->when == 0;
		return;
	}
	loop = log_sum(&command->sums, entry);
	if (!command->follow)
		return;
	if (command->json)
		(void)log_json_entry(stdout, entry);
	else
		log_print_entry(stdout, entry);
	if (loop)
		tell_findings(command, loop);
	if (fflush(stdout) != 0)
		exit(1); /* nobody reads any more */
}

static void take_line(void *arg, const char *line, size_t n)
{
	struct command *command = arg;
	struct log_entry entry;

	if (log_entry_read(line, n, time(NULL), &entry))
		take_entry(command, &entry);
	else
		command->sums.not_understood++;
}

static bool read_on(struct command *command, struct log_file *file)
{
	char bytes[16384];
	long n;

	while ((n = log_file_read(file, bytes, sizeof(bytes))) > 0)
		log_lines_feed(&command->lines, bytes, (size_t)n, take_line, command);
	if (n < 0)
		complain(command, file->path, "cannot be read to its end");
	return n == 0;
}

/* A last line without its end is not whole: half a number looks like one. */
static void end_file(struct command *command, struct log_file *file)
{
	command->sums.not_understood += command->lines.dropped;
	if (command->lines.used > 0 || command->lines.dropping)
		command->sums.not_understood++;
	command->lines.used = 0;
	command->lines.dropping = false;
	command->lines.dropped = 0;
	log_file_close(file);
}

static void read_whole(struct command *command, struct log_file *file)
{
	if (!log_file_open(file, false)) {
		complain(command, file->path, strerror(errno));
		return;
	}
	(void)read_on(command, file);
	end_file(command, file);
}

/* Returns when there is nothing more to come. */
static void follow(struct command *command, struct log_file *file)
{
	if (!log_file_open(file, true)) {
		complain(command, file->path, strerror(errno));
		return;
	}
	for (;;) {
		bool rotated = log_file_is_rotated(file);

		if (!read_on(command, file) || strcmp(file->path, "-") == 0)
			break;
		if (rotated) {
			end_file(command, file);
			if (!log_file_open(file, true)) {
				complain(command, file->path, strerror(errno));
				return;
			}
			continue;
		}
		(void)poll(NULL, 0, PAUSE_MS);
	}
	end_file(command, file);
}

static void read_journal(struct command *command)
{
	struct log_journal *journal;
	const char *wrong = log_journal_open(&journal, command->journal_directory,
	                                     command->has_since ? command->since : 0);

	if (wrong) {
		complain(command, "the journal", wrong);
		return;
	}
	for (;;) {
		struct log_entry entry;
		bool is_record = false;
		int got = log_journal_next(journal, &entry, &is_record);

		if (got < 0) {
			complain(command, "the journal", strerror(-got));
			break;
		}
		if (got > 0 && is_record)
			take_entry(command, &entry);
		else if (got > 0)
			command->sums.not_understood++;
		else if (command->follow)
			log_journal_wait(journal, PAUSE_MS);
		else
			break;
	}
	log_journal_close(journal);
}

static void read_files(struct command *command)
{
	log_files_sort(&command->files);
	for (size_t i = 0; i < command->files.count; i++)
		if (command->follow && i + 1 == command->files.count)
			follow(command, &command->files.files[i]);
		else
			read_whole(command, &command->files.files[i]);
}

static bool choose_tables(struct command *command, const char *name)
{
	for (int i = 0; i < LOG_TABLES; i++)
		if (strcmp(name, log_table_names[i]) == 0) {
			command->tables |= 1U << i;
			return true;
		}
	fprintf(stderr,
	        "retrybudget: logs: --by takes destination, program, site or hour, not '%s'\n",
	        name);
	return false;
}

static bool set_since(struct command *command, const char *text)
{
	command->has_since = log_moment(text, time(NULL), &command->since);
	if (!command->has_since)
		fprintf(stderr,
		        "retrybudget: logs: --since takes a time such as 2h, today, 12:30 or "
		        "'2026-11-23 12:30', not '%s'\n",
		        text);
	return command->has_since;
}

static bool set_option(struct command *command, int letter)
{
	switch (letter) {
	case 's':
		return set_since(command, optarg);
	case 'b':
		return choose_tables(command, optarg);
	case 'f':
		command->follow = true;
		return true;
	case 'j':
		command->journal = true;
		command->journal_directory = optarg;
		return true;
	case OPTION_JSON:
		command->json = true;
		return true;
	case OPTION_VALUE:
		command->symbols = optarg;
		return true;
	default:
		return false;
	}
}

static void find_files(struct command *command, int count, char **paths)
{
	for (int i = 0; i < count; i++)
		if (!log_files_add(&command->files, paths[i],
		                   command->has_since ? command->since : 0))
			complain(command, paths[i], strerror(errno));
	if (count > 0 || command->journal)
		return;
	if (!log_files_add(&command->files, DEFAULT_FILE, command->has_since ? command->since : 0))
		command->journal = true;
}

static bool print(struct command *command)
{
	log_sums_sort(&command->sums);
	if (!command->json) {
		log_print_sums(stdout, &command->sums, command->tables, command->symbols);
		return true;
	}
	return log_json_sums(stdout, &command->sums, command->tables, command->symbols);
}

int cmd_logs(int argc, char **argv)
{
	static struct command command;
	struct option list[OPTIONS_MAX];
	int letter;

	options_of("logs", list);
	while ((letter = getopt_long(argc, argv, "s:fb:j::h", list, NULL)) != -1) {
		if (letter == 'h')
			return say_usage(stdout);
		if (!set_option(&command, letter))
			return say_usage(stderr);
	}
	if (command.journal && optind < argc)
		return say_usage(stderr);
	if (command.tables == 0)
		command.tables = (1U << LOG_TABLES) - 1;
	if (command.follow && !command.has_since &&
	    (optind == argc || strcmp(argv[optind], "-") != 0)) {
		command.has_since = true;
		command.since = (int64_t)time(NULL) * US_PER_S;
	}
#ifdef WITHOUT_JANSSON
	if (command.json) {
		complain(&command, "--json", "built without jansson");
		return 1;
	}
#endif
	find_files(&command, argc - optind, argv + optind);
	read_files(&command);
	if (command.journal)
		read_journal(&command);
	if (command.untimed > 0 && !command.follow)
		fprintf(
		    stderr,
		    "retrybudget: logs: left out for want of a time, which --since needs: %" PRId64
		    " of the records\n",
		    command.untimed);
	if (command.journal && !command.follow && command.sums.records == 0)
		fputs("retrybudget: logs: the journal has none; records go where [log] says, and "
		      "those that nobody takes 'retrybudget stat PID' counts as lost\n",
		      stderr);
	if (!command.follow && !print(&command))
		command.failed = true;
	log_files_free(&command.files);
	log_sums_free(&command.sums);
	return fflush(stdout) != 0 || command.failed;
}
