/* SPDX-License-Identifier: MIT */
/* retrybudget fleet: what many hosts share, asked of the servers that lend it. */
#include "config/read.h"
#include "tool/fleet_ask.h"
#include "tool/fleet_differs.h"
#include "tool/fleet_json.h"
#include "tool/fleet_local.h"
#include "tool/fleet_print.h"
#include "tool/fleet_set.h"
#include "tool/options.h"
#include "tool/tell.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define PORT 9465 /* of retrybudgetd */

static const char usage[] =
    "usage: retrybudget fleet\n"
    "       retrybudget fleet show LABEL\n"
    "       retrybudget fleet set LABEL [KEY=VALUE...]\n"
    "       retrybudget fleet forget LABEL\n"
    "\n"
    "One budget of many hosts, as [fleet] in the configuration file says: what each label\n"
    "may send at most, what is leased, the news, and what the daemon of this host says of\n"
    "it; with show, which host was leased what. set gives a label its rule, in the keys\n"
    "capacity, floor, fleet_reserve, probe, fleet_n_max and lease of retrybudget(5): what is\n"
    "not said of the first two is as in the rule that holds, of the others as in the file.\n"
    "forget takes the rule away.\n"
    "\n";

static const char after[] = "\n"
			    "Exit status: 0, 1 if a server cannot be asked, 2 for a wrong usage.\n";

#ifndef WITHOUT_HIREDIS
struct asking {
	const char *file, *user, *password_file, *label;
	int port;
	bool wants_json;
	struct json_t *json;  /* what is printed at the end */
	struct config config; /* large */
	struct fleet_server servers[SERVERS_MOST];
	size_t server_count;
};

static bool read_file(struct asking *asking)
{
	static char who[] = "retrybudget: fleet";
	const char *list;

	if (config_read(&asking->config, asking->file, false, tell, who) < 0)
		return false;
	list = asking->config.fleet.redis;
	while (asking->server_count < SERVERS_MOST &&
	       server_next(&list, &asking->servers[asking->server_count].at))
		asking->server_count++;
	if (asking->server_count == 0)
		fprintf(stderr, "retrybudget: fleet: %s has no [fleet] redis = HOST:PORT\n",
		        asking->file);
	return asking->server_count > 0;
}

/* The server of a label, asked for the first time or not; NULL, told: it cannot be. */
static struct fleet_server *server_of(struct asking *asking, const char *label)
{
	struct fleet_server *server = &asking->servers[wire_server(label, asking->server_count)];
	const char *user = asking->password_file ? asking->user : "";

	if (server->is_dead)
		return NULL;
	if (server->context ||
	    fleet_ask_open(server, user, asking->password_file ? asking->password_file : ""))
		return server;
	server->is_dead = true;
	return NULL;
}

static int policy_named(const struct config *config, const char *label)
{
	for (int i = 0; i < config->policy_count; i++)
		if (config->policies[i].leased && strcmp(config->labels[i], label) == 0)
			return i;
	return -1;
}

static int policy_of(const struct asking *asking)
{
	const int policy = policy_named(&asking->config, asking->label);

	if (policy >= 0)
		return policy;
	fprintf(stderr, "retrybudget: fleet: %s has no [destination %s] with fleet = on\n",
	        asking->file, asking->label);
	return -1;
}

/* What the ledger shows of itself: FLEET_SHOWN, or 0 without a rule, or -1, told. */
static int look(struct asking *asking, struct fleet_server *server, const char *label,
                int64_t *numbers)
{
	struct wire_call call;

	if (!wire_begin(&call, "retrybudget_1_show", asking->config.fleet.prefix, NULL, label))
		return -1;
	return fleet_ask(server, &call, numbers, FLEET_SHOWN);
}

/* What was asked of a ledger; count -1: it was not answered. NULL or its object. */
static struct json_t *tell_ledger(struct asking *asking, const char *label,
                                  const struct fleet_server *server, const int64_t *numbers,
                                  int count)
{
	const int policy = policy_named(&asking->config, label);
	const struct fleet_rule rule = { numbers[0], numbers[1], numbers[2], numbers[3],
		                         numbers[4], numbers[5], numbers[6] };
	char keys[FLEET_DIFFERS] = "";
	const bool differs = count == FLEET_SHOWN && policy >= 0 &&
	                     fleet_differs(&rule, &asking->config.policies[policy], keys);

	if (asking->json)
		return fleet_json_ledger(asking->json, label, server, numbers, count, keys);
	if (count < 0)
		return NULL;
	fleet_print_ledger(label, server, numbers, count);
	if (differs)
		printf("  differs %s in %s is not as in the rule: the bound holds only where files "
		       "say what the rule says\n",
		       keys, asking->file);
	return NULL;
}

static int show_all(struct asking *asking)
{
	int64_t numbers[FLEET_SHOWN];
	int status = 0;

	for (int i = 0; i < asking->config.policy_count; i++) {
		const char *label = asking->config.labels[i];
		struct fleet_server *server;
		int count;

		if (!asking->config.policies[i].leased)
			continue;
		memset(numbers, 0, sizeof(numbers));
		server = server_of(asking, label);
		count = server ? look(asking, server, label, numbers) : -1;
		if (count < 0)
			status = 1;
		(void)tell_ledger(asking, label,
		                  &asking->servers[wire_server(label, asking->server_count)],
		                  numbers, count);
	}
	if (asking->json) {
		fleet_json_local(asking->json, asking->port);
		return status;
	}
	puts("this host");
	fleet_local_print(asking->port, stdout);
	return fflush(stdout) ? 1 : status;
}

