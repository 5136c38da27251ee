/* SPDX-License-Identifier: MIT */
/*
 * What the test servers share: a clock, a journal of when something was seen, and orders read line
 * by line from stdin. Times are CLOCK_MONOTONIC nanoseconds, the clock of Python's monotonic_ns().
 */
#ifndef CLIENTS_CONTROL_H
#define CLIENTS_CONTROL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define JOURNAL_MAX (1 << 20) /* enough for the fastest bare loop; later sightings only count */

struct sighting {
	int64_t when;
	int key; /* a port, a query type */
};

static struct sighting journal[JOURNAL_MAX];
static long journal_length;
static long journal_overflow;

static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void journal_add(int key)
{
	if (journal_length == JOURNAL_MAX) {
		journal_overflow++;
		return;
	}
	journal[journal_length].when = now_ns();
	journal[journal_length++].key = key;
}

/*
 * Answers "count KEY SINCE" with a number, and "times KEY SINCE" with the number and the times.
 * Returns 0 if the order was neither. An overflow is added to every count: never too low.
 */
static inline int journal_order(const char *order)
{
	long long since = 0;
	char verb[8];
	int key;
	long n = 0;

	if (sscanf(order, "%7s %d %lld", verb, &key, &since) < 2 ||
	    (strcmp(verb, "count") != 0 && strcmp(verb, "times") != 0))
		return 0;
	for (long i = 0; i < journal_length; i++)
		n += journal[i].key == key && journal[i].when >= since;
	printf("%ld", n + journal_overflow);
	for (long i = 0; i < journal_length && verb[0] == 't'; i++)
		if (journal[i].key == key && journal[i].when >= since)
			printf(" %lld", (long long)journal[i].when);
	putchar('\n');
	return 1;
}

/*
 * Reads what is there on stdin and hands over each whole line. Returns 0 at its end: whoever gave
 * the orders has gone, and so should the server.
 */
static inline int control_read(void (*obey)(const char *order))
{
	static char text[4096];
	static size_t length;
	ssize_t got = read(0, text + length, sizeof(text) - 1 - length);
	char *end;

	if (got <= 0)
		return 0;
	length += (size_t)got;
	text[length] = 0;
	while ((end = strchr(text, '\n'))) {
		*end = 0;
		obey(text);
		length -= (size_t)(end + 1 - text);
		memmove(text, end + 1, length + 1);
	}
	fflush(stdout);
	return length < sizeof(text) - 1;
}

#endif
