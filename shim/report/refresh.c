/* SPDX-License-Identifier: MIT */
/* Said once, and taken up on change: the configuration as the log sees it. */
#include "report/refresh.h"

#include "config/complaints.h"
#include "config/config.h"
#include "config/current.h"
#include "region/identity.h"
#include "region/state.h"
#include "region/steering.h"
#include "report/record.h"
#include "report/report.h"

#include <errno.h>

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

static void say_mode(int64_t now)
{
	static const char *const words[] = {
		[MODE_OFF] = "off",
		[MODE_OBSERVE] = "observe",
		[MODE_ENFORCE] = "enforce",
	};
	struct record record = {
		.event = EVENT_MODE,
		.text = words[config_current()->general.mode],
	};

	report(&record, now);
}

/* Every process that shares the region takes it, and so the mode of whoever does is that of all:
 * the first one tells it. What it was before is that of the region: a process that has just begun
 * has only read its file. */
static void obey(const struct steering_request *request, int64_t word, int64_t now)
{
	static const enum steering_answer answers[] = {
		[CONFIG_TAKEN] = STEERING_TAKEN,
		[CONFIG_FLAWED] = STEERING_FLAWED,
		[CONFIG_ABSENT] = STEERING_ABSENT,
		[CONFIG_UNREAD] = STEERING_UNREAD,
	};
	struct record reloaded = { .event = EVENT_RELOADED };
	int32_t before = (int32_t)LOAD(shim_region->identity.mode);
	bool first;
	enum config_reply reply =
	    config_steer(request->mode == STEERING_AS_IN_FILE ? MODE_AS_IN_FILE : request->mode,
	                 request->reload, now);

	if (reply == CONFIG_LATER)
		return;
	count(&shim_region->changes);
	identity_steered(shim_region, config_current());
	report_settings(&config_current()->log, shim_region);
	first = steering_done(shim_region, word, answers[reply]);
	if (first && request->reload && reply < CONFIG_ABSENT)
		report(&reloaded, now);
	if (first && config_current()->general.mode != before)
		say_mode(now);
	report_complaints(now);
}

static void steer(int64_t now)
{
	int64_t word = LOAD(shim_region->steering.request);
	struct steering_request request;

	switch (steering_read(word, &request)) {
	case STEERING_TORN:
		return;
	case STEERING_UNKNOWN:
		steering_done(shim_region, word, STEERING_REFUSED);
		return;
	case STEERING_GOOD:
		obey(&request, word, now);
	}
}

void refresh(int64_t now)
{
	struct record record = { .event = EVENT_RELOADED };
	int saved = errno;
	bool looked;

	if (steering_waits(shim_region))
		steer(now);
	if (config_refresh(now, &looked)) {
		count(&shim_region->changes);
		identity_refresh(shim_region, config_current());
		report_settings(&config_current()->log, shim_region);
		report(&record, now);
	}
	if (looked)
		report_complaints(now);
	errno = saved;
}
