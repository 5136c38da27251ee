/* SPDX-License-Identifier: MIT */
/* retrybudget set and reload: what running processes are to do from now on. */
#include "config/value_words.h"
#include "tool/ask.h"
#include "tool/options.h"
#include "tool/stat_facts.h"
#include "tool/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_NOT_YET 3
#define WAIT_LONGEST 600

static const char set_usage[] =
    "usage: retrybudget set [--wait SECONDS] PID|PROG mode=MODE\n"
    "\n"
    "Changes the mode of a running process, or of all of a program: enforce; observe, which\n"
    "counts and logs, and throttles nothing; off, which lets everything through and judges\n"
    "nothing; or file: what the configuration says. It holds until the next set, over the\n"
    "file and the environment. Processes that share a budget share it.\n"
    "\n";

static const char reload_usage[] =
    "usage: retrybudget reload [--wait SECONDS] PID|PROG\n"
    "\n"
    "Has a running process, or all of a program, read its configuration file now, whether it\n"
    "has changed or not. What was set by 'retrybudget set' stays.\n"
    "\n";

static const char after[] =
    "\n"
    "A process takes it at its next call that might be throttled, and at the latest before\n"
    "it throttles anything. Only its user and root may ask.\n"
    "\n"
    "Exit status: 0 if all have taken it, 3 if some have not yet, 1 if it cannot be done,\n"
    "2 for a wrong usage.\n";

struct command {
	const char *name, *usage;
	struct asking asking;
	double wait;
};

static int say_usage(const struct command *command, FILE *out)
{
	return options_usage(command->name, command->usage, after, out);
}

static bool take_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	return end != text && *end == '\0' && *seconds >= 0 && *seconds <= WAIT_LONGEST;
}

static void take_process(const char *text, struct asking *asking)
{
	asking->pid = process_number(text);
	if (!asking->pid)
		asking->program = text;
}

static bool take_mode(const char *text, struct steering_request *request)
{
	static const char key[] = "mode=";

	if (strncmp(text, key, sizeof(key) - 1) != 0)
		return false;
	text += sizeof(key) - 1;
	if (strcmp(text, "file") == 0) {
		request->mode = STEERING_AS_IN_FILE;
		return true;
	}
	return word_parse(TYPE_MODE, text, &request->mode);
}

static void print_who(const struct asked *asked)
{
	if (asked->count > 1)
		printf("%s[%d+%zu]: ", asked->program, (int)asked->members[0].pid,
		       asked->count - 1);
	else
		printf("%s[%d]: ", asked->program, (int)asked->members[0].pid);
}

static void print_answer(const struct command *command, const struct asked *asked)
{
	const char *mode = stat_mode(asked->mode);

	switch (asked->answer) {
	case STEERING_TAKEN:
	case STEERING_FLAWED:
	case STEERING_UNREAD:
	case STEERING_ABSENT:
		break;
	case STEERING_REFUSED:
	default:
		printf("its library (%s) does not know this request: use that version's own "
		       "command\n",
		       asked->version);
		return;
	}
	if (!command->asking.request.reload)
		printf("mode is %s", mode ? mode : "?");
	else if (asked->answer == STEERING_TAKEN)
		printf("has read %s again", asked->config);
	else if (asked->answer == STEERING_FLAWED)
		printf("has read %s again, and some lines are wrong: retrybudget check says which",
		       asked->config);
	else if (asked->answer == STEERING_ABSENT)
		printf("has no configuration file to read: there is no %s, and the built-in "
		       "defaults stay",
		       asked->config);
	else
		printf("cannot use %s: what was in force stays; retrybudget check says why",
		       asked->config);
	if (asked->takers < asked->count)
		printf("; taken by %u of %zu processes, the others come to it at their next call "
		       "that might be throttled",
		       (unsigned int)asked->takers, asked->count);
	putchar('\n');
}

