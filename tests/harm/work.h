// SPDX-License-Identifier: MIT
// What the hosts in C share: one request over a blocking socket, and the line about a piece of
// work.
#ifndef HARM_WORK_H
#define HARM_WORK_H

#include <stdbool.h>
#include <stddef.h>

struct way {
	int timeout_ms;   // of the socket's calls; 0 is none
	bool kept;        // the connection stays open between requests
	bool nonblocking; // connects so, and polls
	bool post;        // head and body in writes of their own, one path for all
	bool one_way;     // sends, waits a second, closes; nobody ever answers
	bool log;         // a datagram and a line to a file after each failure
	bool listens;     // reads to the end, and sends nothing
	bool asks_first;  // but for the first time, after a greeting
	bool forget;      // sends and closes: fire and forget
	bool ends;        // closes before the server does, whose port of its own then waits
};

double seconds_now(void);
void pause_ms(double milliseconds);

/*
 * Asks for a path at "PORT" or "ADDRESS:PORT". kept is where a kept connection stands (-1: none).
 * Returns NULL, or the name of what went wrong.
 */
const char *ask(const char *target, const char *path, const struct way *way, int *kept);

// Whom the storm of a program asks for ever, and how long it waits in between.
struct storm {
	char target[64]; // "": there is no storm
	char path[64];
	double pause_ms;
};

// What an option says: PORT[/PATH][:PAUSE-MS].
struct storm storm_of(const char *text);

// Asks once, over a connection of its own, and waits.
void storm_on(const struct storm *storm);

#endif
