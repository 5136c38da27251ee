/* SPDX-License-Identifier: MIT */
/* The state of this host's part of a fleet's budget, in words. Without hiredis: fleet_none.c. */
#ifndef RETRYBUDGET_AGENT_FLEET_TELL_H
#define RETRYBUDGET_AGENT_FLEET_TELL_H

#include "agent/fleet.h"

#include <stdio.h>

/* By lines, for `retrybudget fleet`. */
void fleet_print(const struct fleet *fleet, FILE *out);

/* For Prometheus. */
void fleet_metrics(const struct fleet *fleet, FILE *out);

#endif
