/* SPDX-License-Identifier: MIT */
/* The processes that have a share mapped. */
#ifndef RETRYBUDGET_TOOL_SHARE_USERS_H
#define RETRYBUDGET_TOOL_SHARE_USERS_H

#include "tool/processes.h"
#include "tool/share_files.h"

bool share_is_mapped(const struct share *share, const struct process *process);

/* How many have it mapped, those of other users too, and of namespaces that we do not see into. */
size_t share_users(const struct share *share, const struct processes *processes);

#endif
