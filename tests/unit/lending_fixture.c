/* SPDX-License-Identifier: MIT */
/* The daemon's own code, over the regions of lending_fixture.h. */
/* Instead of the processes of this machine. */
#define chunk_file_open   forged_chunk_open
#define families_read     forged_visit
#define region_file_open  forged_open
#define region_file_read  forged_read
#define region_file_write forged_write
#define region_file_close forged_close
#define process_lives     forged_lives
#include "budget_fixture.h"
#include "config/keys.h"
#include "region/region.h"
#include "sys/random.h"
#include "tool/family.h"

#include <errno.h>

#include "../../shim/agent/demand_cells.c"
#include "../../shim/agent/demand_wants.c"
#include "../../shim/agent/host_demand.c"
#include "../../shim/agent/last_look.c"
#include "../../shim/agent/lending.c"
#include "../../shim/agent/sightings.c"

#include "lending_fixture.h"

struct region *regions[REGIONS];
static struct chunk *chunks[REGIONS]; /* that each has grown by: the second slot is there */
struct process owners[REGIONS];
enum snapshot_state opens[REGIONS];
bool ended[REGIONS];
bool by_address;
bool torn;
int readable;
uint64_t dice;
int64_t spent_in_all, probed_in_all;
int chance;
static struct config config;
struct demand demand;
int64_t boot;

struct chunk *chunk_of(int region, int slot)
{
	return slot == 0 ? &regions[region]->first : chunks[region];
}

struct destination *slot_of(int region, int slot)
{
	return &chunk_of(region, slot)->destinations[7];
}

static void spend_somewhere(void)
{
	struct destination *of =
	    slot_of((int)random_upto(&dice, REGIONS - 1), (int)random_upto(&dice, SLOTS - 1));

	if (random_upto(&dice, 99) >= chance)
		return;
	if (random_upto(&dice, 3) == 0)
		probed_in_all += lease_probe(&of->budget.lease, lease_label(LABEL), boot);
	else if (lease_spend(&of->budget.lease, lease_label(LABEL), 1000, boot) > 0)
		spent_in_all += 1000;
}

bool forged_visit(const struct family_reader *reader, void *arg, size_t *unreadable)
{
	*unreadable = 0;
	for (int i = 0; i < REGIONS; i++) {
		if (i == readable)
			return false;
		static struct snapshot snapshot;
		static struct destination found[SLOTS];
		static uint32_t slots[SLOTS] = { 7, REGION_CHUNK + 7 };
		struct family family = { &owners[i], 1, &snapshot, false };

		snapshot = (struct snapshot) { .state = opens[i],
			                       .region = regions[i],
			                       .destinations = found,
			                       .slots = slots };
		for (int s = 0; s < SLOTS; s++) {
			struct destination *next = &found[snapshot.slot_count];

			memcpy(next, slot_of(i, s), sizeof(*next));
			snapshot.slot_count += reader->keeps(&family, slots[s], next, arg);
		}
		reader->visit(&family, &snapshot, arg);
		spend_somewhere();
	}
	return true;
}

enum snapshot_state forged_open(const struct process *process, const struct mapping *mapping,
                                bool for_writing, struct region_file *file)
{
	(void)mapping;
	(void)for_writing;
	spend_somewhere();
	*file = (struct region_file) { .pid = process->pid,
		                       .fd = by_address ? -1 : 1,
		                       .at = regions[process->pid - 1] };
	return opens[process->pid - 1];
}

enum snapshot_state forged_chunk_open(const struct process *process, const struct mapping *mapping,
                                      const struct chunk_name *name, bool for_writing,
                                      struct region_file *file)
{
	(void)mapping;
	(void)for_writing;
	spend_somewhere();
	cr_assert(name->number == 1 && name->said == process->pid + 100);
	*file =
	    (struct region_file) { .pid = process->pid, .fd = 1, .at = chunks[process->pid - 1] };
	return opens[process->pid - 1];
}

enum snapshot_state forged_read(const struct region_file *file, size_t offset, void *out, size_t n)
{
	memcpy(out, (char *)file->at + offset, n);
	spend_somewhere();
	return SNAPSHOT_GOOD;
}

enum snapshot_state forged_write(const struct region_file *file, size_t offset, const void *bytes,
                                 size_t n)
{
	spend_somewhere();
	memcpy((char *)file->at + offset, bytes, torn ? n / 2 : n);
	spend_somewhere();
	if (!torn)
		return SNAPSHOT_GOOD;
	torn = false;
	return SNAPSHOT_FALSE;
}

void forged_close(struct region_file *file)
{
	file->fd = -1;
}

bool forged_lives(const struct process *process)
{
	return !ended[process->pid - 1];
}

void make(void)
{
	int64_t mono = monotonic();

	for (int i = 0; i < REGIONS; i++) {
		if (!regions[i]) {
			regions[i] = aligned_alloc(REGION_LINE, sizeof(struct region));
			chunks[i] = aligned_alloc(REGION_LINE, sizeof(struct chunk));
		}
		memset(regions[i], 0, sizeof(struct region));
		memset(chunks[i], 0, sizeof(struct chunk));
		regions[i]->chunks[1] = i + 1 + 100;
		regions[i]->magic = REGION_MAGIC;
		regions[i]->size = sizeof(struct region);
		regions[i]->identity.pid = i + 1;
		owners[i] =
		    (struct process) { .pid = i + 1, .user = i == 0 ? 1 : 2, .region_count = 1 };
		owners[i].regions[0].inode = (uint64_t)i + 1;
		owners[i].regions[0].kind = MAPPING_OWN;
		ended[i] = false;
		opens[i] = SNAPSHOT_GOOD;
		for (int s = 0; s < SLOTS; s++) {
			struct destination *of = slot_of(i, s);

			chunk_of(i, s)->keys[7] = of->named = 100 * i + 2 * s + 1;
			of->used_at = mono;
			strcpy(of->policy, LABEL);
		}
	}
	config_defaults(&config);
	config.policy_count = 2;
	config.policies[1].leased = 1;
	strcpy(config.labels[1], LABEL);
	spent_in_all = probed_in_all = 0;
	by_address = false;
	readable = REGIONS;
	chance = 0;
	dice = 11;
	boot = boottime();
	cr_assert(demand_start(&demand, &config));
}

void look(void)
{
	cr_assert(demand_round(&demand, boot));
}

int64_t lend(int64_t tokens, int64_t probes)
{
	return demand_lend(&demand, LABEL,
	                   &(struct lease_grant) {
			       .until = boot + SECONDS(10), .tokens = tokens, .probes = probes },
	                   boot);
}

void wait_at(int region, int slot)
{
	struct destination *of = slot_of(region, slot);

	of->budget.streak = 3;
	of->budget.wanted_at = monotonic();
}

int64_t left_at(int region, int slot)
{
	struct lease_view view;

	lease_read(&slot_of(region, slot)->budget.lease, lease_label(LABEL), boot, &view);
	return view.left;
}

int64_t held_in_all(void)
{
	int64_t sum = 0;

	for (int i = 0; i < REGIONS; i++)
		for (int s = 0; s < SLOTS; s++)
			sum += left_at(i, s);
	return sum;
}

void end(int region)
{
	ended[region] = true;
	opens[region] = SNAPSHOT_GONE;
}
