/* SPDX-License-Identifier: MIT */
/* Taking up a changed configuration file. */
#ifndef RETRYBUDGET_TRACK_REFRESH_H
#define RETRYBUDGET_TRACK_REFRESH_H

#include <stdint.h>

/* Called where something fails or is retried: a healthy program does not pay for it, and has no
 * use for a changed file either. now: ns. */
void refresh(int64_t now);

#endif
