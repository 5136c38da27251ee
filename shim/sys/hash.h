/* SPDX-License-Identifier: MIT */
/* FNV-1a. Of 64 bits: short keys into places of a table. Of 32 bits: what `stat` names the bytes of
 * a file by. Whoever chooses the bytes can make two meet. Pure; thread-safe, async-signal-safe. */
#ifndef RETRYBUDGET_SYS_HASH_H
#define RETRYBUDGET_SYS_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START   UINT64_C(0xcbf29ce484222325)
#define HASH32_START UINT32_C(0x811c9dc5)

/* The hash of what was hashed so far, HASH_START at first, and n bytes more. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n);

/* The same of 32 bits, from HASH32_START. */
uint32_t hash32_bytes(uint32_t hash, const void *bytes, size_t n);

#endif
