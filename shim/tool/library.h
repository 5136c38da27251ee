/* SPDX-License-Identifier: MIT */
/* The library itself, as a file: which build of it fits a program. */
#ifndef RETRYBUDGET_TOOL_LIBRARY_H
#define RETRYBUDGET_TOOL_LIBRARY_H

#include "tool/elf.h"

#define LIBRARY_NAME "libretrybudget.so"

bool library_same_machine(const struct elf_facts *a, const struct elf_facts *b);

/* Whether a library can be loaded into a program. */
bool library_fits(const struct elf_facts *library, const struct elf_facts *program);

/* Takes the first library that fits the program, else the one that comes nearest, from where it may
 * be installed or was built. wanted: NULL = any. out: PATH_MAX bytes, absolute. False: none. */
bool library_find(const struct elf_facts *wanted, char *out, struct elf_facts *facts);

/* True if an entry of the LD_PRELOAD list names the library already. */
bool library_in_preload(const char *list, const char *library);

#endif
