/* SPDX-License-Identifier: MIT */
/* Whether the sections of a scenario fit together: mistakes that no line alone shows. */
#include "tool/sim_fits.h"

static bool is_there(const struct sim_scenario *scenario, const char *of, const char *name,
                     struct text *why)
{
	if (sim_server_named(scenario, name) >= 0)
		return true;
	text_string(why, "[");
	text_string(why, of);
	text_string(why, "] names the server '");
	text_string(why, name);
	text_string(why, "', and there is no section [server ");
	text_string(why, name);
	text_string(why, "]; add it, or correct the name");
	return false;
}

/* True if the calls that begin at a server come to an end. */
static bool ends(const struct sim_scenario *scenario, int server)
{
	for (int i = 0; i <= SIM_SERVERS; i++) {
		const char *next = scenario->servers[server].profile.server;

		if (!*next)
			return true;
		server = sim_server_named(scenario, next);
	}
	return false;
}

static bool is_in_order(int64_t first, int64_t then, const char *message, struct text *why)
{
	if (first <= then)
		return true;
	text_string(why, message);
	return false;
}

static bool clients_fit(const struct sim_scenario *scenario, const struct sim_clients *clients,
                        struct text *why)
{
	return is_there(scenario, "clients", clients->profile.server, why) &&
	       is_in_order(clients->from, clients->until,
	                   "[clients] end before they begin; make until later than from", why) &&
	       is_in_order(clients->profile.pause.base, clients->profile.pause.cap,
	                   "the pause of [clients] is longer than their longest one; make "
	                   "pause_cap longer than pause",
	                   why) &&
	       is_in_order(clients->spread, clients->loop ? INT64_MAX : 0,
	                   "spread of [clients] is of loops; add loop = on, or leave spread out",
	                   why);
}

static bool server_fits(const struct sim_scenario *scenario, int place, struct text *why)
{
	const struct sim_server *server = &scenario->servers[place];
	const struct sim_profile *profile = &server->profile;

	if (!is_there(scenario, "server", profile->server, why) ||
	    !is_in_order(server->curve == SIM_CURVE_LINEAR ? 1001 : 0, server->collapse,
	                 "collapse_curve = linear falls between the capacity of [server] and its "
	                 "collapse; make collapse more than 1",
	                 why) ||
	    !is_in_order(profile->pause.base, profile->pause.cap,
	                 "the pause of [server] is longer than its longest one; make pause_cap "
	                 "longer than pause",
	                 why) ||
	    !is_in_order(!server->needs, *profile->server != '\0',
	                 "[server] calls nobody whom it could need; add calls, or leave needs out",
	                 why))
		return false;
	if (ends(scenario, place))
		return true;
	text_string(why, "servers call each other in a circle; leave one of the 'calls' out");
	return false;
}

static bool outage_fits(const struct sim_scenario *scenario, const struct sim_outage *outage,
                        struct text *why)
{
	return is_in_order(outage->from, outage->until,
	                   "an [outage] ends before it begins; make its until later than its from",
	                   why) &&
	       is_there(scenario, "outage", outage->server, why);
}

/* What concerns no section with a label. */
static bool frame_fits(const struct sim_scenario *scenario, int *line, struct text *why)
{
	*line = 0;
	if (!scenario->clients_count || !scenario->server_count) {
		text_string(why, "there must be at least one section [clients] and one [server]; "
		                 "add what is missing");
		return false;
	}
	*line = scenario->line;
	if (scenario->duration / scenario->step > SIM_STEPS) {
		text_string(why, "duration is more than 100000 steps; make step longer");
		return false;
	}
	*line = scenario->fleet_line;
	return is_in_order(scenario->fleet.down, scenario->fleet.back,
	                   "the ledger of [fleet] is back before it is down; make back later than "
	                   "down",
	                   why);
}

bool sim_scenario_fits(const struct sim_scenario *scenario, int *line, struct text *why)
{
	if (!frame_fits(scenario, line, why))
		return false;
	for (int i = 0; i < scenario->clients_count; i++) {
		*line = scenario->clients[i].line;
		if (!clients_fit(scenario, &scenario->clients[i], why))
			return false;
	}
	for (int i = 0; i < scenario->outage_count; i++) {
		*line = scenario->outages[i].line;
		if (!outage_fits(scenario, &scenario->outages[i], why))
			return false;
	}
	for (int i = 0; i < scenario->server_count; i++) {
		*line = scenario->servers[i].line;
		if (!server_fits(scenario, i, why))
			return false;
	}
	return true;
}
