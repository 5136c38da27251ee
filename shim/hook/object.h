/* SPDX-License-Identifier: MIT */
/* The tables of a loaded object, as the ELF specification and its processor supplements lay them
 * out. Valid while the object is loaded: inside dl_iterate_phdr. Async-signal-safe. */
#ifndef RETRYBUDGET_HOOK_OBJECT_H
#define RETRYBUDGET_HOOK_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Relocations: with or without an addend they begin alike. */
struct relocations {
	const char *at;
	size_t size, step;
};

struct object {
	uintptr_t base, low, high; /* low, high: where its memory lies */
	const ElfW(Phdr) * parts;
	size_t part_count;
	uintptr_t relro, relro_end;
	const ElfW(Dyn) * dynamic;
	const ElfW(Sym) * symbols;
	const char *strings;
	const char *soname;
	const uint32_t *gnu_hash, *hash;
	struct relocations data, calls;
};

/* False for what has no tables, as the kernel's own object. */
bool object_read(const struct dl_phdr_info *info, struct object *object);

/* True if a pointer of the object's is at this address, where it may be written: not in its code,
 * which the loader makes writable for the time of its own relocations only (DT_TEXTREL). */
bool object_has_pointer(const struct object *object, uintptr_t at);

/* The function of this name that the object defines, or NULL. Versions of symbols are not looked
 * at. */
void *object_definition(const struct object *object, const char *name);

/* True if the loader was told that the object needs a library of this name (which may be NULL). */
bool object_needs(const struct object *object, const char *soname);

#endif
