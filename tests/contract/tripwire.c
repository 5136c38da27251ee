/* SPDX-License-Identifier: MIT */
/*
 * Ends the process when something of tripwire.def is used inside a hook of the shim, by the shim
 * itself or by what it calls. Named last in LD_PRELOAD, it is what everybody's calls find, and from
 * the moment that libc starts main it looks at who made them.
 *
 * Inside a hook: going up the stack, the first frame of the shim comes before the first signal
 * handler (what that does is the program's), and what this frame called is not the real function of
 * a hook (what getaddrinfo, fclose or dlopen do is the program's wish as well).
 *
 * For x86-64: every name is a few instructions that keep all arguments and then jump on, so that no
 * prototype is needed, and none is in the way of calls with variable arguments or that return
 * twice.
 */
#include "sys/real.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

static const char *const names[] = {
	"__libc_start_main",
#define TRIP(name) #name,
#include "tripwire.def"
#undef TRIP
};

#define COUNT (sizeof(names) / sizeof(*names))

enum {
	NUMBER___libc_start_main,
#define TRIP(name) NUMBER_##name,
#include "tripwire.def"
#undef TRIP
};

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

/* The loader allocates before any constructor ran, and dlsym may. */
static void *next[COUNT] = {
	[NUMBER_malloc] = (void *)__libc_malloc,
	[NUMBER_calloc] = (void *)__libc_calloc,
	[NUMBER_realloc] = (void *)__libc_realloc,
	[NUMBER_free] = (void *)__libc_free,
};

/* The real functions of the hooks, which may do all this; and the point where a thread ends that
 * the program has cancelled, as it would in a call that the kernel blocks. */
static const char *const hooks[] = {
#define HOOK(type, name, parameters, arguments, raw, purpose) #name,
#include "sys/hooks.def"
	"pthread_testcancel",
};

static void *real_functions[sizeof(hooks) / sizeof(*hooks)];

static uintptr_t low, high; /* the shim's instructions */
static bool armed;
static char allowed[128];     /* names with a blank behind each: CONTRACT_ALLOWED */
static __thread bool looking; /* what the search itself uses is no matter */

/* The first one pushes its number and goes on with the common part; that asks whom to call. */
__asm__(".text\n"
        ".type tripwire_common, @function\n"
        "tripwire_common:\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa_offset 16\n"
        "push %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbp, 0\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "sub $192, %rsp\n"
        "and $-16, %rsp\n"
        "mov %rdi, (%rsp)\n"
        "mov %rsi, 8(%rsp)\n"
        "mov %rdx, 16(%rsp)\n"
        "mov %rcx, 24(%rsp)\n"
        "mov %r8, 32(%rsp)\n"
        "mov %r9, 40(%rsp)\n"
        "mov %rax, 48(%rsp)\n"
        "movups %xmm0, 64(%rsp)\n"
        "movups %xmm1, 80(%rsp)\n"
        "movups %xmm2, 96(%rsp)\n"
        "movups %xmm3, 112(%rsp)\n"
        "movups %xmm4, 128(%rsp)\n"
        "movups %xmm5, 144(%rsp)\n"
        "movups %xmm6, 160(%rsp)\n"
        "movups %xmm7, 176(%rsp)\n"
        "mov 8(%rbp), %rdi\n"
        "mov %rsp, %rsi\n"
        "call tripwire_look\n"
        "mov %rax, %r11\n"
        "mov (%rsp), %rdi\n"
        "mov 8(%rsp), %rsi\n"
        "mov 16(%rsp), %rdx\n"
        "mov 24(%rsp), %rcx\n"
        "mov 32(%rsp), %r8\n"
        "mov 40(%rsp), %r9\n"
        "mov 48(%rsp), %rax\n"
        "movups 64(%rsp), %xmm0\n"
        "movups 80(%rsp), %xmm1\n"
        "movups 96(%rsp), %xmm2\n"
        "movups 112(%rsp), %xmm3\n"
        "movups 128(%rsp), %xmm4\n"
        "movups 144(%rsp), %xmm5\n"
        "movups 160(%rsp), %xmm6\n"
        "movups 176(%rsp), %xmm7\n"
        "leave\n"
        ".cfi_def_cfa %rsp, 16\n"
        "add $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "jmp *%r11\n"
        ".cfi_endproc\n");

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
#define ENTRY(name, number)                                                                        \
	__asm__(".globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n"       \
	        "pushq $" TEXT(number) "\n.cfi_adjust_cfa_offset 8\njmp tripwire_common\n"         \
	                               ".cfi_endproc\n");
