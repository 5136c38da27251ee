/* SPDX-License-Identifier: MIT */
/* The link that is the name of a share (region/shared.h): what it is called, and what it says. */
#ifndef RETRYBUDGET_REGION_SHARE_LINK_H
#define RETRYBUDGET_REGION_SHARE_LINK_H

#include "region/region.h"

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

#endif
