/* SPDX-License-Identifier: MIT */
/* A call site by the name of its function. */
#ifndef RETRYBUDGET_TOOL_LOGS_SITE_H
#define RETRYBUDGET_TOOL_LOGS_SITE_H

/* The function of the innermost frame of site= that a file with symbols has, in these directories,
 * PATH and those of libraries; "" where none has it but those that call main or start a thread. It
 * lasts until the next call. */
const char *log_site_name(const char *site, const char *directory);

#endif
