/* SPDX-License-Identifier: MIT */
/* How much memory this process may use, as far as the machine and its cgroup say. */
#ifndef RETRYBUDGET_SYS_MEMORY_LIMIT_H
#define RETRYBUDGET_SYS_MEMORY_LIMIT_H

#include <stdint.h>

/* Bytes: the least of the machine's memory and of the limits of the cgroup that it is in and of all
 * above that, as seen from here. A few system calls; opens files: for the constructor alone. */
int64_t memory_limit(void);

/* The same where the cgroup is told by another file, and the hierarchies are below another
 * directory, without the machine's: INT64_MAX if there is no limit. */
int64_t memory_limit_of(const char *own, const char *hierarchies);

#endif
