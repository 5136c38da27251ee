/* SPDX-License-Identifier: MIT */
/* The tables of loaded objects. */
#include "hook/object.h"

#include <elf.h>
#include <string.h>

/* glibc has added the base to most addresses in the table, musl to none. */
static const void *address(const struct object *object, ElfW(Addr) at)
{
	return (const void *)(at < object->base ? at + object->base : at);
}

static void read_dynamic(struct object *object)
{
	const ElfW(Dyn) * entry;
	size_t soname = 0, call_step = sizeof(ElfW(Rel));

	for (entry = object->dynamic; entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			object->symbols = address(object, entry->d_un.d_ptr);
			break;
		case DT_STRTAB:
			object->strings = address(object, entry->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			object->gnu_hash = address(object, entry->d_un.d_ptr);
			break;
		case DT_HASH:
			object->hash = address(object, entry->d_un.d_ptr);
			break;
		case DT_JMPREL:
			object->calls.at = address(object, entry->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			object->calls.size = entry->d_un.d_val;
			break;
		case DT_PLTREL:
			if (entry->d_un.d_val == DT_RELA)
				call_step = sizeof(ElfW(Rela));
			break;
		case DT_REL:
		case DT_RELA:
			object->data.at = address(object, entry->d_un.d_ptr);
			object->data.step =
			    entry->d_tag == DT_REL ? sizeof(ElfW(Rel)) : sizeof(ElfW(Rela));
			break;
		case DT_RELSZ:
		case DT_RELASZ:
			object->data.size = entry->d_un.d_val;
			break;
		case DT_SONAME:
			soname = entry->d_un.d_val;
			break;
		default:
			break;
		}
	}
	object->calls.step = call_step;
	if (soname && object->strings)
		object->soname = object->strings + soname;
}

bool object_read(const struct dl_phdr_info *info, struct object *object)
{
	*object = (struct object) { .base = info->dlpi_addr,
		                    .low = UINTPTR_MAX,
		                    .parts = info->dlpi_phdr,
		                    .part_count = info->dlpi_phnum };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t start = object->base + part->p_vaddr, end = start + part->p_memsz;

		if (part->p_type == PT_DYNAMIC)
			object->dynamic = (const void *)start;
		if (part->p_type == PT_GNU_RELRO) {
			object->relro = start;
			object->relro_end = end;
		}
		if (part->p_type != PT_LOAD)
			continue;
		if (start < object->low)
			object->low = start;
		if (end > object->high)
			object->high = end;
	}
	if (!object->dynamic)
		return false;
	read_dynamic(object);
	return object->symbols && object->strings;
}

bool object_has_pointer(const struct object *object, uintptr_t at)
{
	if (at % sizeof(uintptr_t) != 0)
		return false;
	for (size_t i = 0; i < object->part_count; i++) {
		const ElfW(Phdr) *part = &object->parts[i];

		if (part->p_type == PT_LOAD && part->p_flags & PF_W &&
		    at - object->base - part->p_vaddr < part->p_memsz)
			return true;
	}
	return false;
}

static bool is_definition(const struct object *object, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &object->symbols[index];

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
	       (symbol->st_info & 0xf) == STT_FUNC &&
	       strcmp(object->strings + symbol->st_name, name) == 0;
}

/* By the hash table that binutils made the default in 2006: buckets, and behind each a chain of
 * hashes whose last has its lowest bit set. */
static uint32_t find_by_gnu_hash(const struct object *object, const char *name)
{
	uint32_t buckets = object->gnu_hash[0], first = object->gnu_hash[1];
	const uint32_t *bucket =
	    object->gnu_hash + 4 + object->gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = bucket + buckets;
	uint32_t hash = 5381, index;

	for (const char *at = name; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	index = buckets ? bucket[hash % buckets] : 0;
	if (index < first || index == 0)
		return 0;
	for (;; index++) {
		uint32_t other = chain[index - first];

		if ((other | 1) == (hash | 1) && is_definition(object, index, name))
			return index;
		if (other & 1)
			return 0;
	}
}

/* By the one of the specification. */
static uint32_t find_by_hash(const struct object *object, const char *name)
{
	uint32_t buckets = object->hash[0], hash = 0;
	const uint32_t *chain = object->hash + 2 + buckets;

	for (const char *at = name; *at; at++) {
		uint32_t high;

		hash = (hash << 4) + (unsigned char)*at;
		high = hash & 0xf0000000;
		hash = (hash ^ high >> 24) & ~high;
	}
	if (buckets == 0)
		return 0;
	for (uint32_t i = object->hash[2 + hash % buckets]; i; i = chain[i])
		if (is_definition(object, i, name))
			return i;
	return 0;
}

void *object_definition(const struct object *object, const char *name)
{
	uint32_t index = object->gnu_hash ? find_by_gnu_hash(object, name)
	                 : object->hash   ? find_by_hash(object, name)
	                                  : 0;

	return index ? (void *)(object->base + object->symbols[index].st_value) : NULL;
}

bool object_needs(const struct object *object, const char *soname)
{
	for (const ElfW(Dyn) *entry = object->dynamic; soname && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_NEEDED &&
		    strcmp(object->strings + entry->d_un.d_val, soname) == 0)
			return true;
	return false;
}
