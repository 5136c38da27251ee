/* SPDX-License-Identifier: MIT */
/* What the records of a loop say of how it was written. */
#include "tool/logs_findings.h"

#include <inttypes.h>
#include <stdio.h>

/* Fewer tries than these tell no rhythm. */
#define TRIES_LEAST 5

/* Nobody who pauses on purpose pauses for less. */
#define PAUSE_LEAST_MS 10

/* Far more than any retry policy with a cap makes of one request. */
#define RETRIES_MOST 30

size_t log_findings(const struct log_loop *loop, struct log_finding out[LOG_FINDINGS])
{
	size_t n = 0;

	if (loop->tries >= TRIES_LEAST && loop->own_ms / loop->tries < PAUSE_LEAST_MS) {
		int64_t tenths =
		    loop->own_ms < INT64_MAX / 10 ? loop->own_ms * 10 / loop->tries : 0;

		out[n] = (struct log_finding) { .kind = FINDING_NO_PAUSE, .name = "no-pause" };
		(void)snprintf(out[n++].text, sizeof(out->text),
		               "no pause between its tries: %" PRId64 ".%" PRId64
		               " ms each, but for what it was held",
		               tenths / 10, tenths % 10);
	} else if (loop->tries >= TRIES_LEAST) {
		out[n] = (struct log_finding) { .kind = FINDING_EVERY, .name = "every" };
		(void)snprintf(out[n++].text, sizeof(out->text), "a try every %" PRId64 " ms",
		               loop->own_ms / loop->tries);
	}
	if (loop->in_a_row >= RETRIES_MOST) {
		out[n] = (struct log_finding) { .kind = FINDING_NO_CAP, .name = "no-cap" };
		(void)snprintf(out[n++].text, sizeof(out->text),
		               "no cap: %" PRId64 " retries in a row", loop->in_a_row);
	}
	if (loop->permanent > 0) {
		out[n] = (struct log_finding) { .kind = FINDING_PERMANENT, .name = "permanent" };
		(void)snprintf(out[n++].text, sizeof(out->text),
		               "tries again after %s, which does not go away by trying",
		               loop->error);
	}
	return n;
}
