/* SPDX-License-Identifier: MIT */
/*
 * The line of a record. The order of the fields is part of the format (retrybudget(5)); each value
 * from outside has a share of the line, so that a long one never crowds out another.
 */
#include "report/record.h"

#include "report/report.h"
#include "sys/text.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

/* Bytes of the line that a value may take, quotes included. Together with the longest numbers they
 * leave some for site=. */
#define PROG_MAX    40
#define DEST_MAX    264
#define ADDRESS_MAX 130
#define POLICY_MAX  70
#define FILE_MAX    260
#define MESSAGE_MAX 500

static const char *const failure_names[FAILURE_COUNT] = {
	[FAILURE_REFUSED] = "refused", [FAILURE_UNREACHABLE] = "unreachable",
	[FAILURE_TIMEOUT] = "timeout", [FAILURE_RESET] = "reset",
	[FAILURE_DROPPED] = "dropped", [FAILURE_LOCAL] = "local",
	[FAILURE_LOOKUP] = "lookup",   [FAILURE_STATUS] = "status",
};

const char *failure_name(enum failure failure)
{
	return failure_names[failure];
}

struct number_name {
	int number;
	const char *name;
};

#define NAMED(number)                                                                              \
	{                                                                                          \
		number, #number                                                                    \
	}

/* strerrorname_np() is newer than the oldest libc we run on; these are what a connect returns. */
static const struct number_name errno_names[] = {
	NAMED(ECONNREFUSED), NAMED(ETIMEDOUT),    NAMED(EHOSTUNREACH),  NAMED(ENETUNREACH),
	NAMED(ECONNRESET),   NAMED(EPIPE),        NAMED(EADDRNOTAVAIL), NAMED(ENETDOWN),
	NAMED(EHOSTDOWN),    NAMED(ECONNABORTED), NAMED(ENOENT),        NAMED(EAGAIN),
	NAMED(EPERM),        NAMED(EACCES),       NAMED(EINPROGRESS),   NAMED(EALREADY),
	NAMED(EISCONN),      NAMED(ENOTCONN),     NAMED(EADDRINUSE),    NAMED(EINTR),
	NAMED(EIO),          NAMED(EINVAL),       NAMED(ENOBUFS),       NAMED(ENOMEM),
	NAMED(EMFILE),       NAMED(ENFILE),       NAMED(EBADF),         NAMED(EPROTO),
	NAMED(EPROTOTYPE),   NAMED(EAFNOSUPPORT), NAMED(ENOTSOCK),      NAMED(EOPNOTSUPP),
	NAMED(EMSGSIZE),     NAMED(ENETRESET),
};

static const struct number_name eai_names[] = {
	NAMED(EAI_AGAIN),   NAMED(EAI_FAIL),     NAMED(EAI_NONAME),   NAMED(EAI_SYSTEM),
	NAMED(EAI_NODATA),  NAMED(EAI_MEMORY),   NAMED(EAI_FAMILY),   NAMED(EAI_ADDRFAMILY),
	NAMED(EAI_SERVICE), NAMED(EAI_BADFLAGS), NAMED(EAI_SOCKTYPE), NAMED(EAI_OVERFLOW),
};

const char *record_event(const struct record *record)
{
	switch (record->event) {
	case EVENT_LOADED:
		return "loaded";
	case EVENT_CONFIG_ERROR:
		return "config-error";
	case EVENT_RELOADED:
		return "reloaded";
	case EVENT_ATTEMPT:
		return "attempt";
	case EVENT_RETRYING:
		return "retrying";
	case EVENT_THROTTLED:
		return record->observe ? "would-throttle" : "throttled";
	case EVENT_EXHAUSTED:
		return "exhausted";
	case EVENT_REFILLED:
		return "refilled";
	case EVENT_RECOVERED:
		return "recovered";
	case EVENT_REJECTED:
		return record->observe ? "would-reject" : "rejected";
	case EVENT_SCOPE:
		return "scope";
	case EVENT_BREAKER_OPEN:
		return "breaker-open";
	case EVENT_BREAKER_HALF_OPEN:
		return "breaker-half-open";
	case EVENT_BREAKER_CLOSED:
		return "breaker-closed";
	case EVENT_SPREAD:
		return record->observe ? "would-spread" : "spread";
	case EVENT_MODE:
		return "mode";
	}
	return "unknown";
}

