/* SPDX-License-Identifier: MIT */
/* What a scenario file says should come out. */
#ifndef RETRYBUDGET_TOOL_SIM_EXPECT_H
#define RETRYBUDGET_TOOL_SIM_EXPECT_H

#include "tool/sim_file.h"

/* Adds a line of [expect VARIANT]. False, with the reason and the remedy added to why, if it is
 * none. */
bool sim_expect_put(struct sim_file *file, const char *variant, const char *metric,
                    const char *value, int line, struct text *why);

/* False, likewise, if nobody plays its variant or counts its number: that would be told at the end
 * of the play, which may be long. Once all variants are known. */
bool sim_expect_fits(const struct sim_file *file, const struct sim_expectation *one,
                     struct text *why);

#endif
