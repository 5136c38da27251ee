// SPDX-License-Identifier: MIT
/* Records: no byte from a name, a path or shared memory may forge a field or a line, or leave the
 * buffer. */
#include "report/record.h"
#include "report/report.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *at;
static size_t left;

static int64_t number(void)
{
	uint64_t value = 0;

	for (int i = 0; i < 8 && left > 0; i++, left--)
		value = value << 8 | *at++;
	return (int64_t)value;
}

/* A string of up to 255 bytes, of any. */
static const char *string(char out[256])
{
	size_t n = left > 0 ? *at++ : 0;

	left -= left > 0;
	n = n < left ? n : left;
	memcpy(out, at, n);
	out[n] = '\0';
	at += n;
	left -= n;
	return out;
}

/* The number of fields of a line, -1 if it is not logfmt in printable ASCII. */
static int fields_of(const char *line)
{
	int fields = 0;

	while (*line) {
		size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyz_");

		if (n == 0 || line[n] != '=')
			return -1;
		line += n + 1;
		if (*line == '"')
			do
				if (*++line < ' ' || *line > '~')
					return -1;
			while (*line != '"');
		else if (*line <= ' ' || *line > '~' || *line == '=')
			return -1;
		for (; *line && *line != ' '; line++)
			if (*line < '!' || *line > '~' || *line == '=')
				return -1;
		if (*line == ' ' && *++line == '\0')
			return -1;
		fields++;
	}
	return fields;
}

static void check(const struct record *record, char *out, size_t room, const char *prog,
                  const char *site)
{
	size_t n;
	struct told told = { .attempts = number(),
		             .throttled = number(),
		             .refused = number(),
		             .parked = number(),
		             .held = number(),
		             .waited = number(),
		             .suppressed = number() };

	memset(out, 0x7e, room + 8);
	n = record_format(out, room, record, prog, &told, site);
	if ((room > 0 && (n >= room || strlen(out) != n)) ||
	    memcmp(out + room, "\x7e\x7e\x7e\x7e\x7e\x7e\x7e\x7e", 8) != 0)
		abort();
	if (room > 0 && (fields_of(out) < 0 || fields_of(out) > 31))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct destination destination;
	static char policy[256], prog[256], site[256], file[256], text[256], out[RECORD_MAX + 16];
	union {
		struct sockaddr any;
		struct sockaddr_in6 v6;
		struct sockaddr_un un;
		char bytes[256];
	} address = { 0 };
	struct record record = { 0 };
	size_t room;

	at = data;
	left = size;
	room = (size_t)number() % (RECORD_MAX + 1);
	record.event = (enum event)((uint64_t)number() % (EVENT_SPREAD + 1));
	record.failure = (enum failure)number();
	record.observe = number() & 1;
	record.streak = number();
	record.tokens = number();
	record.capacity = number();
	record.process_tokens = number();
	record.process_capacity = number();
	record.queue = record.wait = record.since = record.due = number();
	record.err = (int)number();
	record.eai = (int)number();
	record.thread = (int32_t)number();
	record.line = (int)number();
	record.policy = string(policy);
	record.file = string(file);
	record.text = string(text);
	string(address.bytes);
	address.any.sa_family = (sa_family_t[]) { AF_INET, AF_INET6, AF_UNIX, 99 }[number() & 3];
	record.address = &address.any;
	record.address_len = (socklen_t)((uint64_t)number() % sizeof(address.un));
	string(prog);
	string(site);
	/* The rest is the name in shared memory, which need not end. */
	memset(destination.name, 'x', REGION_NAME);
	memcpy(destination.name, at, left < REGION_NAME ? left : REGION_NAME);
	record.destination = &destination;
	left = 0;
	check(&record, out, room, prog, site);
	check(&record, out, RECORD_MAX, prog, site);
	return 0;
}