/* Appends " key=". The caller takes everything back if the value does not follow. */
static bool key(struct text *text, const char *name)
{
	return (text->used == 0 || text_string(text, " ")) && text_string(text, name) &&
	       text_string(text, "=");
}

static void value_field(struct text *text, const char *name, const char *value, size_t n,
                        size_t max)
{
	size_t mark = text->used;

	if (value && !(key(text, name) && text_value(text, value, n, max)))
		text_rewind(text, mark);
}

static void string_field(struct text *text, const char *name, const char *value, size_t max)
{
	value_field(text, name, value, value ? strlen(value) : 0, max);
}

static void number_field(struct text *text, const char *name, int64_t value)
{
	size_t mark = text->used;

	if (value && !(key(text, name) && text_decimal(text, value)))
		text_rewind(text, mark);
}

/* "tokens=0.0/10": the level against the capacity. */
static void tokens_field(struct text *text, const char *name, int64_t tokens, int64_t capacity)
{
	size_t mark = text->used;

	if (capacity && !(key(text, name) && text_fixed(text, tokens, 1) &&
	                  text_string(text, "/") && text_thousandths(text, capacity)))
		text_rewind(text, mark);
}

static void name_field(struct text *text, const char *name, int number,
                       const struct number_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (names[i].number == number) {
			string_field(text, name, names[i].name, RECORD_MAX);
			return;
		}
	number_field(text, name, number);
}

static void address_field(struct text *text, const char *name, const struct sockaddr *address,
                          socklen_t len)
{
	size_t mark = text->used;

	if (address && !(key(text, name) && text_address(text, address, len, ADDRESS_MAX)))
		text_rewind(text, mark);
}

static void ms_field(struct text *text, const char *name, int64_t ns)
{
	size_t mark = text->used;

	if (ns > 0 && !(key(text, name) && text_decimal(text, ns / NS_PER_MS)))
		text_rewind(text, mark);
}

size_t record_format(char *out, size_t size, const struct record *record, const char *prog,
                     const struct told *told, const char *site)
{
	struct text text;

	text_start(&text, out, size);
	string_field(&text, "event", record_event(record), RECORD_MAX);
	if (text.used == 0) /* a line without its event would be read as something else */
		return 0;
	string_field(&text, "prog", prog, PROG_MAX);
	if (record->destination) {
		/* Shared memory: the NUL may have been overwritten. */
		const char *name = record->destination->name;

		value_field(&text, "dest", name, strnlen(name, REGION_NAME), DEST_MAX);
	}
	address_field(&text, "listen", record->listen, record->listen_len);
	address_field(&text, "addr", record->address, record->address_len);
	string_field(&text, "policy", record->policy, POLICY_MAX);
	if (record->event == EVENT_ATTEMPT)
		string_field(&text, "kind", record->retry ? "retry" : "first", RECORD_MAX);
	number_field(&text, "thread", record->thread);
	if (record->failure > FAILURE_NONE && record->failure < FAILURE_COUNT)
		string_field(&text, "class", failure_names[record->failure], RECORD_MAX);
	string_field(&text, "why", record->why, RECORD_MAX);
	number_field(&text, "retry", record->streak);
	tokens_field(&text, "tokens", record->tokens, record->capacity);
	if (record->source > SOURCE_OWN && record->source < SOURCES)
		string_field(&text, "by", record->source == SOURCE_LEASE ? "lease" : "reserve",
		             RECORD_MAX);
	tokens_field(&text, "process_tokens", record->process_tokens, record->process_capacity);
	number_field(&text, "attempts", told->attempts);
	number_field(&text, "throttled", told->throttled);
	number_field(&text, "refused", told->refused);
	number_field(&text, "parked", told->parked);
	number_field(&text, "held", told->held);
	ms_field(&text, "waited_ms", told->waited);
	ms_field(&text, "since_ms", record->since);
	number_field(&text, "queue", record->queue);
	ms_field(&text, "wait_ms", record->wait);
	ms_field(&text, "due_ms", record->due);
	name_field(&text, "errno", record->err, errno_names,
	           sizeof(errno_names) / sizeof(*errno_names));
	name_field(&text, "eai", record->eai, eai_names, sizeof(eai_names) / sizeof(*eai_names));
	string_field(&text, "file", record->file, FILE_MAX);
	number_field(&text, "line", record->line);
	string_field(&text, "msg", record->text, MESSAGE_MAX);
	number_field(&text, "suppressed", told->suppressed);
	if (site && *site)
		string_field(&text, "site", site, RECORD_MAX);
	return text.used;
}
