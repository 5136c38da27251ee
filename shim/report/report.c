/* SPDX-License-Identifier: MIT */
/*
 * From a record to the log: limit, call site, line, datagram. Buffers are on the stack, in frames
 * of less than 1 KiB each: a signal handler may write a record while another is being written, and
 * a thread may vanish in the middle, without anything left claimed.
 */
#include "report/report.h"

#include "report/callsite.h"
#include "region/sites.h"
#include "report/limit.h"
#include "report/send.h"
#include "sys/fault.h"

#include <errno.h>
#include <string.h>

#define SITE_MAX 384

static _Atomic(const struct log_settings *) current_settings;
static _Atomic(struct region *) current_region;
static char program[64];

void report_settings(const struct log_settings *settings, struct region *region)
{
	/* Copied, and once only: programs that set their title overwrite where this points to. */
	if (program[0] == '\0') {
		strncpy(program, program_invocation_short_name, sizeof(program) - 1);
		send_remember_stderr();
	}
	atomic_store(&current_region, region);
	fault_count_in(region ? &region->faults : NULL);
	atomic_store(&current_settings, settings);
}

/* Not inlined: the frames of line and site shall not add up in one function. */
static __attribute__((noinline)) bool write_record(const struct log_settings *settings,
                                                   const struct record *record,
                                                   const struct told *told, const char *site)
{
	char line[RECORD_MAX];
	size_t n = record_format(line, sizeof(line), record, program, told, site);

	return send_line(settings, record, line, n);
}

static __attribute__((noinline)) bool write_with_site(const struct log_settings *settings,
                                                      const struct record *record,
                                                      const struct told *told)
{
	char site[SITE_MAX];

	callsite_format(site, sizeof(site), settings->trace);
	site_keep(record->destination, site);
	return write_record(settings, record, told, site);
}

/* Whether the program's code is what led here: a message about the configuration has no call site.
 */
static bool has_site(const struct record *record)
{
	return record->destination != NULL;
}

static void write_or_undo(const struct log_settings *settings, const struct record *record,
                          const struct told *told)
{
	struct region *region = atomic_load(&current_region);
	bool sent;

	if (settings->trace > 0 && has_site(record))
		sent = write_with_site(settings, record, told);
	else
		sent = write_record(settings, record, told, NULL);
	if (sent)
		return;
	limit_undo(region, record, told);
	if (region)
		count(&region->lost_records);
}

/* What was throttled before the mode changed: not by this attempt, of which only the destination
 * and its budget are said. */
static __attribute__((noinline)) void write_other(const struct log_settings *settings,
                                                  const struct record *record)
{
	struct record other = *record;
	struct told told;

	other.event = EVENT_THROTTLED;
	other.observe = other.in_observe = !record->in_observe;
	other.why = NULL;
	other.err = other.eai = 0;
	other.wait = other.due = 0;
	if (limit_pass_other(record, &told))
		write_or_undo(settings, &other, &told);
}

void report(const struct record *record, int64_t now)
{
	const struct log_settings *settings = atomic_load(&current_settings);
	int saved = errno;
	struct told told;

	if (!settings || settings->target == LOG_TARGET_NONE ||
	    !limit_pass(record, settings->interval, now, &told) ||
	    !limit_pass_crowd(atomic_load(&current_region), record, settings->interval, now, &told))
		return;
	write_other(settings, record);
	write_or_undo(settings, record, &told);
	errno = saved;
}
