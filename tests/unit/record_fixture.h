/* SPDX-License-Identifier: MIT */
/* Shared by the tests of records: a strict reader of logfmt, a record, a log socket to listen at.
 */
#ifndef RETRYBUDGET_TESTS_RECORD_FIXTURE_H
#define RETRYBUDGET_TESTS_RECORD_FIXTURE_H

#include "sys/real.h"
#include "report/record.h"
#include "report/report.h"

#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"

/* --- a strict reader of logfmt, to hold the lines against --- */

struct pairs {
	int count;
	char key[32][32], value[32][RECORD_MAX];
	size_t length[32];
};

static int hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False for anything that is not `key=value key="value" …`, printable ASCII, one space between. */
static bool parse(const char *line, struct pairs *pairs)
{
	const char *at = line;

	memset(pairs, 0, sizeof(*pairs));
	while (*at) {
		char *value = pairs->value[pairs->count];
		size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_"), used = 0;

		if (pairs->count == 31 || n == 0 || n > 31 || at[n] != '=')
			return false;
		memcpy(pairs->key[pairs->count], at, n);
		at += n + 1;
		if (*at == '"') {
			for (at++; *at != '"'; at++) {
				if (*at < ' ' || *at > '~')
					return false;
				if (*at == '\\') {
					int high, low;

					if (at[1] != 'x' || (high = hex_value(at[2])) < 0 ||
					    (low = hex_value(at[3])) < 0)
						return false;
					value[used++] = (char)(high << 4 | low);
					at += 3;
				} else {
					value[used++] = *at;
				}
			}
			at++;
		} else {
			if (*at == ' ' || *at == '\0')
				return false;
			for (; *at && *at != ' '; at++) {
				if (*at < '!' || *at > '~' || strchr("\"\\=", *at))
					return false;
				value[used++] = *at;
			}
		}
		pairs->length[pairs->count++] = used;
		if (*at == ' ' && at[1] && at[1] != ' ')
			at++;
		else if (*at)
			return false;
	}
	return true;
}

static const char *value_of(const struct pairs *pairs, const char *key)
{
	for (int i = 0; i < pairs->count; i++)
		if (strcmp(pairs->key[i], key) == 0)
			return pairs->value[i];
	return NULL;
}

static struct destination destination;
static struct sockaddr_in address;

/* The record of the example in retrybudget(5), RECORDS. */
static struct record throttled(void)
{
	strcpy(destination.name, "db.internal:5432");
	address = (struct sockaddr_in) { .sin_family = AF_INET, .sin_port = htons(5432) };
	inet_pton(AF_INET, "10.1.0.5", &address.sin_addr);
	return (struct record) {
		.event = EVENT_THROTTLED,
		.destination = &destination,
		.policy = "orders-db",
		.address = (struct sockaddr *)&address,
		.address_len = sizeof(address),
		.failure = FAILURE_REFUSED,
		.streak = 7,
		.capacity = 10000,
		.process_tokens = 93150,
		.process_capacity = 100000,
		.since = 30811 * NS_PER_MS,
		.due = 812 * NS_PER_MS + 999999,
		.why = "loop",
		.err = ECONNREFUSED,
	};
}

static const struct told sums = {
	.attempts = 412,
	.throttled = 371,
	.refused = 371,
	.held = 96,
	.waited = 24012 * NS_PER_MS,
};

/* --- a log socket --- */

static struct region region;
static struct log_settings settings;
static char directory[64];
static int listener;

static void listen_at(enum log_target target)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	strcpy(directory, "/tmp/retrybudget-test-XXXXXX");
	cr_assert_not_null(mkdtemp(directory));
	snprintf(un.sun_path, sizeof(un.sun_path), "%s/log", directory);
	listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	cr_assert_eq(bind(listener, (struct sockaddr *)&un, sizeof(un)), 0);
	memset(&region, 0, sizeof(region));
	memset(&destination, 0, sizeof(destination));
	settings = (struct log_settings) { .target = target,
		                           .facility = LOG_DAEMON,
		                           .interval = 30 * NS_PER_S };
	strcpy(settings.socket, un.sun_path);
	report_settings(&settings, &region);
}

static void stop_listening(void)
{
	close(listener);
	unlink(settings.socket);
	rmdir(directory);
}

static ssize_t next_datagram(char *out, size_t size)
{
	ssize_t n = recv(listener, out, size - 1, MSG_DONTWAIT);

	out[n > 0 ? n : 0] = '\0';
	return n;
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

#endif
