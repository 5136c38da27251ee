/* SPDX-License-Identifier: MIT */
/*
 * Leases of the fleet's budget as the daemon of this host writes them into regions: one cell a
 * destination (budget/lease_cell.h says how a cell is read and spent). The daemon copies the cell
 * out of the region, composes the words that are its own, and writes those alone, by pwrite() or
 * process_vm_writev() (tool/region_file.h), whole or torn: it never maps what another user can cut
 * short. Before it writes it looks once more whether the slot still has the name and the policy
 * that the lease is for; where it changes hands in between, the lease is for another destination of
 * the same label, or for nobody.
 *
 * What the daemon reads of a destination, as sums since its slot was made: `lease.spent` and
 * `lease.probed`, what went by leases; tally.retries, the retries that were wanted; tally.avoided,
 * those of them that were throttled; tally.answered[] and tally.failed[], how attempts ended, [0]
 * first tries, [1] retries; `policy`, the label. All of it is a claim of the region's users.
 */
#ifndef RETRYBUDGET_REGION_LEASE_H
#define RETRYBUDGET_REGION_LEASE_H

#include "region/region.h"

/* What one cell gets. Out of range is clamped. */
struct lease_grant {
	int64_t generation; /* of the fleet's rule */
	int64_t until;      /* ns, CLOCK_BOOTTIME, at most LEASE_LONGEST ahead */
	int64_t tokens;     /* mt that may be spent from now on: what was left before is void */
	int64_t probes;     /* likewise */
	int64_t members;    /* cells of this host that share the label, and so its reserve */
	int64_t news_at;    /* ns, CLOCK_BOOTTIME: last success that the fleet knows of; 0 = none */
	int64_t failing;    /* ppm of the fleet's attempts that fail */
	int64_t waiting;    /* hosts of the fleet that want to retry */
};

/* The daemon's words: the first of a cell. */
#define LEASE_BYTES offsetof(struct lease, spent)

/* Where the chunk of a slot begins in its segment: below REGION_CHUNK that is the region's, else
 * one of its own, which tool/chunk_file.h opens. */
static inline size_t chunk_offset(size_t slot)
{
	return slot < REGION_CHUNK ? offsetof(struct region, first) : 0;
}

/* Where the key of a slot lies there, and its cell. */
static inline size_t key_offset(size_t slot)
{
	return chunk_offset(slot) + offsetof(struct chunk, keys) +
	       slot % REGION_CHUNK * sizeof(cell64);
}

static inline size_t lease_offset(size_t slot)
{
	return chunk_offset(slot) + offsetof(struct chunk, destinations) +
	       slot % REGION_CHUNK * sizeof(struct destination) +
	       offsetof(struct destination, budget) + offsetof(struct budget, lease);
}

/* Composes the words of a grant: LEASE_BYTES of *out are to be written to lease_offset(). seen: the
 * cell as it was just read; what is spent after that look is spent of this grant. Pure. */
void lease_compose(struct lease *out, const struct lease *seen, const char *label,
                   const struct lease_grant *grant);

/* What was spent of the last lease when the cell was read, mt, and of its probes: never more than
 * was granted, whatever the region's users claim. Pure. */
int64_t lease_spent(const struct lease *seen);
int64_t lease_probed(const struct lease *seen);

#endif
