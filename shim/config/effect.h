/* SPDX-License-Identifier: MIT */
/* Keys that a section sets and that nothing looks at, with what else the section says. */
#ifndef RETRYBUDGET_CONFIG_EFFECT_H
#define RETRYBUDGET_CONFIG_EFFECT_H

#include "config/read.h"

/* Tells of each such key of a configuration that has been read with these origins; returns how many
 * there are. They are no mistakes: a file may keep what it needs when `strategy` is changed back.
 * What only says the default again is not told. For tools: not async-signal-safe. */
int effect_check(const struct config *config, const struct origins *origins, const char *file,
                 config_complain *tell);

#endif
