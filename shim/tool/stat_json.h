/* SPDX-License-Identifier: MIT */
/* What stat found, as JSON, and what `retrybudget share --json` says alike of a region. Built with
 * jansson only, but for stat_json. */
#ifndef RETRYBUDGET_TOOL_STAT_JSON_H
#define RETRYBUDGET_TOOL_STAT_JSON_H

#include "region/region.h"
#include "tool/stat.h"

struct json_t;

/* Without jansson it has no functions. */
extern const struct printer stat_json;

/* Adds counters and tokens of the region as a whole as "totals". */
void stat_json_totals(struct json_t *object, const struct region *region);

/* A destination with its counters, tokens and call sites. NULL: no memory. */
struct json_t *stat_json_destination(const struct destination *one);

#endif
