/* SPDX-License-Identifier: MIT */
/*
 * How many ask for a destination that fails, where many processes share its budget. A budget's
 * longest delay is meant for one program, to spare the server that program's tries. A crowd has one
 * probe at a time, for which all of its members wait. So the delay of a crowd of n is cut to its
 * n-th part: n times as many probes of all together, which is still less for each member than one
 * program alone costs the server.
 *
 * One word, decided by compare-and-swap. All functions: thread-safe, async-signal-safe, pure. Times
 * in ns. All-zero is valid, as is any bit pattern; a death at any instruction loses one count.
 */
#ifndef RETRYBUDGET_BUDGET_CROWD_H
#define RETRYBUDGET_BUDGET_CROWD_H

#include "sys/arithmetic.h"
#include "sys/cell.h"

#include <stdbool.h>

/* Refusals a second that count as one program: a dozen loops that are held (`hold`), or one that
 * paces itself. A loop that starts a process for each try cannot come as often: one of a process
 * that had only begun counts as CROWD_FRESH, for thirty loops that sleep for a second are many. */
#define CROWD_EACH  50
#define CROWD_FRESH 12
#define CROWD_MOST  20

/* ns: a crowd's delays get no shorter than this by its size; of two probes without a token the
 * second comes no sooner than half of it, which is what jitter leaves of such a delay. */
#define CROWD_LEAST (NS_PER_S / 2)

/* One was refused. fresh: of a process that had only begun. */
void crowd_refused(cell64 *crowd, bool fresh, int64_t now);

/* So many programs ask: 1 to CROWD_MOST. */
int64_t crowd_size(const cell64 *crowd, int64_t now);

#endif
