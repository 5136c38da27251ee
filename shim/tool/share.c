/* SPDX-License-Identifier: MIT */
/* retrybudget share: budgets that several processes share, by the names that lead to them. */
#include "tool/family.h"
#include "tool/options.h"
#include "tool/share_files.h"
#include "tool/share_json.h"
#include "tool/share_name.h"
#include "tool/share_reset.h"
#include "tool/share_users.h"
#include "tool/stat.h"
#include "tool/stat_lease.h"
#include "tool/stat_text.h"
#include "tool/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define SHOWN 8 /* processes by name */

static const char usage[] =
    "usage: retrybudget share ls [--json]\n"
    "       retrybudget share show [--json] SHARE\n"
    "       retrybudget share reset SHARE [DEST]\n"
    "       retrybudget share rm [--force] SHARE\n"
    "\n"
    "Budgets of scope user and host, which all processes with the same share name have in\n"
    "common: lists them; shows what one holds; fills its budgets and forgets what has failed,\n"
    "of one destination or of all; removes it. SHARE is a NAME, or OWNER/NAME as ls prints it;\n"
    "one of another network namespace ends in + and the number of that.\n"
    "\n";

static const char after[] = "\n"
			    "Processes that have a removed share mapped keep it among themselves, "
			    "and those that start\n"
			    "later share another: hence rm refuses while there are any, unless "
			    "--force.\n"
			    "\n"
			    "Exit status: 0, 1 if it cannot be done, 2 for a wrong usage.\n";

struct command {
	const char *act, *share, *destination;
	bool force, json;
	struct shares found;
	struct processes processes;
};

static int say_usage(FILE *out)
{
	return options_usage("share", usage, after, out);
}

static void take(const struct share *share, struct snapshot *snapshot)
{
	struct region_file file;
	enum snapshot_state state = share_open(share, false, &file);

	if (state != SNAPSHOT_GOOD) {
		*snapshot = (struct snapshot) { .state = state };
		return;
	}
	snapshot_take_file(&file, snapshot);
	region_file_close(&file);
}

static int64_t throttled(const struct tally *tally)
{
	int64_t sum = 0;

	add_to(&sum, LOAD(tally->refused));
	add_to(&sum, LOAD(tally->held));
	return sum;
}

static void list_one(const struct command *command, const struct share *share)
{
	const size_t count = share_users(share, &command->processes);
	struct snapshot snapshot;
	char label[SHARE_LABEL];

	take(share, &snapshot);
	if (command->json) {
		share_json_add(share, &snapshot, &command->processes, count, false);
		return;
	}
	share_label(share, label);
	printf("%-24s %6c %9zu ", label, share->layout, count);
	if (snapshot.state == SNAPSHOT_GOOD)
		printf("%12d %10" PRId64 " %10" PRId64 " %10" PRId64 "\n", snapshot.slot_count,
		       LOAD(snapshot.region->tally.attempts),
		       stat_sum(snapshot.region->tally.failed, 2),
		       throttled(&snapshot.region->tally));
	else
		printf("%s\n", share_sentence(&snapshot));
}

static void tell_closed(const struct command *command)
{
	size_t count = command->found.closed;

	if (count > 0)
		fprintf(stderr,
		        "retrybudget: share: the shares of %zu other user%s may not be looked at: "
		        "root can\n",
		        count, count == 1 ? "" : "s");
}

static int list(const struct command *command)
{
	if (command->json)
		share_json_begin();
	else
		printf("%-24s %6s %9s %12s %10s %10s %10s\n", "SHARE", "LAYOUT", "PROCESSES",
		       "DESTINATIONS", "ATTEMPTS", "FAILED", "THROTTLED");
	for (size_t i = 0; i < command->found.count; i++)
		list_one(command, &command->found.list[i]);
	if (command->json)
		return share_json_end(command->found.closed) ? 0 : 1;
	tell_closed(command);
	return fflush(stdout) ? 1 : 0;
}

