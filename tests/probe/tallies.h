/* SPDX-License-Identifier: MIT */
/*
 * What the shim has counted, read by the probe in its own address space: records would be cut off
 * by the thousand, and a success makes none. Nothing is there when the probe runs bare.
 *
 * Lines that begin with '#' tell these numbers; the driver takes them out before it compares.
 */
#ifndef RETRYBUDGET_TESTS_PROBE_TALLIES_H
#define RETRYBUDGET_TESTS_PROBE_TALLIES_H

#include "probe.h"

#include "region/region.h"

/* The region of this process, NULL if it has none: a mapping of its size that begins as it does,
 * whatever it is made of. */
static inline const struct region *own_region(void)
{
	unsigned long size = (sizeof(struct region) + 4095) / 4096 * 4096, from, to;
	FILE *maps = fopen("/proc/self/maps", "re");
	const struct region *region = NULL;
	char line[512], access;

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
		if (sscanf(line, "%lx-%lx %c", &from, &to, &access) == 3 && access == 'r' &&
		    to - from >= size && to - from <= size + 65536 &&
		    ((const struct region *)from)->magic == REGION_MAGIC)
			region = (const struct region *)from;
	if (maps != NULL)
		fclose(maps);
	return region;
}

/* The slot of a destination by the name that records would give it, or NULL. */
static inline const struct destination *slot_named(const struct region *region, const char *name)
{
	for (int i = 0; i < REGION_CHUNK; i++)
		if (region->first.keys[i] != 0 &&
		    strcmp(region->first.destinations[i].name, name) == 0)
			return &region->first.destinations[i];
	return NULL;
}

static inline void tell_tally(const char *who, const struct tally *tally)
{
	printf("# %s: attempts=%ld retries=%ld successes=%ld waited=%ld refused=%ld timeout=%ld "
	       "reset=%ld dropped=%ld failures=%ld\n",
	       who, (long)tally->attempts, (long)tally->retries, (long)tally->successes,
	       (long)tally->held, (long)tally->refused, (long)tally->failures[FAILURE_TIMEOUT],
	       (long)tally->failures[FAILURE_RESET], (long)tally->failures[FAILURE_DROPPED],
	       (long)(tally->failures[1] + tally->failures[2] + tally->failures[3] +
	              tally->failures[4] + tally->failures[5] + tally->failures[6] +
	              tally->failures[7]));
}

/* What was counted for a port of loopback. */
static inline void tell_port(const char *who, uint16_t port)
{
	const struct region *region = own_region();
	const struct destination *slot;
	char name[64];

	if (region == NULL)
		return;
	snprintf(name, sizeof(name), "127.0.0.1:%u", port);
	slot = slot_named(region, name);
	if (slot == NULL) {
		printf("# %s: gone\n", who);
		return;
	}
	tell_tally(who, &slot->tally);
	printf("# %s: streak=%ld\n", who, (long)slot->budget.streak);
}

static inline void tell_all(void)
{
	const struct region *region = own_region();
	struct tally all;

	if (region == NULL)
		return;
	region_sum(region, &all);
	tell_tally("all", &all);
	printf("# all: tokens=%ld faults=%ld\n", (long)(region->process.holding & UINT32_MAX),
	       (long)region->faults);
}

#endif
