/* SPDX-License-Identifier: MIT */
/* Which way a branch of a fast path goes nearly always. */
#ifndef RETRYBUDGET_SYS_LIKELY_H
#define RETRYBUDGET_SYS_LIKELY_H

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

#endif
