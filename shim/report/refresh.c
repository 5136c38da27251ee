/* SPDX-License-Identifier: MIT */
/* Said once, and taken up on change: the configuration as the log sees it. */
#include "report/refresh.h"

#include "config/complaints.h"
#include "config/config.h"
#include "config/current.h"
#include "region/identity.h"
#include "region/state.h"
#include "report/record.h"
#include "report/report.h"

static void write_complaint(void *arg, const char *file, int line, const char *message)
{
	struct record record = {
		.event = EVENT_CONFIG_ERROR, .file = file, .line = line, .text = message
	};

	report(&record, *(const int64_t *)arg);
}

void report_complaints(int64_t now)
{
	complaints_take(write_complaint, &now);
}

void announce(int64_t now)
{
	static _Atomic(bool) announced;
	struct record loaded = { .event = EVENT_LOADED, .text = "libretrybudget " VERSION };
	struct record scope = { .event = EVENT_SCOPE, .text = shim_scope_note };

	if (atomic_exchange(&announced, true))
		return;
	report(&loaded, now);
	if (shim_scope_note)
		report(&scope, now);
	report_complaints(now);
}

void refresh(int64_t now)
{
	struct record record = { .event = EVENT_RELOADED };

	bool looked;

	if (config_refresh(now, &looked)) {
		identity_refresh(shim_region, config_current());
		report_settings(&config_current()->log, shim_region);
		report(&record, now);
	}
	if (looked)
		report_complaints(now);
}
