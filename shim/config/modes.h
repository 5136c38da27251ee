/* SPDX-License-Identifier: MIT */
/* Which mode each section has: its own line, else that of [destination default], else what the
 * environment or the operator has asked for, else [retrybudget]. */
#ifndef RETRYBUDGET_CONFIG_MODES_H
#define RETRYBUDGET_CONFIG_MODES_H

#include "config/config.h"

#define MODE_AS_IN_FILE (-1)

/* The defaults are in place, and no line has said anything yet. */
void modes_begin(struct config *config);

/* Works the modes out from the lines, and what follows from them. asked is the bound of every mode
 * in the file: observe throttles nothing whatever a section says, off switches all of them off, and
 * enforce leaves a section that says less as it is; or MODE_AS_IN_FILE. May be done again, with
 * another bound. Pure. */
void modes_settle(struct config *config, int32_t asked);

#endif
