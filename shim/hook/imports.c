/* SPDX-License-Identifier: MIT */
/* Slots of loaded objects, and where they lead. */
#include "hook/imports.h"

#include "hook/object.h"
#include "report/record.h"
#include "report/report.h"
#include "sys/fault.h"
#include "sys/thread.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#define IS_SLOT(type)    ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#define IS_POINTER(type) ((type) == R_X86_64_64)
#elif defined(__i386__)
#define IS_SLOT(type)    ((type) == R_386_JMP_SLOT || (type) == R_386_GLOB_DAT)
#define IS_POINTER(type) ((type) == R_386_32)
#elif defined(__aarch64__)
#define IS_SLOT(type)    ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#define IS_POINTER(type) ((type) == R_AARCH64_ABS64)
#else
#define IS_SLOT(type)    false /* nothing is led anywhere */
#define IS_POINTER(type) false
#endif

#if __ELF_NATIVE_CLASS == 64 || UINTPTR_MAX > UINT32_MAX
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#define TYPE_OF(info)   ELF64_R_TYPE(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#define TYPE_OF(info)   ELF32_R_TYPE(info)
#endif

/* Who defines what is imported. */
struct provider {
	void *real;
	const char *soname;
};

struct walk {
	const struct import *imports;
	size_t count;
	struct provider providers[IMPORTS_MOST];
	unsigned long long loaded, unloaded; /* objects so far in the life of the process */
	bool is_early; /* the loader is not through with an object: look again */
};

/* Objects loaded at the last walk. musl counts from 0, and only what comes by dlopen. */
static _Atomic(unsigned long long) seen = ULLONG_MAX;
/* The process that looks, 0 = none: what a forked child finds here of its parent goes on in the
 * parent alone. */
static _Atomic(int32_t) busy;

static int find_providers(struct dl_phdr_info *info, size_t size, void *data)
{
	struct walk *walk = data;
	struct object object;

	(void)size;
	if (!object_read(info, &object))
		return 0;
	for (size_t i = 0; i < walk->count; i++) {
		struct provider *provider = &walk->providers[i];
		void *found = object_definition(&object, walk->imports[i].name);

		if (found && !provider->real)
			*provider = (struct provider) { found, object.soname };
	}
	return 0;
}

/* True if what is called through the slot is, or will be once it is bound, the provider's. */
static bool leads_to(const struct object *object, uintptr_t now, const struct provider *provider)
{
	if (now == (uintptr_t)provider->real)
		return true;
	/* Not bound yet: it leads back into the object's own stubs. The loader will not get to know
	 * of a call that it does not bind, and keeps the provider only if it is needed by name. */
	return now >= object->low && now < object->high && object_needs(object, provider->soname);
}

/* Most objects have their slots among what the loader has made read-only. */
static void lead(const struct object *object, _Atomic(uintptr_t) *slot, void *hook)
{
	size_t page = getauxval(AT_PAGESZ);
	uintptr_t at = (uintptr_t)slot;
	void *start = (void *)(at & ~(page - 1));
	bool is_guarded =
	    at >= (object->relro & ~(page - 1)) && at < (object->relro_end & ~(page - 1));

	if (is_guarded && mprotect(start, page, PROT_READ | PROT_WRITE) != 0) {
		fault_count();
		return;
	}
	atomic_store(slot, (uintptr_t)hook);
	if (is_guarded && mprotect(start, page, PROT_READ) != 0)
		fault_count();
}

/* True of what the linker has left in a slot, which the loader has not come to yet: another thread
 * is in dlopen, or somebody whom that calls. */
static bool is_untouched(const struct object *object, uintptr_t now)
{
	return now == 0 || (now < object->low && now + object->base >= object->low &&
	                    now + object->base < object->high);
}

/* What is to be done with one slot. */
typedef bool visit(struct walk *walk, const struct object *object, const struct import *import,
                   const struct provider *provider, _Atomic(uintptr_t) *slot);

/* True if it leads, or can be led, to the hook. */
static bool can_lead(struct walk *walk, const struct object *object, const struct import *import,
                     const struct provider *provider, _Atomic(uintptr_t) *slot)
{
	uintptr_t now;

	if (!object_has_pointer(object, (uintptr_t)slot))
		return false;
	now = atomic_load(slot);
	if (is_untouched(object, now))
		walk->is_early = true;
	return now == (uintptr_t)import->hook ||
	       ((!*import->real || *import->real == provider->real) &&
	        leads_to(object, now, provider));
}

static bool do_lead(struct walk *walk, const struct object *object, const struct import *import,
                    const struct provider *provider, _Atomic(uintptr_t) *slot)
{
	(void)walk;
	if (atomic_load(slot) == (uintptr_t)import->hook)
		return true;
	*import->real = provider->real;
	lead(object, slot, import->hook);
	return true;
}

/* Visits the slots of what is imported, until one says false. */
static bool visit_slots(const struct object *object, const struct relocations *relocations,
                        struct walk *walk, visit *visit_one)
{
	for (size_t at = 0; relocations->at && at < relocations->size; at += relocations->step) {
		const ElfW(Rel) *one = (const void *)(relocations->at + at);
		const ElfW(Sym) *symbol = &object->symbols[SYMBOL_OF(one->r_info)];
		_Atomic(uintptr_t) *slot = (void *)(object->base + one->r_offset);

		if ((!IS_SLOT(TYPE_OF(one->r_info)) && !IS_POINTER(TYPE_OF(one->r_info))) ||
		    symbol->st_shndx != SHN_UNDEF)
			continue;
		for (size_t i = 0; i < walk->count; i++)
			if (walk->providers[i].real &&
			    strcmp(object->strings + symbol->st_name, walk->imports[i].name) == 0 &&
			    !visit_one(walk, object, &walk->imports[i], &walk->providers[i], slot))
				return false;
	}
	return true;
}

/* All of an object's or none: of one that writes before us and reads behind our back we would only
 * see that it gets no answers. */
static int place(struct dl_phdr_info *info, size_t size, void *data)
{
	struct walk *walk = data;
	struct object object;

	(void)size;
	if (info->dlpi_adds != walk->loaded || info->dlpi_subs != walk->unloaded)
		return 1; /* a provider may be gone since the first walk */
	if (object_read(info, &object) && visit_slots(&object, &object.calls, walk, can_lead) &&
	    visit_slots(&object, &object.data, walk, can_lead)) {
		visit_slots(&object, &object.calls, walk, do_lead);
		visit_slots(&object, &object.data, walk, do_lead);
	}
	return 0;
}

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	((struct walk *)data)->loaded = info->dlpi_adds;
	((struct walk *)data)->unloaded = info->dlpi_subs;
	return 1;
}

static bool begin(void)
{
	int32_t mine = thread_process(), other = atomic_load(&busy);

	return other != mine && atomic_compare_exchange_strong(&busy, &other, mine);
}

void imports_place(const struct import *imports, size_t count)
{
	struct walk walk = { .imports = imports, .count = count };
	int saved = errno;

	dl_iterate_phdr(look, &walk);
	if (walk.loaded != atomic_load(&seen) && begin()) {
		dl_iterate_phdr(find_providers, &walk);
		if (dl_iterate_phdr(place, &walk) == 0 && !walk.is_early)
			atomic_store(&seen, walk.loaded);
		atomic_store(&busy, 0);
	}
	errno = saved;
}
