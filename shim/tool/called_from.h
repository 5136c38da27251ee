/* SPDX-License-Identifier: MIT */
/* The call sites that a process has noted of a destination, by name where symbols exist. */
#ifndef RETRYBUDGET_TOOL_CALLED_FROM_H
#define RETRYBUDGET_TOOL_CALLED_FROM_H

#include "tool/family.h"

#include <stdio.h>

/* A line for each, the last first. False: there is none. */
bool called_from_print(FILE *out, const char *indent, const struct family *family,
                       const struct destination *of);

#endif
