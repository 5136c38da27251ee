/* SPDX-License-Identifier: MIT */
/* Taking up a changed configuration file: parsed by config, told to the reporter here. */
#include "track/refresh.h"

#include "config/config.h"
#include "track/state.h"

void refresh(int64_t now)
{
	struct record record = { .event = EVENT_RELOADED };

	if (!config_refresh(now))
		return;
	report_settings(&config_current()->log, shim_region);
	report(&record, now);
	config_report_complaints(now);
}
