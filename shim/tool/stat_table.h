/* SPDX-License-Identifier: MIT */
/* What stat found, as a table. */
#ifndef RETRYBUDGET_TOOL_STAT_TABLE_H
#define RETRYBUDGET_TOOL_STAT_TABLE_H

#include "tool/stat.h"

extern const struct printer stat_table;

#endif
