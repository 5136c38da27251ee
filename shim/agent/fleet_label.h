/* SPDX-License-Identifier: MIT */
/* What a round and the replies of its ledgers do to one label. */
#ifndef RETRYBUDGET_AGENT_FLEET_LABEL_H
#define RETRYBUDGET_AGENT_FLEET_LABEL_H

#include "agent/fleet.h"

/* The cells of a label get their part of what is held now: ns, as fleet_now() says. */
void fleet_lend(struct fleet_label *label, int64_t now);

/* Sets what a label is up to, with a record where it is something else. */
void fleet_set_word(struct fleet_label *label, enum fleet_word word);

/* As it stands in records and in what fleet_print() prints. */
const char *fleet_word(enum fleet_word word);

/* ns, CLOCK_BOOTTIME: it goes on while the machine sleeps, as leases do. */
int64_t fleet_now(void);

#endif
