/* SPDX-License-Identifier: MIT */
/* Only to be read: what is left there is spent by nobody, and lent to nobody. */
#include "agent/last_look.h"

#include <sys/resource.h>

/* Others need descriptors too. */
static size_t room(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 0;
	return limit.rlim_cur / 2 < LAST_LOOKS ? (size_t)limit.rlim_cur / 2 : LAST_LOOKS;
}

void last_look_keep(struct last_look *last, uint64_t region, const struct process *process,
                    const struct mapping *mapping)
{
	struct region_file file;

	for (size_t i = 0; i < last->count; i++)
		if (last->list[i].region == region) {
			last->list[i].is_kept = true;
			return;
		}
	if (last->count >= room() ||
	    region_file_open(process, mapping, false, &file) != SNAPSHOT_GOOD)
		return;
	if (file.fd < 0) { /* by address: that ends with the process */
		region_file_close(&file);
		return;
	}
	last->list[last->count].region = region;
	last->list[last->count].file = file;
	last->list[last->count++].is_kept = true;
}

const struct region_file *last_look_at(const struct last_look *last, uint64_t region)
{
	for (size_t i = 0; i < last->count; i++)
		if (last->list[i].region == region)
			return &last->list[i].file;
	return NULL;
}

void last_look_turn(struct last_look *last)
{
	size_t kept = 0;

	for (size_t i = 0; i < last->count; i++) {
		if (!last->list[i].is_kept) {
			region_file_close(&last->list[i].file);
			continue;
		}
		last->list[i].is_kept = false;
		last->list[kept++] = last->list[i];
	}
	last->count = kept;
}

void last_look_turn_back(struct last_look *last)
{
	for (size_t i = 0; i < last->count; i++)
		last->list[i].is_kept = false;
}

void last_look_end(struct last_look *last)
{
	last_look_turn(last);
	last_look_turn(last);
}
