/* SPDX-License-Identifier: MIT */
/*
 * The symbol versions that the library asks of glibc: the oldest that do, so that one built on a
 * new system loads on an old one (2.17 and later, HAZARDS 63). Included before everything else by
 * the Makefile. What lived in libdl and libpthread before 2.34 is weak: a program that has loaded
 * neither must still start, without us.
 */
#ifndef RETRYBUDGET_SYS_VERSIONS_H
#define RETRYBUDGET_SYS_VERSIONS_H

#include <features.h>

#pragma weak dlerror
#pragma weak dlsym
#pragma weak pthread_testcancel

#ifdef __GLIBC__

#if defined(__x86_64__) && !defined(__ILP32__)
#define OLDEST   "GLIBC_2.2.5"
#define STAT_VER 1
#elif defined(__i386__)
#define OLDEST   "GLIBC_2.0"
#define STAT_VER 3
#elif defined(__aarch64__)
#define OLDEST   "GLIBC_2.17"
#define STAT_VER 0
#endif

#ifdef OLDEST
__asm__(".symver dlerror, dlerror@" OLDEST);
__asm__(".symver dlsym, dlsym@" OLDEST);
__asm__(".symver pthread_testcancel, pthread_testcancel@" OLDEST);

/* For the command; the library asks the kernel (sys/status.h). */
#include <sys/stat.h>
extern int __xstat(int version, const char *path, struct stat *status);
extern int __fxstat(int version, int fd, struct stat *status);
#define stat(path, status) __xstat(STAT_VER, path, status)
#define fstat(fd, status)  __fxstat(STAT_VER, fd, status)
#endif

#endif
#endif
