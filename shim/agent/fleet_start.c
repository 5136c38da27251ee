/* SPDX-License-Identifier: MIT */
/* Begins and ends this host's part of a fleet's budget, as the file says. */
#include "agent/fleet_start.h"

#include "agent/fleet_label.h"
#include "budget/lease_cell.h"
#include "config/match.h"
#include "config/read.h"
#include "sys/random.h"
#include "tool/tell.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define LIFE_BITS      52 /* a double holds it */
#define DEFAULT_CONFIG "/etc/retrybudget.ini"

/* The server that keeps a label's ledger is of that label: its retries would be lent by itself. */
static bool is_itself(const struct fleet_label *label)
{
	const struct config *config = &label->fleet->config;
	const struct server *server = &label->link->server;
	char path[sizeof(server->host) + 8];
	uint8_t address[16] = { [10] = 0xff, [11] = 0xff };
	struct target target = { .name = server->host, .port = server->port };
	int pattern;

	if (server->port == 0) {
		snprintf(path, sizeof(path), "unix:%s", server->host);
		target.name = path;
	} else if (inet_pton(AF_INET, server->host, address + 12) == 1 ||
	           inet_pton(AF_INET6, server->host, address) == 1) {
		target.address = address;
		target.name = NULL;
	}
	pattern = pattern_find(config, &target);
	return pattern >= 0 &&
	       strcmp(config->labels[config->patterns[pattern].policy], label->label) == 0;
}

static void start_label(struct fleet *fleet, struct fleet_label *label, const char *name)
{
	*label = (struct fleet_label) {
		.fleet = fleet,
		.link = &fleet->links[wire_server(name, fleet->link_count)],
	};
	asker_begin(&label->asker, (int64_t)(random_next(&fleet->random) >> (64 - LIFE_BITS)) | 1,
	            fleet->config.fleet.sync, random_next(&fleet->random));
	memcpy(label->label, name, sizeof(label->label));
	if (is_itself(label))
		fleet_set_word(label, FLEET_SELF);
}

/* Its name, and what tells it from others of that name. */
static void name_host(struct fleet *fleet, const char *host)
{
	char name[48] = "", id[64] = "";
	FILE *file;

	if (host) {
		snprintf(fleet->host, sizeof(fleet->host), "%s", host);
	} else {
		(void)gethostname(name, sizeof(name) - 1);
		file = fopen("/etc/machine-id", "re");
		if (file) {
			(void)!fgets(id, sizeof(id), file);
			fclose(file);
		}
		snprintf(fleet->host, sizeof(fleet->host), "%s-%08x", name,
		         (unsigned int)(lease_label(id) & UINT32_MAX));
	}
	for (char *at = fleet->host; *at; at++)
		if (*at <= ' ' || *at > '~' || *at == '{' || *at == '}')
			*at = '_';
}

static bool start_links(struct fleet *fleet)
{
	const char *list = fleet->config.fleet.redis;
	struct server server;

	while (fleet->link_count < SERVERS_MOST && server_next(&list, &server)) {
		struct fleet_link *link = &fleet->links[fleet->link_count++];

		*link = (struct fleet_link) { .server = server,
			                      .settings = &fleet->config.fleet,
			                      .base = fleet->base,
			                      .random = random_next(&fleet->random) };
	}
	return fleet->link_count > 0;
}

bool fleet_start(struct fleet *fleet, struct event_base *base, const char *file, const char *host,
                 bool *is_wanted)
{
	static char who[] = "retrybudgetd";
	struct timeval soon = { 0 };

	*is_wanted = false;
	*fleet = (struct fleet) { .base = base };
	if (config_read(&fleet->config, file ? file : DEFAULT_CONFIG, !file, tell, who) < 0)
		return true;
	if (getentropy(&fleet->random, sizeof(fleet->random)) < 0)
		fleet->random = (uint64_t)fleet_now() ^ (uint64_t)getpid() << 32;
	name_host(fleet, host);
	if (!start_links(fleet))
		return true;
	fleet->labels = calloc(CONFIG_POLICIES, sizeof(*fleet->labels));
	fleet->timer = event_new(base, -1, 0, fleet_tick, fleet);
	if (!fleet->labels || !fleet->timer || !demand_start(&fleet->demand, &fleet->config)) {
		fprintf(stderr, "retrybudgetd: no memory for the fleet\n");
		return false;
	}
	for (size_t i = 0; i < fleet->demand.label_count; i++)
		start_label(fleet, &fleet->labels[fleet->label_count++],
		            fleet->demand.labels[i].label);
	if (fleet->label_count == 0)
		return true;
	for (size_t i = 0; i < fleet->link_count; i++)
		if (!link_start(&fleet->links[i]))
			return false;
	*is_wanted = true;
	soon.tv_usec = random_upto(&fleet->random, 200000);
	return event_add(fleet->timer, &soon) == 0;
}

void fleet_end(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->link_count; i++)
		link_end(&fleet->links[i]);
	if (fleet->timer)
		event_free(fleet->timer);
	demand_end(&fleet->demand);
	free(fleet->labels);
	fleet->labels = NULL;
	fleet->label_count = fleet->link_count = 0;
}
