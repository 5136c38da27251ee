/* SPDX-License-Identifier: MIT */
/* What [log] sets. */
#ifndef RETRYBUDGET_CONFIG_LOG_SETTINGS_H
#define RETRYBUDGET_CONFIG_LOG_SETTINGS_H

#include <stdint.h>

enum log_target {
	LOG_TARGET_SYSLOG,
	LOG_TARGET_JOURNAL,
	LOG_TARGET_STDERR,
	LOG_TARGET_NONE,
};

struct log_settings {
	int32_t target;   /* enum log_target */
	int32_t facility; /* syslog facility number << 3, as LOG_DAEMON */
	int32_t trace;    /* frames in site=, 0 = none */
	int32_t attempts; /* boolean */
	int64_t interval; /* ns */
	char socket[108];
};

#endif
