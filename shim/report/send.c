/* SPDX-License-Identifier: MIT */
/* A record on its way: a datagram on a transient socket, or a line on stderr. */
#include "report/send.h"

#include "report/report.h"
#include "sys/forks.h"
#include "sys/process.h"
#include "sys/real.h"
#include "sys/shelter.h"
#include "sys/status.h"
#include "sys/text.h"
#include "sys/transient.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#define IDENT          "retrybudget"
#define DEFAULT_SOCKET "/dev/log"
#define JOURNAL_SOCKET "/run/systemd/journal/socket"

static int severity(const struct record *record)
{
	switch (record->event) {
	case EVENT_THROTTLED:
	case EVENT_EXHAUSTED:
	case EVENT_REJECTED:
	case EVENT_CONFIG_ERROR:
	case EVENT_SCOPE:
		return LOG_WARNING;
	case EVENT_RETRYING:
	case EVENT_RECOVERED:
	case EVENT_REFILLED:
	case EVENT_SPREAD:
	case EVENT_MODE:
		return LOG_NOTICE;
	default:
		return LOG_INFO;
	}
}

/*
 * MSG_FASTOPEN: unix sockets ignore it, but should the number have become a connected TCP socket of
 * the program since the check, the kernel answers EISCONN instead of sending our record to its
 * peer.
 */
static bool send_datagram(const char *path, struct iovec *parts, size_t count)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct msghdr message = { .msg_name = &to, .msg_namelen = sizeof(to) };
	struct shelter shelter;
	struct transient at;
	forks_held held;
	bool sent = false;

	strncpy(to.sun_path, path, sizeof(to.sun_path) - 1);
	message.msg_iov = parts;
	message.msg_iovlen = (__typeof__(message.msg_iovlen))count; /* musl: int */
	shelter_enter(&shelter);
	if (forks_hold(&held)) {
		if (transient_open(&at, AF_UNIX)) {
			if (transient_is_ours(&at))
				sent =
				    real.sendmsg(at.fd, &message,
				                 MSG_NOSIGNAL | MSG_DONTWAIT | MSG_FASTOPEN) >= 0;
			transient_close(&at);
		}
		forks_let(held);
	}
	shelter_leave(&shelter);
	return sent;
}

static struct iovec part(const char *bytes, size_t n)
{
	return (struct iovec) { .iov_base = (void *)(uintptr_t)bytes, .iov_len = n };
}

static void put_ident(struct text *text)
{
	text_string(text, IDENT "[");
	text_decimal(text, process_id());
	text_string(text, "]: ");
}

/*
 * "<PRI>retrybudget[pid]: line", without the time stamp that RFC 3164 has in between. It would have
 * to be local time, and finding the zone takes locks and files; rsyslog (imuxsock), journald,
 * syslog-ng and busybox all stamp on receipt when there is none, and by default even when there is.
 */
static bool send_syslog(const struct log_settings *settings, const struct record *record,
                        const char *line, size_t length)
{
	char header[48];
	struct text text;
	struct iovec parts[2];

	text_start(&text, header, sizeof(header));
	text_string(&text, "<");
	text_decimal(&text, settings->facility | severity(record));
	text_string(&text, ">");
	put_ident(&text);
	parts[0] = part(header, text.used);
	parts[1] = part(line, length);
	return send_datagram(settings->socket, parts, 2);
}

/* The journal's native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): KEY=value lines. The line
 * holds no newline, and the destination is escaped. */
static bool send_journal(const struct log_settings *settings, const struct record *record,
                         const char *line, size_t length)
{
	static const char message[] = "MESSAGE=";
	bool elsewhere = strcmp(settings->socket, DEFAULT_SOCKET) != 0;
	char fields[512];
	struct text text;
	struct iovec parts[3];
	size_t mark;

	text_start(&text, fields, sizeof(fields));
	text_string(&text, "\nPRIORITY=");
	text_decimal(&text, severity(record));
	text_string(&text, "\nSYSLOG_FACILITY=");
	text_decimal(&text, settings->facility >> 3);
	text_string(&text, "\nSYSLOG_IDENTIFIER=" IDENT "\nSYSLOG_PID=");
	text_decimal(&text, process_id());
	text_string(&text, "\nRETRYBUDGET_EVENT=");
	text_string(&text, record_event(record));
	mark = text.used;
	if (record->destination) {
		const char *name = record->destination->name;

		if (!text_string(&text, "\nRETRYBUDGET_DEST=") ||
		    !text_escaped(&text, name, strnlen(name, REGION_NAME),
		                  sizeof(fields) - text.used - 2))
			text_rewind(&text, mark);
	}
	text_string(&text, "\n");
	parts[0] = part(message, sizeof(message) - 1);
	parts[1] = part(line, length);
	parts[2] = part(fields, text.used);
	return send_datagram(elsewhere ? settings->socket : JOURNAL_SOCKET, parts, 3);
}

/* What stderr was when the program started. A daemon that closes everything may get the number 2
 * again for a connection or a file of its own, which is not ours to write to. */
static dev_t stderr_device;
static ino64_t stderr_inode;

void send_remember_stderr(void)
{
	struct stat64 is;

	if (status_of(STDERR_FILENO, &is)) {
		stderr_device = is.st_dev;
		stderr_inode = is.st_ino;
	}
}

static bool stderr_is_ours(void)
{
	struct stat64 is;

	return stderr_inode != 0 && status_of(STDERR_FILENO, &is) && is.st_dev == stderr_device &&
	       is.st_ino == stderr_inode;
}

/* True if a line can be written to stderr without blocking: nobody may hang because a reader is
 * slow. A pipe that is writable at all takes PIPE_BUF bytes. */
static bool stderr_is_ready(void)
{
	struct pollfd at = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&at, 1, 0) == 1 && at.revents == POLLOUT;
}

/* One write, so that lines of several processes do not mix. A reader that has just gone would raise
 * SIGPIPE: it is blocked, and taken back if it was ours. */
static bool send_stderr(const char *line, size_t length)
{
	char header[48];
	struct text text;
	struct iovec parts[3];
	sigset_t pipe_signal, pending;
	struct shelter shelter;
	bool written = false;

	text_start(&text, header, sizeof(header));
	put_ident(&text);
	parts[0] = part(header, text.used);
	parts[1] = part(line, length);
	parts[2] = part("\n", 1);
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	shelter_enter(&shelter);
	sigpending(&pending);
	errno = 0;
	if (stderr_is_ours() && stderr_is_ready())
		written = real.writev(STDERR_FILENO, parts, 3) > 0;
	if (errno == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
		static const struct timespec at_once;

		sigtimedwait(&pipe_signal, NULL, &at_once);
	}
	shelter_leave(&shelter);
	return written;
}

bool send_line(const struct log_settings *settings, const struct record *record, const char *line,
               size_t length)
{
	switch (settings->target) {
	case LOG_TARGET_SYSLOG:
		return send_syslog(settings, record, line, length);
	case LOG_TARGET_JOURNAL:
		return send_journal(settings, record, line, length);
	case LOG_TARGET_STDERR:
		return send_stderr(line, length);
	default:
		return true;
	}
}
