/* SPDX-License-Identifier: MIT */
/*
 * A scenario: who calls whom, how, and what fails when. Units as in budget/policy.h: times in ns
 * from the beginning, rates in mt per second, shares in ppm.
 */
#ifndef RETRYBUDGET_TOOL_SIM_SCENARIO_H
#define RETRYBUDGET_TOOL_SIM_SCENARIO_H

#include "budget/policy.h"
#include "sys/text.h"

#include <stdbool.h>
#include <stdio.h>

#define SIM_NAME    64
#define SIM_CLIENTS 4
#define SIM_SERVERS 8
#define SIM_OUTAGES 8
#define SIM_STEPS   100000

/* Of whoever calls a server: clients, and servers that call others. */
struct sim_profile {
	char server[SIM_NAME]; /* "": nobody */
	int64_t processes, hosts;
	int64_t tries; /* 0 = without end */
	struct backoff_rule pause;
	int64_t timeout, limit;
	int32_t library, asked, blocks;
};

struct sim_clients {
	char name[SIM_NAME];
	struct sim_profile profile;
	int64_t rate, from, until, spread;
	int32_t loop, even;
	int line; /* of its section in the file; 0: it stands in none */
};

/* What a server can do between its capacity and its collapse. */
enum sim_curve {
	SIM_CURVE_STEP,   /* all of it */
	SIM_CURVE_LINEAR, /* less and less, down to nothing */
};

struct sim_server {
	char name[SIM_NAME];
	struct sim_profile profile; /* towards the one that it calls */
	int64_t capacity, queue, latency, refusal, collapse, admission;
	int32_t lock, needs, curve; /* enum sim_curve */
	int line;
};

struct sim_outage {
	char name[SIM_NAME], server[SIM_NAME];
	int64_t from, until, fails, hangs, slows, flap;
	int32_t lose;
	int line;
};

/* Whose leases the hosts of a policy with fleet = on live by. */
struct sim_fleet_rule {
	int64_t capacity, floor, lease, sync, way, lost, down, back;
	int32_t forgets;
};

struct sim_scenario {
	int64_t duration, step, seed;
	int line, fleet_line; /* of [scenario], and of [fleet] */
	struct sim_fleet_rule fleet;
	int clients_count, server_count, outage_count;
	struct sim_clients clients[SIM_CLIENTS];
	struct sim_server servers[SIM_SERVERS];
	struct sim_outage outages[SIM_OUTAGES];
};

enum sim_section {
	SIM_SECTION_SCENARIO,
	SIM_SECTION_FLEET,
	SIM_SECTION_CLIENTS, /* from here on: sections with a label */
	SIM_SECTION_SERVER,
	SIM_SECTION_OUTAGE,
	SIM_SECTION_COUNT,
};

/* "scenario", "fleet", "clients", "server", "outage". */
const char *sim_section_name(enum sim_section section);

void sim_scenario_start(struct sim_scenario *scenario);

/* Adds a section with that label and the defaults. False, with the reason added to why: there is
 * one already, or no room. */
bool sim_add(struct sim_scenario *scenario, enum sim_section section, const char *label, int line,
             struct text *why);

/* Sets a key in the section with that label, in every one of the kind without. False, with the
 * reason and the remedy added to why, if it cannot be. */
bool sim_set(struct sim_scenario *scenario, const char *section, const char *label, const char *key,
             const char *value, struct text *why);

/* True for a key of a section of that kind whose values are rates. */
bool sim_key_is_rate(const char *section, const char *name);

/* The place of the server of that name, of the first without a name; -1: there is none. */
int sim_server_named(const struct sim_scenario *scenario, const char *name);

/* Prints the keys of a scenario file: for people, or in roff. */
void sim_print_keys(bool roff, FILE *out);

#endif
