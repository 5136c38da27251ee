/* SPDX-License-Identifier: MIT */
/*
 * Lines over the file: what `retrybudget run --set` hands on, as "[section] key = value" a line.
 * They are read as if they stood first in their section of the file, whose own lines of these keys
 * then say nothing, or in a section of their own behind its end. Private to this room.
 */
#ifndef RETRYBUDGET_CONFIG_OVERRIDES_H
#define RETRYBUDGET_CONFIG_OVERRIDES_H

#include "config/reading.h"

/* A pass begins. */
void overrides_begin(struct reading *reading);

/* Puts the next one of the section that is being read into out, and notes that it is one. False:
 * there is none, and what comes next is the file's. */
bool overrides_next(struct reading *reading, char *out, size_t size);

/* Behind the end of the file: puts the line of a section that is still to come into out. False:
 * there is none. */
bool overrides_section(struct reading *reading, char *out, size_t size);

/* A key has been set: true if what it says is already said by one of them. */
bool overrides_hide(const struct reading *reading, int index);
void overrides_keep(struct reading *reading, int index);

#endif
