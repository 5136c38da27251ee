/* SPDX-License-Identifier: MIT */
/* The journal, through libsystemd, which is opened where it is asked for: all other commands start
 * without it and what it needs. */
#include "tool/logs_journal.h"

#include "sys/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the stack is our own here */

#if !defined(WITHOUT_SYSTEMD)
#include <dlfcn.h>
#include <systemd/sd-journal.h>

/* What was logged as one field; a record is far shorter. */
#define FIELD_MAX 2048

#define CALLS(X)                                                                                   \
	X(sd_journal_open)                                                                         \
	X(sd_journal_open_directory)                                                               \
	X(sd_journal_close)                                                                        \
	X(sd_journal_add_match)                                                                    \
	X(sd_journal_seek_head)                                                                    \
	X(sd_journal_seek_realtime_usec)                                                           \
	X(sd_journal_next)                                                                         \
	X(sd_journal_get_data)                                                                     \
	X(sd_journal_get_realtime_usec)                                                            \
	X(sd_journal_set_data_threshold)                                                           \
	X(sd_journal_wait)

struct log_journal {
	void *library;
	sd_journal *journal;
	char error[96];
#define FIELD(name) __typeof__(&name) name;
	CALLS(FIELD)
};

static bool find_calls(struct log_journal *journal)
{
	bool good = true;

#define FIND(name)                                                                                 \
	*(void **)&journal->name = dlsym(journal->library, #name);                                 \
	good &= journal->name != NULL;
	CALLS(FIND)
	return good;
}

static const char *open_and_seek(struct log_journal *journal, const char *directory, int64_t since)
{
	static const char match[] = "SYSLOG_IDENTIFIER=retrybudget";
	static char text[96];
	int error = directory ? journal->sd_journal_open_directory(&journal->journal, directory, 0)
	                      : journal->sd_journal_open(&journal->journal, SD_JOURNAL_LOCAL_ONLY);

	if (error >= 0) {
		(void)journal->sd_journal_set_data_threshold(journal->journal, FIELD_MAX);
		error = journal->sd_journal_add_match(journal->journal, match, strlen(match));
	}
	if (error >= 0)
		error = since > 0 ? journal->sd_journal_seek_realtime_usec(journal->journal,
		                                                           (uint64_t)since)
		                  : journal->sd_journal_seek_head(journal->journal);
	if (error >= 0)
		return NULL;
	(void)snprintf(text, sizeof(text), "%s", strerror(-error));
	return text;
}

const char *log_journal_open(struct log_journal **out, const char *directory, int64_t since)
{
	struct log_journal *journal = calloc(1, sizeof(*journal));
	const char *wrong;

	if (!journal)
		return "out of memory";
	journal->library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!journal->library)
		wrong = "libsystemd.so.0 is not installed";
	else if (!find_calls(journal))
		wrong = "this libsystemd.so.0 is too old";
	else
		wrong = open_and_seek(journal, directory, since);
	if (wrong) {
		log_journal_close(journal);
		return wrong;
	}
	*out = journal;
	return NULL;
}

static size_t field(struct log_journal *journal, const char *name, char *out, size_t size)
{
	size_t n = 0, prefix = strlen(name) + 1;
	const void *data;

	out[0] = '\0';
	if (journal->sd_journal_get_data(journal->journal, name, &data, &n) < 0 || n < prefix)
		return 0;
	n -= prefix;
	if (n >= size)
		return 0;
	memcpy(out, (const char *)data + prefix, n);
	out[n] = '\0';
	return n;
}

int log_journal_next(struct log_journal *journal, struct log_entry *entry, bool *is_record)
{
	int more = journal->sd_journal_next(journal->journal);
	char text[FIELD_MAX];
	uint64_t when = 0;
	size_t n;

	if (more <= 0)
		return more;
	n = field(journal, "MESSAGE", text, sizeof(text));
	/* A message with a header of its own is somebody else's. */
	*is_record = n > 0 && begins(text, "event=") && log_entry_read(text, n, 0, entry);
	if (!*is_record)
		return 1;
	if (journal->sd_journal_get_realtime_usec(journal->journal, &when) >= 0)
		entry->when = (int64_t)when;
	if (field(journal, "_PID", text, sizeof(text)) > 0 ||
	    field(journal, "SYSLOG_PID", text, sizeof(text)) > 0)
		entry->pid = strtoll(text, NULL, 10);
	return 1;
}

void log_journal_wait(struct log_journal *journal, int ms)
{
	(void)journal->sd_journal_wait(journal->journal, (uint64_t)ms * 1000);
}

void log_journal_close(struct log_journal *journal)
{
	if (journal->journal)
		journal->sd_journal_close(journal->journal);
	if (journal->library)
		(void)dlclose(journal->library);
	free(journal);
}

#else

const char *log_journal_open(struct log_journal **out, const char *directory, int64_t since)
{
	(void)directory;
	(void)since;
	*out = NULL;
	return "built without libsystemd";
}

int log_journal_next(struct log_journal *journal, struct log_entry *entry, bool *is_record)
{
	(void)journal;
	(void)entry;
	(void)is_record;
	return 0;
}

void log_journal_wait(struct log_journal *journal, int ms)
{
	(void)journal;
	(void)ms;
}

void log_journal_close(struct log_journal *journal)
{
	(void)journal;
}

#endif
