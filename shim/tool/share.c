/* SPDX-License-Identifier: MIT */
/* retrybudget share: budgets that several processes share, by the names that lead to them. */
#include "tool/family.h"
#include "tool/options.h"
#include "tool/share_files.h"
#include "tool/share_reset.h"
#include "tool/stat.h"
#include "tool/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define SHOWN 8 /* processes by name */

static const char usage[] =
    "usage: retrybudget share ls\n"
    "       retrybudget share show SHARE\n"
    "       retrybudget share reset SHARE [DEST]\n"
    "       retrybudget share rm [--force] SHARE\n"
    "\n"
    "Budgets of scope user and host, which all processes with the same share name have in\n"
    "common: lists them; shows what one holds; fills its budgets and forgets what has failed,\n"
    "of one destination or of all; removes it. SHARE is a NAME, or OWNER/NAME as ls\n"
    "prints it.\n"
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
	bool force;
	struct shares found;
	struct processes processes;
};

static int say_usage(FILE *out)
{
	return options_usage("share", usage, after, out);
}

static bool maps(const struct process *process, const struct share *share)
{
	for (int i = 0; i < process->region_count; i++)
		if (process->regions[i].kind == MAPPING_SHARED && share->segment >= 0 &&
		    process->regions[i].inode == (uint64_t)share->segment)
			return true;
	return false;
}

static size_t users_of(const struct command *command, const struct share *share)
{
	size_t count = 0;

	for (size_t i = 0; i < command->processes.count; i++)
		count += maps(&command->processes.list[i], share);
	return count;
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
	int64_t refused = LOAD(tally->refused), sum;

	return __builtin_add_overflow(refused, LOAD(tally->held), &sum) ? INT64_MAX : sum;
}

static void list_one(const struct command *command, const struct share *share)
{
	struct snapshot snapshot;
	char label[128];

	take(share, &snapshot);
	(void)snprintf(label, sizeof(label), "%s/%s", share->owner, share->name);
	printf("%-24s %6c %9zu ", label, share->layout, users_of(command, share));
	if (snapshot.state == SNAPSHOT_GOOD)
		printf("%12d %10" PRId64 " %10" PRId64 " %10" PRId64 "\n", snapshot.slot_count,
		       LOAD(snapshot.region->tally.attempts),
		       stat_sum(snapshot.region->tally.failed, 2),
		       throttled(&snapshot.region->tally));
	else
		printf("%s\n", share_sentence(&snapshot));
}

static int list(const struct command *command)
{
	printf("%-24s %6s %9s %12s %10s %10s %10s\n", "SHARE", "LAYOUT", "PROCESSES",
	       "DESTINATIONS", "ATTEMPTS", "FAILED", "THROTTLED");
	for (size_t i = 0; i < command->found.count; i++)
		list_one(command, &command->found.list[i]);
	if (command->found.closed > 0)
		fprintf(stderr,
		        "retrybudget: share: shares of %zu other users were not looked at\n",
		        command->found.closed);
	return fflush(stdout) ? 1 : 0;
}

static void print_users(const struct command *command, const struct share *share)
{
	size_t shown = 0, count = users_of(command, share);

	printf("processes: %zu", count);
	for (size_t i = 0; i < command->processes.count && shown < SHOWN; i++) {
		const struct process *one = &command->processes.list[i];

		if (!maps(one, share))
			continue;
		printf("%s%s[%d]", shown++ ? ", " : ": ", family_text(one->name, sizeof(one->name)),
		       (int)one->pid);
	}
	puts(count > shown ? ", ..." : "");
}