static int show(struct asking *asking)
{
	int64_t numbers[FLEET_SHOWN] = { 0 };
	struct fleet_server *server = server_of(asking, asking->label);
	int count = server ? look(asking, server, asking->label, numbers) : -1;
	const char *prefix = asking->config.fleet.prefix;
	struct json_t *object;
	bool good = true;

	if (count < 0)
		return 1;
	object = tell_ledger(asking, asking->label, server, numbers, count);
	if (count == FLEET_SHOWN && object)
		good = fleet_json_hosts(object, server, prefix, asking->label, numbers[SHOWN_TIME]);
	else if (count == FLEET_SHOWN)
		good = fleet_print_hosts(server, prefix, asking->label, numbers[SHOWN_TIME]);
	return good && fflush(stdout) == 0 ? 0 : 1;
}

static int set(struct asking *asking, char **words, int count)
{
	const int policy = policy_of(asking);
	int64_t numbers[FLEET_SHOWN] = { 0 };
	struct fleet_server *server = policy >= 0 ? server_of(asking, asking->label) : NULL;
	struct fleet_rule before, rule;
	struct wire_call call;

	if (!server || look(asking, server, asking->label, numbers) < 0)
		return 1;
	before = (struct fleet_rule) { numbers[0], numbers[1], numbers[2], numbers[3],
		                       numbers[4], numbers[5], numbers[6] };
	if (!fleet_set_rule(&asking->config, policy, &before, words, count, &rule))
		return EXIT_USAGE;
	if (!wire_begin(&call, "retrybudget_1_set", asking->config.fleet.prefix, NULL,
	                asking->label))
		return 1;
	wire_rule(&call, &rule);
	wire_number(&call, before.generation);
	if (fleet_ask(server, &call, numbers, 1) != 1)
		return 1;
	if (numbers[0] != rule.generation) {
		fprintf(stderr,
		        "retrybudget: fleet: somebody else has set rule %" PRId64
		        " at the same time, or a host has restored it; look at it, and say it "
		        "again\n",
		        numbers[0]);
		return 1;
	}
	fleet_ask_copied(server);
	printf("%s: rule %" PRId64 " holds: ", asking->label, rule.generation);
	fleet_print_rule(&rule, stdout);
	printf("\n");
	fleet_set_tell(&rule, asking->config.fleet.sync);
	return fflush(stdout) ? 1 : 0;
}

static int forget(struct asking *asking)
{
	struct fleet_server *server = server_of(asking, asking->label);
	struct wire_call call;
	int64_t done;

	if (!server ||
	    !wire_begin(&call, "retrybudget_1_forget", asking->config.fleet.prefix, NULL,
	                asking->label) ||
	    fleet_ask(server, &call, &done, 1) != 1)
		return 1;
	fleet_ask_copied(server);
	printf(
	    "%s: no rule: hosts keep what they hold until it runs out, and then have their part of "
	    "the reserve\n",
	    asking->label);
	return fflush(stdout) ? 1 : 0;
}

/* What says what there is, in either form. */
static int show_what_is(struct asking *asking)
{
	int status;

	if (!read_file(asking))
		return 1;
	if (asking->wants_json && !(asking->json = fleet_json_begin())) {
		fputs("retrybudget: fleet: built without jansson\n", stderr);
		return 1;
	}
	status = asking->label ? show(asking) : show_all(asking);
	return asking->json && !fleet_json_end(asking->json) ? 1 : status;
}

static int carry_out(struct asking *asking, int count, char **words)
{
	const char *act = count > 0 ? words[0] : "";

	asking->label = count > 1 ? words[1] : NULL;
	if (count == 0 || (count == 2 && strcmp(act, "show") == 0))
		return show_what_is(asking);
	if (asking->wants_json)
		return options_usage("fleet", usage, after, stderr);
	if (count == 2 && strcmp(act, "forget") == 0)
		return read_file(asking) ? forget(asking) : 1;
	if (count >= 2 && strcmp(act, "set") == 0)
		return read_file(asking) ? set(asking, words + 2, count - 2) : 1;
	return options_usage("fleet", usage, after, stderr);
}

/* 0: it is none. */
static int port_of(const char *text)
{
	char *rest;
	const long port = strtol(text, &rest, 10);

	return *rest == '\0' && port > 0 && port <= UINT16_MAX ? (int)port : 0;
}

static bool take_option(struct asking *asking, const char *name)
{
	if (strcmp(name, "config") == 0)
		asking->file = optarg;
	else if (strcmp(name, "user") == 0)
		asking->user = optarg;
	else if (strcmp(name, "password-file") == 0)
		asking->password_file = optarg;
	else if (strcmp(name, "json") == 0)
		asking->wants_json = true;
	else if (strcmp(name, "port") == 0)
		asking->port = port_of(optarg);
	return asking->port > 0;
}

int cmd_fleet(int argc, char **argv)
{
	static struct asking asking = { .user = "retrybudget-admin", .port = PORT };
	const char *named = getenv("RETRYBUDGET_CONFIG");
	struct option list[OPTIONS_MAX];
	int letter, index = 0, status;

	asking.file = named && *named ? named : CONFIG_SYSTEM_FILE;
	options_of("fleet", list);
	while ((letter = getopt_long(argc, argv, "c:h", list, &index)) != -1) {
		if (letter == 'h')
			return options_usage("fleet", usage, after, stdout);
		if (letter == '?' ||
		    !take_option(&asking, letter == 'c' ? "config" : list[index].name))
			return options_usage("fleet", usage, after, stderr);
	}
	status = carry_out(&asking, argc - optind, argv + optind);
	for (size_t i = 0; i < asking.server_count; i++)
		fleet_ask_close(&asking.servers[i]);
	return status;
}
#else
int cmd_fleet(int argc, char **argv)
{
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return options_usage("fleet", usage, after, stdout);
	fputs("retrybudget: fleet: built without hiredis\n", stderr);
	return 1;
}
#endif
