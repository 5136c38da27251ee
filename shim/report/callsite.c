/* SPDX-License-Identifier: MIT */
/*
 * Call sites by libunwind, which is opened rather than linked: as a dependency of a preload its
 * _Unwind_* would take the C++ exceptions of the program (HAZARDS 69).
 *
 * Left alone it checks addresses through a pipe that it keeps open: once the program has closed and
 * reused those numbers, the next trace reads and writes the program's connections (HAZARDS 68). So
 * its memory reader is replaced by one that asks the kernel.
 */
#include "report/callsite.h"

#include "report/record.h"
#include "report/report.h"
#include "sys/fault.h"
#include "sys/process.h"
#include "sys/real.h"
#include "sys/shelter.h"
#include "sys/status.h"
#include "sys/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef CALLSITE_NONE
#define UNW_LOCAL_ONLY
#include <libunwind.h>

/* Measured for libunwind 1.6.2: 6 KiB, and 10 KiB with its caches. */
#define STACK_NEEDED 12288
#define STACK_PAGE   4096

#define STRING(macro) #macro
#define NAME(macro)   STRING(macro) /* unw_step is a macro for this machine's _UL…_step */

static struct {
	int (*init_local)(unw_cursor_t *, unw_context_t *);
	int (*step)(unw_cursor_t *);
	int (*get_reg)(unw_cursor_t *, int, unw_word_t *);
#if defined(__x86_64__) || defined(__i386__)
	int (*get_context)(unw_context_t *); /* elsewhere a macro of assembly */
#endif
} unwind;

/* The reader and writer that libunwind had. */
static int (*original_access)(unw_addr_space_t, unw_word_t, unw_word_t *, int, void *);

static atomic_bool ready;
static uintptr_t own_base;
static char main_name[64];

struct module {
	uintptr_t address; /* what is looked for */
	uintptr_t base;    /* load address minus the address it was linked for */
	const char *name;
};

static int hold_against(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module *module = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
		    module->address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz) {
			module->base = info->dlpi_addr;
			module->name = info->dlpi_name;
			return 1;
		}
	}
	return 0;
}

/* The loader's short list lock is taken, which libunwind takes as well. */
static bool find_module(struct module *module, uintptr_t address)
{
	module->address = address;
	return dl_iterate_phdr(hold_against, module) == 1;
}

/* Writes (the program may unwind exceptions with this very library) go the way they always went. */
static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
                         void *arg)
{
	struct iovec here = { .iov_base = value, .iov_len = sizeof(*value) };
	struct iovec there = { .iov_base = (void *)(uintptr_t)address, .iov_len = sizeof(*value) };

	if (write)
		return original_access(space, address, value, write, arg);
	return process_vm_readv(process_id(), &here, 1, &there, 1, 0) == (ssize_t)sizeof(*value)
	           ? 0
	           : -UNW_EUNSPEC;
}

/*
 * The first call of all makes the pipe. Nothing will use it once the reader is replaced, so it is
 * closed again: it took the two lowest free numbers, and is only closed if they are now the two
 * ends of one pipe.
 */
static unw_accessors_t *without_pipe(unw_accessors_t *(*get_accessors)(unw_addr_space_t),
                                     unw_addr_space_t space)
{
	int low = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int high = open("/dev/null", O_RDONLY | O_CLOEXEC);
	unw_accessors_t *accessors;
	struct stat64 a, b;

	if (low >= 0)
		real.close(low);
	if (high >= 0)
		real.close(high);
	accessors = get_accessors(space);
	if (low >= 0 && high >= 0 && status_of(low, &a) && status_of(high, &b) &&
	    S_ISFIFO(a.st_mode) && S_ISFIFO(b.st_mode) && a.st_ino == b.st_ino &&
	    a.st_dev == b.st_dev) {
		real.close(low);
		real.close(high);
	}
	return accessors;
}

static bool find_functions(void *library)
{
	unw_accessors_t *(*get_accessors)(unw_addr_space_t);
	int (*set_caching)(unw_addr_space_t, unw_caching_policy_t);
	unw_addr_space_t *space = dlsym(library, NAME(unw_local_addr_space));

	*(void **)&unwind.init_local = dlsym(library, NAME(unw_init_local));
	*(void **)&unwind.step = dlsym(library, NAME(unw_step));
	*(void **)&unwind.get_reg = dlsym(library, NAME(unw_get_reg));
	*(void **)&get_accessors = dlsym(library, NAME(unw_get_accessors));
	*(void **)&set_caching = dlsym(library, NAME(unw_set_caching_policy));
#if defined(__x86_64__) || defined(__i386__)
	*(void **)&unwind.get_context = dlsym(library, NAME(unw_tdep_getcontext));
	if (!unwind.get_context)
		return false;
#endif
	if (!space || !unwind.init_local || !unwind.step || !unwind.get_reg || !get_accessors ||
	    !set_caching)
		return false;

	unw_accessors_t *accessors = without_pipe(get_accessors, *space);

	original_access = accessors->access_mem;
	accessors->access_mem = access_memory;
	/* Its caches are behind a lock that a fork at the wrong moment leaves locked for ever. */
	return set_caching(*space, UNW_CACHE_NONE) == 0;
}

