/* SPDX-License-Identifier: MIT */
/* Amounts as tables of keys (keys.def, tool/sim_keys.def) write them, in the units of their fields.
 */
#ifndef RETRYBUDGET_CONFIG_UNITS_H
#define RETRYBUDGET_CONFIG_UNITS_H

#include "budget/policy.h"

#define TOKENS(n)       ((n)*MT_PER_TOKEN)
#define PERCENT(n)      ((n) * (PPM_WHOLE / 100))
#define MILLISECONDS(n) ((n)*NS_PER_MS)
#define SECONDS(n)      ((n)*NS_PER_S)
#define HOURS(n)        ((n)*3600 * NS_PER_S)

#endif