static int show(const struct command *command, const struct share *share)
{
	struct snapshot snapshot;

	take(share, &snapshot);
	if (snapshot.state != SNAPSHOT_GOOD) {
		fprintf(stderr, "retrybudget: share: %s %s\n", share->path,
		        share_sentence(&snapshot));
		return 1;
	}
	printf("%s/%s: %s, layout %c\n", share->owner, share->name, share->path, share->layout);
	print_users(command, share);
	printf("tokens of the share as a whole: %s\n\n", stat_level(&snapshot.region->process));
	printf("%-30s %9s %7s %-11s %9s %8s %9s %8s %9s\n", "DESTINATION", "TOKENS", "STREAK",
	       "LAST", "ATTEMPTS", "RETRIES", "ANSWERED", "FAILED", "THROTTLED");
	for (int i = 0; i < snapshot.slot_count; i++) {
		const struct destination *one = &snapshot.destinations[i];
		int64_t streak = LOAD(one->budget.streak);

		printf("%-30s %9s %7" PRId64 " %-11s %9" PRId64 " %8" PRId64 " %9" PRId64
		       " %8" PRId64 " %9" PRId64 "\n",
		       family_text(one->name, REGION_NAME), stat_budget(one),
		       streak > 0 ? streak : 0, stat_last(one), LOAD(one->tally.attempts),
		       LOAD(one->tally.retries), stat_sum(one->tally.answered, 2),
		       stat_sum(one->tally.failed, 2), throttled(&one->tally));
	}
	return fflush(stdout) ? 1 : 0;
}

static int reset(const struct command *command, const struct share *share)
{
	struct region_file file;
	struct snapshot failed = { .state = share_open(share, true, &file) };
	const char *why = NULL;
	int cleared;

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
		fprintf(
		    stderr,
		    "retrybudget: share: %s/%s has no destination '%s'; 'retrybudget share show "
		    "%s/%s' lists them\n",
		    share->owner, share->name, command->destination, share->owner, share->name);
		return 1;
	}
	printf("%s/%s: budgets of %d destination%s are full, and nothing has failed\n",
	       share->owner, share->name, cleared, cleared == 1 ? "" : "s");
	return fflush(stdout) ? 1 : 0;
}

static int rm(const struct command *command, const struct share *share)
{
	size_t count = users_of(command, share), attached = share_attached(share);

	if (count < attached) /* of other users, or in a namespace that we do not see */
		count = attached;

	if (count > 0 && !command->force) {
		fprintf(stderr,
		        "retrybudget: share: %zu processes use %s/%s: stop them first, or give "
		        "--force, and they keep it among themselves\n",
		        count, share->owner, share->name);
		return 1;
	}
	if (!share_remove(share)) {
		fprintf(stderr, "retrybudget: share: %s: %s\n", share->path, strerror(errno));
		return 1;
	}
	printf("%s removed\n", share->path);
	return fflush(stdout) ? 1 : 0;
}

static int carry_out(struct command *command,
                     int (*act)(const struct command *, const struct share *))
{
	const char *owner = NULL;
	int result = 0;
	bool any = false;

	for (size_t i = 0; command->found.list && i < command->found.count; i++) {
		const struct share *one = &command->found.list[i];

		if (!share_is(one, command->share))
			continue;
		if (owner && strcmp(owner, one->owner) != 0) {
			fprintf(
			    stderr,
			    "retrybudget: share: %s and %s both have one of that name: say %s/%s\n",
			    owner, one->owner, owner, one->name);
			return EXIT_USAGE;
		}
		owner = one->owner;
	}
	for (size_t i = 0; command->found.list && i < command->found.count; i++) {
		if (!share_is(&command->found.list[i], command->share))
			continue;
		if (any)
			putchar('\n');
		any = true;
		result |= act(command, &command->found.list[i]);
	}
	if (any)
		return result;
	fprintf(stderr, "retrybudget: share: no share '%s'; 'retrybudget share ls' lists them\n",
	        command->share);
	return 1;
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
		if (letter != 'f')
			return say_usage(stderr);
		command.force = true;
	}
	words = argc - optind - 1;
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
		if (words >= acts[i].least && words <= acts[i].most &&
		    strcmp(argv[optind], acts[i].act) == 0)
			command.act = acts[i].act;
	if (!command.act || (command.force && strcmp(command.act, "rm") != 0))
		return say_usage(stderr);
	command.share = words > 0 ? argv[optind + 1] : NULL;
	command.destination = words > 1 ? argv[optind + 2] : NULL;
	return look_and_do(&command);
}
