/* SPDX-License-Identifier: MIT */
/* Scenarios: the table of their keys, and the setting of one by its name. */
#include "tool/sim_scenario.h"

#include "config/keys.h"
#include "config/units.h"
#include "config/value.h"

#include <stddef.h>
#include <string.h>

#define STRUCT_SCENARIO struct sim_scenario
#undef STRUCT_FLEET /* of the configuration (config/keys.h) */
#define STRUCT_FLEET   struct sim_fleet_rule
#define STRUCT_CLIENTS struct sim_clients
#define STRUCT_SERVER  struct sim_server
#define STRUCT_OUTAGE  struct sim_outage

/* Of scenarios alone; beyond enum value_type. */
#define TYPE_CURVE (TYPE_ERRNO + 1)

static const char *const curves[] = { [SIM_CURVE_STEP] = "step", [SIM_CURVE_LINEAR] = "linear" };

static const struct key keys[] = {
#define KEY(section_, name_, type_, field, min_, max_, initial_, help_)                            \
	{ .name = #name_,                                                                          \
	  .initial = initial_,                                                                     \
	  .help = help_,                                                                           \
	  .min = min_,                                                                             \
	  .max = max_,                                                                             \
	  .offset = offsetof(STRUCT_##section_, field),                                            \
	  .size = sizeof(((STRUCT_##section_ *)0)->field),                                         \
	  .section = SIM_SECTION_##section_,                                                       \
	  .type = TYPE_##type_ },
#include "tool/sim_keys.def"
};

#define KEY_ROWS (sizeof(keys) / sizeof(*keys))

const char *sim_section_name(enum sim_section section)
{
	static const char *const names[] = { "scenario", "fleet", "clients", "server", "outage" };

	return names[section];
}

/* The sections of one kind: the first one's struct, its size, and how many there are. */
static char *sections(struct sim_scenario *scenario, enum sim_section section, size_t *size,
                      int *count)
{
	*count = 1;
	switch (section) {
	case SIM_SECTION_FLEET:
		*size = sizeof(scenario->fleet);
		return (char *)&scenario->fleet;
	case SIM_SECTION_CLIENTS:
		*size = sizeof(scenario->clients[0]);
		*count = scenario->clients_count;
		return (char *)scenario->clients;
	case SIM_SECTION_SERVER:
		*size = sizeof(scenario->servers[0]);
		*count = scenario->server_count;
		return (char *)scenario->servers;
	case SIM_SECTION_OUTAGE:
		*size = sizeof(scenario->outages[0]);
		*count = scenario->outage_count;
		return (char *)scenario->outages;
	default:
		*size = sizeof(*scenario);
		return (char *)scenario;
	}
}

/* As value_store(). */
static bool store(const struct key *key, void *fields, const char *value, struct text *why)
{
	int32_t *field = (int32_t *)(void *)((char *)fields + key->offset);

	if (key->type != TYPE_CURVE)
		return value_store(key, fields, value, why);
	for (int32_t i = 0; i < (int32_t)(sizeof(curves) / sizeof(*curves)); i++)
		if (strcmp(curves[i], value) == 0) {
			*field = i;
			return true;
		}
	text_string(why, key->name);
	text_string(why, " = ");
	text_quoted(why, value, strlen(value));
	text_string(why, " is not one of: step | linear");
	return false;
}

static void fill(void *fields, enum sim_section section)
{
	char unused[64];
	struct text why;

	text_start(&why, unused, sizeof(unused));
	for (size_t i = 0; i < KEY_ROWS; i++)
		if (keys[i].section == section && keys[i].initial)
			(void)store(&keys[i], fields, keys[i].initial, &why);
}

void sim_scenario_start(struct sim_scenario *scenario)
{
	memset(scenario, 0, sizeof(*scenario));
	fill(scenario, SIM_SECTION_SCENARIO);
	fill(&scenario->fleet, SIM_SECTION_FLEET);
}

static int *line_of(void *fields, enum sim_section section)
{
	switch (section) {
	case SIM_SECTION_CLIENTS:
		return &((struct sim_clients *)fields)->line;
	case SIM_SECTION_SERVER:
		return &((struct sim_server *)fields)->line;
	default:
		return &((struct sim_outage *)fields)->line;
	}
}

bool sim_add(struct sim_scenario *scenario, enum sim_section section, const char *label, int line,
             struct text *why)
{
	static const int most[] = { 1, 1, SIM_CLIENTS, SIM_SERVERS, SIM_OUTAGES };
	int *const counts[] = { NULL, NULL, &scenario->clients_count, &scenario->server_count,
		                &scenario->outage_count };
	size_t size;
	int count;
	char *first = sections(scenario, section, &size, &count);

	for (int i = 0; i < count; i++)
		if (strcmp(first + size * (size_t)i, label) == 0) {
			text_string(why, "this section stands already in the file; give it "
			                 "another name");
			return false;
		}
	if (count == most[section]) {
		text_string(why, "there may be ");
		text_decimal(why, most[section]);
		text_string(why, " of these sections; join some");
		return false;
	}
	++*counts[section];
	first += size * (size_t)count;
	memset(first, 0, size);
	strncpy(first, label, SIM_NAME - 1); /* each begins with its name */
	fill(first, section);
	*line_of(first, section) = line;
	return true;
}

static const struct key *key_named(enum sim_section section, const char *name)
{
	for (size_t i = 0; i < KEY_ROWS; i++)
		if (keys[i].section == section && strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

bool sim_key_is_rate(const char *section, const char *name)
{
	for (size_t i = 0; i < KEY_ROWS; i++)
		if (strcmp(sim_section_name(keys[i].section), section) == 0 &&
		    strcmp(keys[i].name, name) == 0)
			return keys[i].type == TYPE_RATE;
	return false;
}

static void no_such_key(enum sim_section section, const char *name, struct text *why)
{
	const struct key *nearest = NULL;
	int best = 4;

	for (size_t i = 0; i < KEY_ROWS; i++) {
		int distance = edit_distance(name, keys[i].name);

		if (keys[i].section == section && distance < best) {
			best = distance;
			nearest = &keys[i];
		}
	}
	text_string(why, "no key ");
	text_quoted(why, name, strlen(name));
	text_string(why, " in [");
	text_string(why, sim_section_name(section));
	text_string(why,
	            nearest ? "]; did you mean '" : "]; 'retrybudget simulate --keys' lists them");
	if (nearest) {
		text_string(why, nearest->name);
		text_string(why, "'?");
	}
}

bool sim_set(struct sim_scenario *scenario, const char *section, const char *label,
             const char *key_name, const char *value, struct text *why)
{
	const struct key *key;
	int kind = 0, count;
	bool found = false;
	size_t size;
	char *first;

	while (kind < SIM_SECTION_COUNT && strcmp(sim_section_name(kind), section) != 0)
		kind++;
	if (kind == SIM_SECTION_COUNT) {
		text_string(why, "no section ");
		text_quoted(why, section, strlen(section));
		text_string(
		    why, "; there are scenario, fleet, clients, server, outage, policy and budget");
		return false;
	}
	key = key_named(kind, key_name);
	if (!key) {
		no_such_key(kind, key_name, why);
		return false;
	}
	first = sections(scenario, kind, &size, &count);
	for (int i = 0; i < count; i++) {
		char *fields = first + size * (size_t)i;

		if (kind >= SIM_SECTION_CLIENTS && *label && strcmp(fields, label) != 0)
			continue;
		if (!found) {
			text_string(why, key->name);
			text_string(why, ": ");
		}
		found = true;
		if (!store(key, fields, value, why))
			return false;
	}
	if (!found) {
		text_string(why, "there is no section [");
		text_string(why, section);
		text_string(why, *label ? " " : "");
		text_string(why, label);
		text_string(why, "]; add one, or leave the line out");
	}
	return found;
}

int sim_server_named(const struct sim_scenario *scenario, const char *name)
{
	for (int i = 0; i < scenario->server_count; i++)
		if (!*name || strcmp(scenario->servers[i].name, name) == 0)
			return i;
	return -1;
}

void sim_print_keys(bool roff, FILE *out)
{
	for (size_t i = 0; i < KEY_ROWS; i++) {
		const struct key *key = &keys[i];

		if (i == 0 || key->section != keys[i - 1].section)
			fprintf(out, roff ? ".PP\n[\\fB%s\\fR]\n" : "[%s]\n",
			        sim_section_name(key->section));
		if (roff)
			fprintf(out, ".TP\n\\fB%s\\fR = %s\n%s.\n", key->name,
			        key->initial ? key->initial : "\\fINAME\\fR", key->help);
		else
			fprintf(out, "%-14s = %-6s  ; %s\n", key->name,
			        key->initial ? key->initial : "NAME", key->help);
	}
}