/* One family's line; the exit status it asks for. */
static int report(const struct command *command, const struct asked *asked)
{
	if (asked->state == ASKED_FOREIGN || asked->state == ASKED_UNREADABLE)
		fflush(stdout);
	switch (asked->state) {
	case ASKED_WRITTEN:
		print_who(asked);
		puts("not taken yet: it will be at its next call that might be throttled");
		return EXIT_NOT_YET;
	case ASKED_ANSWERED:
		print_who(asked);
		print_answer(command, asked);
		if (asked->answer != STEERING_TAKEN && asked->answer != STEERING_ABSENT)
			return 1;
		return asked_all(asked) ? 0 : EXIT_NOT_YET;
	case ASKED_OVERWRITTEN:
		print_who(asked);
		puts("somebody else has asked for something meanwhile, which holds");
		return 1;
	case ASKED_ENDED:
		printf("%s: ended meanwhile\n", asked->program);
		return 1;
	case ASKED_FOREIGN:
		fprintf(stderr,
		        "retrybudget: %s: %s[%d] is another user's, or shares its budget with "
		        "other users': only root may ask\n",
		        command->name, asked->program, (int)asked->members[0].pid);
		return 1;
	case ASKED_UNREADABLE:
	default:
		fprintf(stderr, "retrybudget: %s: %s[%d] %s\n", command->name, asked->program,
		        (int)asked->members[0].pid, asked->sentence);
		return 1;
	}
}

static int carry_out(struct command *command)
{
	struct asking *asking = &command->asking;
	int result = 0;

	if (!ask(asking)) {
		fprintf(stderr, "retrybudget: %s: cannot look at processes: %s\n", command->name,
		        strerror(errno));
		ask_free(asking);
		return 1;
	}
	if (asking->count == 0) {
		fprintf(stderr, "retrybudget: %s: %s%s\n", command->name,
		        asking->pid ? process_missed(asking->pid)
		                    : "no such program runs under the library",
		        !asking->pid && asking->unreadable
		            ? ", or it is another user's: only its user and root may ask"
		            : "");
		return 1;
	}
	ask_await(asking, command->wait);
	for (size_t i = 0; i < asking->count; i++) {
		int one = report(command, &asking->list[i]);

		if (one == 1 || result == 0)
			result = one;
	}
	ask_free(asking);
	return fflush(stdout) ? 1 : result;
}

/* operands: how many there must be. -1: go on, else the exit status. */
static int read_options(struct command *command, int argc, char **argv, int operands)
{
	struct option list[OPTIONS_MAX];
	int letter;

	command->wait = 2;
	options_of(command->name, list);
	while ((letter = getopt_long(argc, argv, "h", list, NULL)) != -1) {
		if (letter == 'h')
			return say_usage(command, stdout);
		if (letter != OPTION_WAIT)
			return say_usage(command, stderr);
		if (!take_seconds(optarg, &command->wait)) {
			fprintf(stderr, "retrybudget: %s: --wait takes 0 to %d seconds\n",
			        command->name, WAIT_LONGEST);
			return EXIT_USAGE;
		}
	}
	if (argc - optind != operands)
		return say_usage(command, stderr);
	take_process(argv[optind], &command->asking);
	return -1;
}

int cmd_set(int argc, char **argv)
{
	struct command command = { .name = "set", .usage = set_usage };
	int result = read_options(&command, argc, argv, 2);

	if (result >= 0)
		return result;
	if (!take_mode(argv[optind + 1], &command.asking.request)) {
		fprintf(stderr,
		        "retrybudget: set: '%s' is not one of: mode=enforce | mode=observe | "
		        "mode=off | mode=file\n",
		        argv[optind + 1]);
		return EXIT_USAGE;
	}
	return carry_out(&command);
}

int cmd_reload(int argc, char **argv)
{
	struct command command = { .name = "reload",
		                   .usage = reload_usage,
		                   .asking = { .request = { .reload = true }, .keep_mode = true } };
	int result = read_options(&command, argc, argv, 1);

	return result >= 0 ? result : carry_out(&command);
}
