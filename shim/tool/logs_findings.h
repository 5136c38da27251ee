/* SPDX-License-Identifier: MIT */
/* What is wrong with a loop that the records tell of. */
#ifndef RETRYBUDGET_TOOL_LOGS_FINDINGS_H
#define RETRYBUDGET_TOOL_LOGS_FINDINGS_H

#include "tool/logs_sum.h"

enum log_finding_kind {
	FINDING_NO_PAUSE,
	FINDING_EVERY,
	FINDING_NO_CAP,
	FINDING_PERMANENT,
	LOG_FINDINGS,
};

struct log_finding {
	enum log_finding_kind kind;
	const char *name; /* "no-pause" */
	char text[120];
};

/* What is wrong with a loop, as far as the records tell. Returns how many of out[] are filled. */
size_t log_findings(const struct log_loop *loop, struct log_finding out[LOG_FINDINGS]);

#endif
