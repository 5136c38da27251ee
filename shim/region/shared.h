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

#define SHARE_TEXT 64 /* of a link, and a NUL */
#define SHARE_FILE (SHARE_NAME_MAX + sizeof("-vA+18446744073709551615+18446744073709551615"))

/* The number of the first IPC namespace, PROC_IPC_INIT_INO of the kernel. */
#define SHARE_SPACE_OF_MACHINE UINT64_C(0xefffffff)

/* A network namespace that cannot be told: those who do not know theirs share. */
#define SHARE_SPACE_UNKNOWN UINT64_C(0)

/* What the name of a share says. */
struct share_link {
	int32_t id;    /* of its segment */
	int64_t nonce; /* which stands in the region too: numbers are given again */
};

/* The name of a share's link: that of the share, its layout, the number of the network namespace,
 * and in a container with segments of its own the number of that IPC namespace. False: it is too
 * long. */
bool share_file_name(const char *share, char name[SHARE_FILE]);

/* Writes the text of a link (and a NUL), and reads it. False: it is none of ours. Pure. */
void share_link_text(const struct share_link *link, char text[SHARE_TEXT]);
bool share_link_read(const char *text, struct share_link *link);

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