static void print_users(const struct command *command, const struct share *share)
{
	size_t shown = 0, count = share_users(share, &command->processes);

	printf("processes: %zu", count);
	for (size_t i = 0; i < command->processes.count && shown < SHOWN; i++) {
		const struct process *one = &command->processes.list[i];

		if (!share_is_mapped(share, one))
			continue;
		printf("%s%s[%d]", shown++ ? ", " : ": ", family_text(one->name, sizeof(one->name)),
		       (int)one->pid);
	}
	puts(shown > 0 && count > shown ? ", ..." : "");
}

static int show(const struct command *command, const struct share *share)
{
	struct snapshot snapshot;
	char label[SHARE_LABEL];

	take(share, &snapshot);
	if (command->json)
		share_json_add(share, &snapshot, &command->processes,
		               share_users(share, &command->processes), true);
	if (snapshot.state != SNAPSHOT_GOOD) {
		fprintf(stderr, "retrybudget: share: %s %s\n", share->path,
		        share_sentence(&snapshot));
		return 1;
	}
	if (command->json)
		return 0;
	share_label(share, label);
	printf("%s: %s, layout %c\n", label, share->path, share->layout);
	print_users(command, share);
	printf("tokens of the share as a whole: %s\n\n", stat_level(&snapshot.region->process));
	printf("%-30s %9s %7s %-11s %9s %8s %9s %8s %9s\n", "DESTINATION", "TOKENS", "STREAK",
	       "LAST", "ATTEMPTS", "RETRIES", "ANSWERED", "FAILED", "THROTTLED");
	for (int i = 0; i < snapshot.slot_count; i++) {
		const struct destination *one = &snapshot.destinations[i];
		int64_t streak = LOAD(one->budget.streak);

		printf("%-30s %9s %7" PRId64 " %-11s %9" PRId64 " %8" PRId64 " %9" PRId64
		       " %8" PRId64 " %9" PRId64 "\n",
		       family_text(one->name, REGION_NAME), stat_budget(one), greater(streak, 0),
		       stat_last(one), LOAD(one->tally.attempts), LOAD(one->tally.retries),
		       stat_sum(one->tally.answered, 2), stat_sum(one->tally.failed, 2),
		       throttled(&one->tally));
	}
	return fflush(stdout) ? 1 : 0;
}

static int reset(const struct command *command, const struct share *share)
{
	struct region_file file;
	struct snapshot failed = { .state = share_open(share, true, &file) };
	const char *why = NULL;
	char label[SHARE_LABEL];
	int cleared;

	share_label(share, label);
	if (failed.state == SNAPSHOT_DENIED) {
		fprintf(stderr, "retrybudget: share: %s: only its owner and root may change it\n",
		        share->path);
		return 1;
	}
	if (failed.state != SNAPSHOT_GOOD) {
		fprintf(stderr, "retrybudget: share: %s %s\n", share->path,
		        share_sentence(&failed));
		return 1;
	}
	cleared = share_reset(&file, command->destination, &why);
	region_file_close(&file);
	if (cleared < 0) {
		fprintf(stderr, "retrybudget: share: %s %s\n", share->path, why);
		return 1;
	}
	if (command->destination && cleared == 0) {
		fprintf(stderr,
		        "retrybudget: share: %s has no destination '%s'; 'retrybudget share show "
		        "%s' lists them\n",
		        label, command->destination, label);
		return 1;
	}
	printf("%s: budgets of %d destination%s are full, and nothing has failed\n", label, cleared,
	       cleared == 1 ? "" : "s");
	return fflush(stdout) ? 1 : 0;
}

static int rm(const struct command *command, const struct share *share)
{
	size_t count = share_users(share, &command->processes);
	char label[SHARE_LABEL];

	share_label(share, label);
	if (count > 0 && !command->force) {
		fprintf(stderr,
		        "retrybudget: share: %zu process%s %s: stop %s first, or give --force, "
		        "to let what runs go on with it\n",
		        count, count == 1 ? " uses" : "es use", label, count == 1 ? "it" : "them");
		return 1;
	}
	if (!share_remove(share)) {
		fprintf(stderr, "retrybudget: share: %s: %s\n", share->path, strerror(errno));
		return 1;
	}
	printf("%s removed\n", share->path);
	return fflush(stdout) ? 1 : 0;
}

