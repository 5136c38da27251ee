/* SPDX-License-Identifier: MIT */
/*
 * The status of a file, asked of the kernel. Another preload's fstat would run before that
 * library's constructor has, which libfaketime 0.9.10 answers by opening its shared memory twice,
 * and may show false times. No function of libc will do either: stat() and its kin exist since
 * glibc 2.33 only, and a 32-bit stat() fails on large inode numbers. struct stat64 is the kernel's
 * own on the machines that we are built for.
 */
#ifndef RETRYBUDGET_SYS_STATUS_H
#define RETRYBUDGET_SYS_STATUS_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_fstatat64
#define SYS_STATUS SYS_fstatat64
#else
#define SYS_STATUS SYS_newfstatat
#endif

/* False with errno set. Async-signal-safe, as the next one is. */
static inline bool status_of(int fd, struct stat64 *status)
{
	return syscall(SYS_STATUS, fd, "", status, AT_EMPTY_PATH) == 0;
}

/* Symbolic links are not followed. */
static inline bool status_at(const char *path, struct stat64 *status)
{
	return syscall(SYS_STATUS, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW) == 0;
}

#endif
