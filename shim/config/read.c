/* SPDX-License-Identifier: MIT */
/*
 * The parser: inih splits lines into keys and values, everything around it is here, because inih 55
 * cuts section names at 49 characters and lines at 198 without a word, joins indented lines to the
 * value above, and tells its handler no line number. The reader below feeds it one checked line at
 * a time and so knows all of that.
 *
 * The file is gone through three times: once to see that it is text, once for the sections that
 * others inherit from, wherever they stand, and once for everything, with the messages in order.
 */
#include "config/read.h"

#include "config/key_line.h"
#include "config/overrides.h"
#include "config/reading.h"
#include "config/section.h"
#include "config/value.h"

#include <errno.h>
#include <ini.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_LEN 198 /* inih 55 reads 200 bytes with LF and NUL */

/* inih took the line before for none it knows: it neither called the handler nor told us. */
static void check_pending(struct reading *reading, int line)
{
	if (reading->pending)
		reading_complain(reading, line, "expected 'key = value', '[section]' or a comment");
	reading->pending = false;
}

/* inih's fgets: hands on one line that inih will neither cut nor join to another one. */
static char *next_line(char *out, int size, void *arg)
{
	struct reading *reading = arg;
	size_t room = size < LINE_MAX_LEN + 1 ? (size_t)size : LINE_MAX_LEN + 1;

	check_pending(reading, reading->lines.number);
	if (overrides_next(reading, out, room)) {
		reading->pending = true;
		return out;
	}
	for (;;) {
		switch (lines_next(&reading->lines, out, room)) {
		case LINE_GOOD:
			break;
		case LINE_LONG:
			reading_complain(
			    reading, reading->lines.number,
			    "a line has at most 198 characters; split it into several match "
			    "lines, or move its comment into a line of its own");
			continue;
		case LINE_END:
			return overrides_section(reading, out, room) ? out : NULL;
		default:
			reading->stopped = true;
			return NULL;
		}
		if (*out == '\0')
			continue;
		if (*out == '[' ? reading_enter_section(reading, out)
		                : reading->section != SECTION_REFUSED)
			break;
	}
	reading->pending = *out != '[';
	return out;
}

/* One pass. Returns false if the file could not be read to its end as it was. */
static bool pass(struct reading *reading, int fd, bool all, uint32_t fingerprint)
{
	reading->all = all;
	reading->pending = reading->stopped = false;
	reading->section = SECTION_NONE;
	reading->policy = 0;
	overrides_begin(reading);
	memset(reading->common_lines, 0, sizeof(reading->common_lines));
	memset(reading->seen, 0, sizeof(reading->seen));
	lines_start(&reading->lines, fd);
	ini_parse_stream(next_line, reading, reading_take_key, reading);
	reading_leave_section(reading);
	return !reading->stopped && reading->lines.hash == fingerprint;
}

static void complain_of_file(const struct source *source, int line, const char *message)
{
	if (source->complain)
		source->complain(source->arg, source->file, line, message);
}

/* Sees that the file is text, and takes its fingerprint. Nothing of a file that is not may hold. */
static bool scan(struct reading *reading, int fd, uint32_t *fingerprint)
{
	char line[LINE_MAX_LEN + 1];
	enum line result;

	lines_start(&reading->lines, fd);
	do
		result = lines_next(&reading->lines, line, sizeof(line));
	while (result == LINE_GOOD || result == LINE_LONG);
	*fingerprint = reading->lines.hash;
	if (result == LINE_BINARY)
		complain_of_file(reading->source, reading->lines.number,
		                 "a byte that no text file has; nothing of this file is used");
	else if (result == LINE_ERROR)
		complain_of_file(reading->source, 0, "cannot be read");
	return result == LINE_END;
}

/* Not inlined: this frame and that of its caller are together too large for a small stack. */
static __attribute__((noinline)) enum reading_result read_fd(struct config *config,
                                                             const struct source *source, int fd,
                                                             uint32_t *fingerprint)
{
	struct reading reading;

	reading.config = config;
	reading.source = source;
	reading.complaints = 0;
	if (!scan(&reading, fd, fingerprint))
		return READING_FAILED;
	if (fd >= 0 && source->known && *source->known == *fingerprint)
		return READING_THE_SAME;
	config_defaults(config);
	reading.default_backoff = config->policies[0].backoff;
	if (!pass(&reading, fd, false, *fingerprint))
		goto changed;
	if (!pass(&reading, fd, true, *fingerprint))
		goto changed;
	return reading.complaints ? READING_FLAWED : READING_GOOD;
changed:
	complain_of_file(source, 0, "changed while it was read; replace it by renaming a new one");
	return READING_FAILED;
}

enum reading_result config_read_source(struct config *config, const struct source *source,
                                       struct identity *identity, uint32_t *fingerprint)
{
	enum reading_result result = READING_FAILED;
	char message[MESSAGE_MAX];
	struct text why;
	uint32_t none;
	int fd;

	text_start(&why, message, sizeof(message));
	memset(identity, 0, sizeof(*identity));
	*fingerprint = 0;
	fd = file_open(source->file, source->owned_by_root, identity, &why);
	if (fd >= 0) {
		result = read_fd(config, source, fd, fingerprint);
		file_close(fd);
	} else if (source->missing_ok && (errno == ENOENT || errno == ENOTDIR)) {
		result = READING_MISSING;
	} else {
		complain_of_file(source, 0, message);
	}
	if (result == READING_FAILED || result == READING_MISSING) {
		config_defaults(config);
		*fingerprint = 0;
		if (source->overrides)
			(void)read_fd(config, source, -1, &none);
	}
	if (result != READING_THE_SAME)
		modes_settle(config, source->mode);
	return result;
}

int config_read(struct config *config, const char *file, bool missing_ok, config_complain *tell,
                void *arg)
{
	struct source source = {
		.file = file,
		.missing_ok = missing_ok,
		.owned_by_root = geteuid() == 0,
		.mode = MODE_AS_IN_FILE,
		.complain = tell,
		.arg = arg,
	};
	struct identity identity;
	uint32_t fingerprint;

	switch (config_read_source(config, &source, &identity, &fingerprint)) {
	case READING_GOOD:
		return 0;
	case READING_FLAWED:
		return 1;
	default:
		return -1;
	}
}