/* 0 if its word means some share, of one owner; else the exit status, and why on stderr. */
static int choose(const struct command *command)
{
	const char *owner = NULL;

	for (size_t i = 0; command->found.list && i < command->found.count; i++) {
		const struct share *one = &command->found.list[i];

		if (!share_is(one, command->share))
			continue;
		if (owner && strcmp(owner, one->owner) != 0) {
			fprintf(
			    stderr,
			    "retrybudget: share: %s and %s both have one of that name: say %s/%s\n",
			    owner, one->owner, owner, command->share);
			return EXIT_USAGE;
		}
		owner = one->owner;
	}
	if (owner)
		return 0;
	fprintf(stderr, "retrybudget: share: no share '%s'; 'retrybudget share ls' lists them\n",
	        command->share);
	tell_closed(command);
	return 1;
}

static int carry_out(struct command *command,
                     int (*act)(const struct command *, const struct share *))
{
	int result = choose(command);
	bool first = true;

	if (result)
		return result;
	if (command->json)
		share_json_begin();
	for (size_t i = 0; command->found.list && i < command->found.count; i++) {
		if (!share_is(&command->found.list[i], command->share))
			continue;
		if (!first && !command->json)
			putchar('\n');
		first = false;
		result |= act(command, &command->found.list[i]);
	}
	if (command->json && !share_json_end(command->found.closed))
		result = 1;
	return result;
}

static int look_and_do(struct command *command)
{
	int result;

	if (!shares_find(SHARES_IN, &command->found)) {
		fprintf(stderr, "retrybudget: share: %s: %s\n", SHARES_IN, strerror(errno));
		return 1;
	}
	if (!processes_find(&command->processes, 0)) {
		fprintf(stderr, "retrybudget: share: cannot look at processes: %s\n",
		        strerror(errno));
		shares_free(&command->found);
		return 1;
	}
	if (!command->share)
		result = list(command);
	else
		result = carry_out(command, strcmp(command->act, "show") == 0    ? show
		                            : strcmp(command->act, "reset") == 0 ? reset
		                                                                 : rm);
	processes_free(&command->processes);
	shares_free(&command->found);
	return result;
}

int cmd_share(int argc, char **argv)
{
	static const struct {
		const char *act;
		int least, most; /* words after it */
	} acts[] = { { "ls", 0, 0 }, { "show", 1, 1 }, { "reset", 1, 2 }, { "rm", 1, 1 } };
	struct command command = { 0 };
	struct option list[OPTIONS_MAX];
	int letter, words;

	options_of("share", list);
	while ((letter = getopt_long(argc, argv, "fh", list, NULL)) != -1) {
		if (letter == 'h')
			return say_usage(stdout);
		if (letter == 'f')
			command.force = true;
		else if (letter == OPTION_JSON)
			command.json = true;
		else
			return say_usage(stderr);
	}
	words = argc - optind - 1;
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
		if (words >= acts[i].least && words <= acts[i].most &&
		    strcmp(argv[optind], acts[i].act) == 0)
			command.act = acts[i].act;
	if (!command.act || (command.force && strcmp(command.act, "rm") != 0) ||
	    (command.json && strcmp(command.act, "ls") != 0 && strcmp(command.act, "show") != 0))
		return say_usage(stderr);
	if (command.json && !share_json_built()) {
		fputs("retrybudget: share: built without jansson, hence without --json\n", stderr);
		return EXIT_USAGE;
	}
	command.share = words > 0 ? argv[optind + 1] : NULL;
	command.destination = words > 1 ? argv[optind + 2] : NULL;
	return look_and_do(&command);
}
