/* SPDX-License-Identifier: MIT */
/*
 * Finding the region of a share. Its name is a symbolic link that leads nowhere,
 * /dev/shm/retrybudget-UID/SHARE-vL+N or /dev/shm/retrybudget/SHARE-vL+N, whose text says which
 * System V segment holds it. A link is made whole or not at all, by one of all who try, and can
 * neither be cut short nor filled with anything; a full /dev/shm still has room for it. L is the
 * layout, so that two versions of the library on one machine do not meet, and N the network
 * namespace.
 */
#ifndef RETRYBUDGET_REGION_SHARED_H
#define RETRYBUDGET_REGION_SHARED_H

#include "region/region.h"
#include "region/segment.h"
#include "region/share_link.h"

/*
 * Maps the region of a share below `base`, or makes it. SCOPE_USER: in a directory of the user's
 * own. SCOPE_HOST: in one that the administrator made and root owns; who is in its group shares the
 * region too where the directory is closed to others (mode 0750, or 2770 where its members may make
 * one as well), else only what starts as root.
 * NULL with *why, a static text. Leaves no descriptor open. Call from the constructor alone.
 */
struct region *share_map(const char *base, enum scope scope, const char *share, const char **why);

/* Who may have made what the region of this process is made of. Rights of nobody (mode 0) where the
 * region is no share. Async-signal-safe. */
const struct segment_rights *share_rights(void);

/* True if the numbers of segments that the region names are those of this thread. After unshare()
 * or setns() they are of other ones, or of none: what has been mapped stays, and nothing is mapped
 * or made any more. One system call. Async-signal-safe. */
bool share_is_here(void);

#endif
