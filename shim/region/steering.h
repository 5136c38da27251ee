/* SPDX-License-Identifier: MIT */
/*
 * What an operator asks of running processes (`retrybudget set`, `reload`): one word of the region,
 * which every process that shares it takes at its next call that might be throttled, and one in
 * which they answer. The word is written from outside, byte by byte for all we know, and by whoever
 * can write the region: so it carries a check of itself, and can ask for nothing but a mode and
 * another look at the file.
 */
#ifndef RETRYBUDGET_REGION_STEERING_H
#define RETRYBUDGET_REGION_STEERING_H

#include "region/region.h"

/*
 * Packed: 8 bits of the version, 4 of reload, 4 of the mode, 32 of a number that tells it from the
 * one before, 16 of the check. An answer has enum steering_answer in place of the check.
 */
#define STEERING_VERSION    1
#define STEERING_AS_IN_FILE 3 /* behind the words of enum mode */
#define STEERING_CHECK      UINT64_C(0xffff)

struct steering_request {
	int32_t mode; /* enum mode, or STEERING_AS_IN_FILE */
	bool reload;
	uint32_t number;
};

enum steering_reading {
	STEERING_TORN,    /* half written, or never by us: it may yet become one */
	STEERING_UNKNOWN, /* of another version, or of a mode that there is none */
	STEERING_GOOD,
};

enum steering_answer {
	STEERING_TAKEN = 1,
	STEERING_FLAWED,  /* some lines of the file were bad */
	STEERING_UNREAD,  /* the file is missing or cannot be used, what it said last holds */
	STEERING_REFUSED, /* unknown */
	STEERING_ABSENT,  /* there is no file to read, nor was there any */
};

/* The word of a request, and back. Pure. */
int64_t steering_word(const struct steering_request *request);
enum steering_reading steering_read(int64_t word, struct steering_request *request);

/* The number of a word, be it a request or an answer. */
static inline uint32_t steering_number(int64_t word)
{
	return (uint32_t)((uint64_t)word >> 16);
}

/* What this process has looked at last. */
extern HIDDEN cell64 steering_seen;

/* True if there is a word that has not been looked at. */
static inline bool steering_waits(const struct region *region)
{
	return LOAD(region->steering.request) != LOAD(steering_seen);
}

/* True if it is a request that can be taken: what a wait ends for. */
bool steering_asks(const struct region *region);

/* Notes what has become of a word, once in this process. True in the first process of the region:
 * a loop that starts one for each try would else tell of each that it took an old request. */
bool steering_done(struct region *region, int64_t word, enum steering_answer answer);

#endif
