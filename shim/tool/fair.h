/* SPDX-License-Identifier: MIT */
/* Tokens among many who want them: max-min fair, first by user and then among the cells of each, in
 * whole tokens. And what is believed of how many somebody wants. Pure. */
#ifndef RETRYBUDGET_TOOL_FAIR_H
#define RETRYBUDGET_TOOL_FAIR_H

#include "sys/arithmetic.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Tokens that are believed to be wanted in a second. */
#define DEMAND_CELL_MOST 100
#define DEMAND_USER_MOST 1000
#define DEMAND_HOST_MOST 5000

/* Tokens that a cell is lent though nothing fails there yet, where there are enough: the first
 * retries of an outage find them. */
#define DEMAND_STANDING 5

/* A cell is in use for so long after its last attempt, and waits for so long after its last retry,
 * or what asked for one. */
#define DEMAND_IN_USE  (600 * NS_PER_S)
#define DEMAND_WAITING (60 * NS_PER_S)

/* Users that have a part of their own. */
#define FAIR_USERS 256

struct claim {
	int64_t wants; /* tokens, >= 0 */
	int64_t gets;
	int64_t before; /* fair_lend()'s own */
	size_t place;   /* fair_divide()'s own: of its user */
	uid_t user;
	bool in_use; /* fair_lend(): it is lent a few though it wants none */
};

/* Divides `tokens`. Nobody gets more than he wants, nor is anybody given more while somebody with
 * less wants more; of a remainder that is too small to divide one token each goes to those who come
 * first from `turn` on. Users beyond FAIR_USERS share the part of one. Returns what was given. */
int64_t fair_divide(struct claim *claims, size_t count, int64_t tokens, uint64_t turn);

/* The same, and of what is left up to DEMAND_STANDING in all to each that is in use;
 * `wants` is void afterwards. */
void fair_lend(struct claim *claims, size_t count, int64_t tokens, uint64_t turn);

/* Tokens that may be claimed for so many ns, at so many a second. */
int64_t demand_most(int64_t per_second, int64_t time);

#endif
