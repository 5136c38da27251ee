/* SPDX-License-Identifier: MIT */
/* A share and its processes: each that we see by what it has mapped, the others by the kernel's
 * count. */
#include "tool/share_users.h"

bool share_is_mapped(const struct share *share, const struct process *process)
{
	for (int i = 0; i < process->region_count; i++)
		if (process->regions[i].kind == MAPPING_SHARED && share->segment >= 0 &&
		    process->regions[i].inode == (uint64_t)share->segment)
			return true;
	return false;
}

size_t share_users(const struct share *share, const struct processes *processes)
{
	size_t seen = 0, attached = share_attached(share);

	for (size_t i = 0; i < processes->count; i++)
		seen += share_is_mapped(share, &processes->list[i]);
	return seen < attached ? attached : seen;
}
