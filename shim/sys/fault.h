/* SPDX-License-Identifier: MIT */
/* What the kernel, a limit or a sandbox kept from us, counted. Async-signal-safe; errno is left as
 * it was. */
#ifndef RETRYBUDGET_SYS_FAULT_H
#define RETRYBUDGET_SYS_FAULT_H

#include "sys/cell.h"

/* Where faults are counted from now on; before that they are not. Call from the constructor. */
void fault_count_in(cell64 *counter);

/* Counts one: the shim goes on without what it wanted. */
void fault_count(void);

#endif