#define TRIP(name) ENTRY(name, __COUNTER__)

TRIP(__libc_start_main)
#include "tripwire.def"

static void say(const char *text)
{
	const char *path = getenv("CONTRACT_TRIPPED");
	int fd = path == NULL ? 2
	                      : (int)syscall(SYS_openat, AT_FDCWD, path,
	                                     O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

	syscall(SYS_write, fd, text, strlen(text));
	if (path != NULL)
		syscall(SYS_close, fd);
}

static void trip(const char *name, uintptr_t from)
{
	static const char digits[] = "0123456789abcdef";
	char place[32] = "shim+0x", *at = place + strlen(place);
	bool begun = false;

	for (int shift = 28; shift >= 0; shift -= 4) {
		int digit = (int)((from - low) >> shift & 15);

		begun = begun || digit != 0 || shift == 0;
		if (begun)
			*at++ = digits[digit];
	}
	*at = '\0';
	say("tripwire: ");
	say(name);
	say(" was used inside a hook, after ");
	say(place);
	say(" (from the start of its instructions)\n");
	syscall(SYS_exit_group, 99);
}

struct search {
	const char *name;
	uintptr_t callee; /* where the function begins that the frame in hand called */
	int frames;
};

static bool is_real(uintptr_t function)
{
	for (size_t i = 0; i < sizeof(real_functions) / sizeof(*real_functions); i++)
		if (function != 0 && (uintptr_t)real_functions[i] == function)
			return true;
	return false;
}

static _Unwind_Reason_Code look_at(struct _Unwind_Context *context, void *arg)
{
	struct search *search = arg;
	int interrupted = 0;
	uintptr_t at = _Unwind_GetIPInfo(context, &interrupted);

	if (interrupted || search->frames++ > 200)
		return _URC_END_OF_STACK;
	if (at >= low && at < high) {
		if (!is_real(search->callee))
			trip(search->name, at);
		return _URC_END_OF_STACK;
	}
	search->callee = _Unwind_GetRegionStart(context);
	return _URC_NO_REASON;
}

/* Allowed here; or sigaction that only asks what is set: what to set is its second argument. */
static bool is_harmless(const char *name, const uint64_t *arguments)
{
	const char *found = strstr(allowed, name);

	if (found != NULL && found[strlen(name)] == ' ' && (found == allowed || found[-1] == ' '))
		return true;
	return strcmp(name, "sigaction") == 0 && arguments[1] == 0;
}

void *tripwire_look(unsigned long number, const uint64_t *arguments);

__attribute__((used)) void *tripwire_look(unsigned long number, const uint64_t *arguments)
{
	struct search search = { .name = names[number] };

	if (number == 0) {
		armed = low != 0;
	} else if (armed && !looking && !is_harmless(names[number], arguments)) {
		looking = true;
		_Unwind_Backtrace(look_at, &search);
		looking = false;
	}
	if (next[number] == NULL) {
		looking = true;
		next[number] = dlsym(RTLD_NEXT, names[number]);
		looking = false;
	}
	return next[number];
}

/* The executable segment of the library that the address is in. */
static int find_instructions(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
		    (uintptr_t)arg >= start && (uintptr_t)arg < start + segment->p_memsz) {
			low = start;
			high = start + segment->p_memsz;
			return 1;
		}
	}
	return 0;
}

static _Unwind_Reason_Code no_further(struct _Unwind_Context *context, void *arg)
{
	(void)context, (void)arg;
	return _URC_END_OF_STACK;
}

__attribute__((constructor)) static void prepare(void)
{
	const char *wanted = getenv("CONTRACT_ALLOWED");

	looking = true;
	if (wanted != NULL && strlen(wanted) < sizeof(allowed))
		memcpy(allowed, wanted, strlen(wanted));
	for (size_t i = 0; i < sizeof(hooks) / sizeof(*hooks); i++)
		real_functions[i] = dlsym(RTLD_NEXT, hooks[i]);
	if (dlsym(RTLD_DEFAULT, "retrybudget_abi") != NULL)
		dl_iterate_phdr(find_instructions, dlsym(RTLD_DEFAULT, "connect"));
	_Unwind_Backtrace(no_further, NULL);
	looking = false;
}
