/* SPDX-License-Identifier: MIT */
/* What `retrybudget share ls|show` tell, as JSON: one object, of which each share is written as
 * soon as it is read. */
#ifndef RETRYBUDGET_TOOL_SHARE_JSON_H
#define RETRYBUDGET_TOOL_SHARE_JSON_H

#include "tool/processes.h"
#include "tool/share_files.h"

/* False: built without jansson. */
bool share_json_built(void);

/* Begins the object. */
void share_json_begin(void);

/* Adds a share. attached: processes that have it mapped, also those that are not in `processes`.
 * whole: each of its destinations, too. */
void share_json_add(const struct share *share, const struct snapshot *snapshot,
                    const struct processes *processes, size_t attached, bool whole);

/* Ends the object. closed: users whose shares may not be looked at. False: it could not be written.
 */
bool share_json_end(size_t closed);

#endif
