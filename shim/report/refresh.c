/* SPDX-License-Identifier: MIT */
/* Said once, and taken up on change: the configuration as the log sees it. */
#include "report/refresh.h"

#include "config/config.h"
#include "region/state.h"

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
	config_report_complaints(now);
}

void refresh(int64_t now)
{
	struct record record = { .event = EVENT_RELOADED };

	if (!config_refresh(now))
		return;
	report_settings(&config_current()->log, shim_region);
	report(&record, now);
	config_report_complaints(now);
}