/*
 * libunwind and dl_iterate_phdr take the loader's lock, which a forked child inherits locked if
 * another thread held it at that moment. Only a process that was forked while it had one thread, or
 * was never forked, may walk; _Fork and clone run no handlers, and their children do not.
 */
static atomic_int safe_in; /* the process in which the lock is sound */
static atomic_bool alone;

static void before_fork(void)
{
	struct stat64 tasks; /* one link for each thread, and two: needs no descriptor */

	atomic_store(&alone, status_at("/proc/self/task", &tasks) && tasks.st_nlink == 3);
}

static void in_child(void)
{
	if (atomic_load(&alone))
		atomic_store(&safe_in, process_id());
}

/* What pthread_atfork calls; looked up, because musl has none and would refuse to load us. Without
 * it forked children have no call sites. */
static void watch_forks(void)
{
	int (*at_fork)(void (*)(void), void (*)(void), void (*)(void), void *) =
	    (int (*)(void (*)(void), void (*)(void), void (*)(void), void *))dlsym(
		RTLD_DEFAULT, "__register_atfork");

	if (at_fork)
		at_fork(before_fork, NULL, in_child, NULL);
}

void callsite_prepare(void)
{
	char path[256], site[64];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct module own;
	const char *base;
	void *library;

	if (atomic_load(&ready) || !dlsym)
		return;
	/* One that the program uses itself is not ours to change. */
	if (real.dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD))
		return;
	library = real.dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	if (!library || !find_functions(library) ||
	    !find_module(&own, (uintptr_t)&callsite_prepare))
		return;
	own_base = own.base;
	if (n > 0) {
		path[n] = '\0';
		base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
		memcpy(main_name, base, strnlen(base, sizeof(main_name) - 1));
	}
	atomic_store(&safe_in, process_id());
	watch_forks();
	atomic_store(&ready, true);
	callsite_format(site, sizeof(site), 1);
}

/* Whether every page that the walk may need can be read: below a thread's stack is a guard page. */
static bool pages_are_there(uintptr_t at)
{
	enum { PAGES = STACK_NEEDED / STACK_PAGE };
	char bytes[PAGES];
	struct iovec here = { .iov_base = bytes, .iov_len = sizeof(bytes) }, there[PAGES];

	for (size_t i = 0; i < PAGES; i++)
		there[i] = (struct iovec) { (void *)(at - (i + 1) * STACK_PAGE), 1 };
	if (process_vm_readv(process_id(), &here, 1, there, PAGES, 0) == PAGES)
		return true;
	if (errno != EFAULT)
		fault_count();
	return false;
}

static bool has_enough_stack(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	stack_t signal_stack;

	if (sigaltstack(NULL, &signal_stack) != 0)
		return false;
	if (signal_stack.ss_flags & SS_ONSTACK)
		return here - (uintptr_t)signal_stack.ss_sp > STACK_NEEDED;
	/* The stack of the first thread grows when it is touched; of others, all pages are there.
	 */
	return syscall(SYS_gettid) == process_id() || pages_are_there(here);
}

static bool put_frame(struct text *text, const struct module *module, uintptr_t pc)
{
	const char *slash = strrchr(module->name, '/');
	const char *name = slash ? slash + 1 : *module->name ? module->name : main_name;
	size_t mark = text->used;

	/* The byte before the return address is in the call. */
	if ((mark == 0 || text_string(text, ",")) && text_string(text, name) &&
	    text_string(text, "+") && text_hex(text, pc - 1 - module->base))
		return true;
	text_rewind(text, mark);
	return false;
}

/* libunwind's own types are 2 KiB of stack; see callsite.h. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wframe-larger-than="
static __attribute__((noinline)) void walk(struct text *text, int frames)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t pc;

#if defined(__x86_64__) || defined(__i386__)
	unwind.get_context(&context);
#else
	unw_getcontext(&context);
#endif
	if (unwind.init_local(&cursor, &context) != 0)
		return;
	/* Our own frames are few; a cursor that never ends is a broken stack. */
	for (int i = 0; i < CALLSITE_FRAMES + 16 && frames > 0; i++) {
		struct module module;

		if (unwind.step(&cursor) <= 0 || unwind.get_reg(&cursor, UNW_REG_IP, &pc) != 0 ||
		    !find_module(&module, (uintptr_t)pc - 1))
			return;
		if (module.base == own_base)
			continue;
		if (!put_frame(text, &module, (uintptr_t)pc))
			return;
		frames--;
	}
}
#pragma GCC diagnostic pop

size_t callsite_format(char *out, size_t size, int frames)
{
	struct shelter shelter;
	struct text text;
	int saved = errno;

	text_start(&text, out, size);
	if (atomic_load(&ready) && atomic_load(&safe_in) == process_id() && has_enough_stack()) {
		shelter_enter(&shelter);
		walk(&text, frames < CALLSITE_FRAMES ? frames : CALLSITE_FRAMES);
		shelter_leave(&shelter);
	}
	errno = saved;
	return text.used;
}

#else /* built without libunwind's header */

void callsite_prepare(void)
{
}

size_t callsite_format(char *out, size_t size, int frames)
{
	(void)frames;
	if (size)
		*out = '\0';
	return 0;
}

#endif
