/* SPDX-License-Identifier: MIT */
/* Tokens among many who want them: max-min fair, first by user and then among the cells of each, in
 * whole tokens. Pure. */
#ifndef RETRYBUDGET_AGENT_FAIR_H
#define RETRYBUDGET_AGENT_FAIR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct claim {
	uid_t user;
	int64_t wants; /* tokens, >= 0 */
	int64_t gets;
};

/* Divides `tokens`. Nobody gets more than he wants, nor is anybody given more while somebody with
 * less wants more; of a remainder that is too small to divide one token each goes to those who come
 * first from `turn` on. Returns what was given. */
int64_t fair_divide(struct claim *claims, size_t count, int64_t tokens, uint64_t turn);

#endif
