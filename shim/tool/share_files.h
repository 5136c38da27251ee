/* SPDX-License-Identifier: MIT */
/*
 * The shares of this machine, by their names: links in /dev/shm/retrybudget-UID of a user, and in
 * /dev/shm/retrybudget of the whole machine, whose text says which System V segment it is
 * (region/shared.h). Whoever owns such a directory may put anything into it: only what its owner
 * made is believed, and nothing there is opened.
 */
#ifndef RETRYBUDGET_TOOL_SHARE_FILES_H
#define RETRYBUDGET_TOOL_SHARE_FILES_H

#include "tool/snapshot.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHARES_IN "/dev/shm"

struct share {
	char owner[33]; /* "host", or the user's name or number */
	char name[64];  /* of the share, without its layout */
	char layout;    /* of the library that made it */
	char path[180];
	bool is_host;
	bool is_elsewhere; /* in another network namespace than ours */
	uint64_t network;  /* its number; SHARE_SPACE_UNKNOWN: its programs could not tell */
	uid_t user;        /* who must own it */
	uid_t maker;       /* of the link, and of the segment */
	int segment;       /* its number; -1: the link says none */
	int64_t nonce;
};

struct shares {
	struct share *list;
	size_t count;
	size_t closed; /* directories of users that may not be looked into */
};

/* Finds all below base, by owner and name. False with errno if base cannot be read, or there is no
 * memory. */
bool shares_find(const char *base, struct shares *found);

void shares_free(struct shares *found);

/* Opens the region of the one that was found. SNAPSHOT_GOOD, or why not. */
enum snapshot_state share_open(const struct share *share, bool for_writing,
                               struct region_file *file);

/* How many processes have it mapped, in whatever namespace. */
size_t share_attached(const struct share *share);

/* Takes its name away: who has it mapped keeps it, who comes later gets another, and the memory is
 * given back by the last one. False with errno. */
bool share_remove(const struct share *share);

/* The rest of a sentence about a share that cannot be looked at. */
const char *share_sentence(const struct snapshot *snapshot);

#endif
