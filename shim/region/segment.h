/* SPDX-License-Identifier: MIT */
/*
 * System V shared memory, for what processes share that have no common ancestor. Nobody can make a
 * segment shorter, so that none of those who have it mapped dies of SIGBUS, as they would of a file
 * in /dev/shm that one of them cut short. Nor can a write into it fail (of huge pages it could, and
 * they are not taken): the kernel sets the memory aside when the segment is made, and hands it out
 * page by page as it is used, whatever /dev/shm holds. It outlives its processes, and is swept once
 * nobody has had it mapped for a while.
 */
#ifndef RETRYBUDGET_REGION_SEGMENT_H
#define RETRYBUDGET_REGION_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The upper half of a key, by which tools and the sweep know a segment for ours ("rb" and on). */
#define SEGMENT_REGION 0x7262
#define SEGMENT_CHUNK  0x7263

#define SEGMENT_ANYONE ((uid_t)-1)

/* Who may have made a segment, and who may map it. */
struct segment_rights {
	uid_t owner; /* SEGMENT_ANYONE: who has the rights of the group */
	gid_t group; /* where `mode` has rights for it */
	mode_t mode; /* 0600 or 0660 */
};

enum segment_state {
	SEGMENT_GOOD,
	SEGMENT_GONE,    /* there is none of that number */
	SEGMENT_FOREIGN, /* that number is another one's */
	SEGMENT_DENIED,  /* no right to map it, no memory for that, or its pages may be missing */
};

/* Makes a segment of zeroes and maps it. rights: as it is to have; the owner is the caller. Returns
 * its number, or -1 with errno: ENOSPC or ENOMEM where a limit is met, ENOSYS or EPERM where a
 * kernel or a sandbox knows no such thing. Async-signal-safe, as all here is. */
int segment_make(int kind, size_t size, const struct segment_rights *rights, void **at);

/* True of a segment that somebody else made, and that was just mapped, if all its pages are there
 * once they are touched. size: as the kernel tells it; one of a page or less has no such. */
bool segment_has_pages(void *at, size_t size);

/* Maps segment `id` if it is as these rights say, of exactly this size. */
enum segment_state segment_map(int id, size_t size, const struct segment_rights *rights, void **at);

/* Keeps shared memory out of core dumps, for which the kernel would make every page of it. What
 * else shares it stands there too, and is not for whoever looks into the crash of one program. */
void segment_hide(void *at, size_t size);

/* What tells segment `id` from those that have its number in other IPC namespaces: its key, which
 * is drawn, and when it was made. 0: there is none of that number here, or it may not be asked. */
int64_t segment_mark(int id);

/* Unmaps it, and, if `remove`, takes it out of the world once nobody has it mapped. */
void segment_drop(int id, void *at, bool remove);

/* Removes this user's segments of ours that nobody has had mapped for an hour: what stands in them
 * is of no use to anybody by then. Where more than 64 regions are alone, those go after a minute:
 * in a sandbox that is given a /dev/shm of its own, and not an IPC namespace, each start makes one
 * that nobody finds again, and the machine has 4,096 segments for all. now: s since 1970. Call when
 * one is made, which is rare. */
void segment_sweep(int64_t now);

#endif
