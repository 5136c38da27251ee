/* SPDX-License-Identifier: MIT */
/* How a share is called: NAME-vL and what namespaces add, of a file, and OWNER/NAME. */
#ifndef RETRYBUDGET_TOOL_SHARE_NAME_H
#define RETRYBUDGET_TOOL_SHARE_NAME_H

#include "tool/share_files.h"

#define SHARE_LABEL 128

/* Reads what the name of a file says. False: it is of another IPC namespace, or none of a share. */
bool share_name_read(const char *file, struct share *share);

/* OWNER/NAME, and of another network namespace than ours +NUMBER. */
void share_label(const struct share *share, char label[SHARE_LABEL]);

/* True if a word means this one: NAME, or OWNER/NAME with the owner's name or number, and +NUMBER
 * for what is in another network namespace than ours. */
bool share_is(const struct share *share, const char *word);

#endif
