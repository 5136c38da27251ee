/* SPDX-License-Identifier: MIT */
/* The daemon without hiredis: no part of a fleet. */
#ifdef WITHOUT_HIREDIS
#include "agent/fleet_start.h"
#include "agent/fleet_tell.h"

bool fleet_start(struct fleet *fleet, struct event_base *base, const char *file, const char *host,
                 bool *is_wanted)
{
	(void)base;
	(void)file;
	(void)host;
	*fleet = (struct fleet) { 0 };
	*is_wanted = false;
	return true;
}

void fleet_end(struct fleet *fleet)
{
	(void)fleet;
}

void fleet_print(const struct fleet *fleet, FILE *out)
{
	(void)fleet;
	fputs("state=none reason=\"built without hiredis\"\n", out);
}

void fleet_metrics(const struct fleet *fleet, FILE *out)
{
	(void)fleet;
	(void)out;
}
#else
typedef int fleet_is_there;
#endif
