/* SPDX-License-Identifier: MIT */
/*
 * The table of real functions. Every entry starts as a stand-in, so that a hook may be called
 * before our constructor ran: by the constructors of other libraries, or by an allocator that is
 * itself being set up inside dlsym (HAZARDS 1 to 4).
 */
#include "sys/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Set while this thread is inside dlsym: a stand-in called then must not enter it again. */
static __thread bool finding;

static void *find(const char *name)
{
	void *found = NULL;

	if (finding || !dlsym)
		return NULL;
	finding = true;
	/* glibc 2.34 keeps these for old programs only, and hides them from dlsym; the same calls
	 * go by the name without the underscores. */
	if (strncmp(name, "__res_", 6) == 0)
		found = dlsym(RTLD_NEXT, name + 2);
	if (!found)
		found = dlsym(RTLD_NEXT, name);
	finding = false;
	/* dlsym as a tail call would take our caller for its own, and RTLD_NEXT with it. */
	__asm__ volatile("" ::: "memory");
	return found;
}

#define RAW1(call, a)          syscall(call, (long)(a))
#define RAW2(call, a, b)       syscall(call, (long)(a), (long)(b))
#define RAW3(call, a, b, c)    syscall(call, (long)(a), (long)(b), (long)(c))
#define RAW4(call, a, b, c, d) syscall(call, (long)(a), (long)(b), (long)(c), (long)(d))
#define RAW5(call, a, b, c, d, e)                                                                  \
	syscall(call, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))
#define RAW6(call, a, b, c, d, e, f)                                                               \
	syscall(call, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define PICK(a, b, c, d, e, f, macro, ...) macro
#define RAW(call, ...)                                                                             \
	PICK(__VA_ARGS__, RAW6, RAW5, RAW4, RAW3, RAW2, RAW1, )(SYS_##call, __VA_ARGS__)
#define RAW_NONE(failure) (errno = EAGAIN, failure)
/* dup3 refuses equal numbers where dup2 is a test for an open one. */
#define RAW_DUP2(fd, to)                                                                           \
	(fd == to ? syscall(SYS_fcntl, fd, 1 /* F_GETFD */) < 0 ? -1 : fd                          \
	          : syscall(SYS_dup3, fd, to, 0))

/* 64-bit offsets and locks on a 32-bit kernel interface; one call does all elsewhere. */
#ifdef SYS_fcntl64
#define SYS_FCNTL SYS_fcntl64
#else
#define SYS_FCNTL SYS_fcntl
#endif
#ifdef SYS_sendfile64
#define SYS_SENDFILE64 SYS_sendfile64
#else
#define SYS_SENDFILE64 SYS_sendfile
#endif
/* Reading less than was asked for is always allowed, beyond the end of the buffer never. */
#define LESSER(n, space) ((n) < (space) ? (n) : (space))

#define STAND_IN(type, name, parameters, arguments, raw)                                           \
	static type early_##name parameters                                                        \
	{                                                                                          \
		type(*next) parameters = (type(*) parameters)find(#name);                          \
                                                                                                   \
		return next ? next arguments : (type)(raw);                                        \
	}
#define HOOK(type, name, parameters, arguments, raw, purpose)                                      \
	STAND_IN(type, name, parameters, arguments, raw)
#define USED(type, name, parameters, arguments, raw)                                               \
	STAND_IN(type, name, parameters, arguments, raw)
#include "sys/hooks.def"

struct real_calls real = {
#define HOOK(type, name, parameters, arguments, raw, purpose) .name = early_##name,
#define USED(type, name, parameters, arguments, raw)          .name = early_##name,
#include "sys/hooks.def"
};

struct libc_calls libc_own = { clock_gettime, early_connect };

/* Where libc cannot be named (musl) or opened, they are what everybody gets. */
static void find_libc(void)
{
	libc_own.connect = real.connect;
#ifdef __GLIBC__
	void *library = real.dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *found[2];

	if (!library)
		return;
	found[0] = dlsym(library, "clock_gettime");
	found[1] = dlsym(library, "connect");
	if (found[0] && found[1])
		memcpy(&libc_own, found, sizeof(libc_own));
#endif
}

#ifdef RTLD_DEEPBIND
void *(*real_dlopen(void))(const char *file, int flags)
{
	void *(*next)(const char *file, int flags) = real.dlopen;

	if (next == early_dlopen)
		next = (void *(*)(const char *file, int flags))find("dlopen");
	return next ? next : early_dlopen;
}
#endif

#define RESOLVE(type, name, parameters, missing)                                                   \
	do {                                                                                       \
		type(*next) parameters = (type(*) parameters)find(#name);                          \
		if (next)                                                                          \
			real.name = next;                                                          \
		else                                                                               \
			missing = true;                                                            \
	} while (0);

bool real_resolve(void)
{
	bool missing = false, missing_optional = false;

#define HOOK(type, name, parameters, arguments, raw, purpose)                                      \
	RESOLVE(type, name, parameters, missing)
#define OPTIONAL(type, name, parameters, arguments, raw, purpose)                                  \
	RESOLVE(type, name, parameters, missing_optional)
#define USED(type, name, parameters, arguments, raw) RESOLVE(type, name, parameters, missing)
#include "sys/hooks.def"
	if (!missing)
		find_libc();
	if ((missing || missing_optional) && dlerror)
		dlerror(); /* ours, not for the program to find */
	return !missing;
}
