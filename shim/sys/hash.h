/* SPDX-License-Identifier: MIT */
/* FNV-1a of 64 bits: short keys into places of a table. Whoever chooses the keys can make them
 * meet. */
#ifndef RETRYBUDGET_SYS_HASH_H
#define RETRYBUDGET_SYS_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* The hash of what was hashed so far, HASH_START at first, and n bytes more. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n);

#endif
