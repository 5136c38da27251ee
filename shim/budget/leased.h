/* SPDX-License-Identifier: MIT */
/*
 * How retries draw on a lease of the fleet's budget, where the policy says so: it stands in the
 * place of the strategy (strategy_lease), and of the probe. A retry takes one token, whatever
 * `cost` says, for what the fleet counts is attempts.
 *
 * While there is no lease that lives, this host has its part of a reserve: one token, and one
 * probe, in a period that is so long that all hosts together keep within fleet_reserve, and within
 * one probe in `probe`. Nothing is saved up, and where in its period a host's token lies is drawn
 * anew for each streak: hosts that lose their leases, or their server, in one moment do not come in
 * one moment.
 *
 * Inside this room only. Pure but for the account's cells; thread-safe, async-signal-safe.
 */
#ifndef RETRYBUDGET_BUDGET_LEASED_H
#define RETRYBUDGET_BUDGET_LEASED_H

#include "budget/budget.h"

/* Takes a probe: one of the lease, or, without a lease, this host's own when it falls due. */
bool leased_probe(const struct account *account, int64_t now);

/* ns until a probe could be taken: 0, or INT64_MAX if the lease that lives has none. */
int64_t leased_probe_wait(const struct account *account, int64_t now);

/* ns until a probe may go although the gate is closed: of a lease that lives, one may once nothing
 * went for `probe`; without one, as leased_probe_wait() says. */
int64_t leased_override_wait(const struct account *account, int64_t now);

/* True if there is a lease that lives: retries draw on that, and without it on the reserve. */
bool leased_lives(const struct account *account, int64_t now);

/* True if the destination has answered elsewhere in the fleet since the last attempt here began. */
bool leased_has_news(const struct account *account, int64_t now);

#endif
