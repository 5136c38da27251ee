// SPDX-License-Identifier: MIT
// What the parts of faulty share: ports, each in its phase, and their connections.
#ifndef HARM_FAULTY_H
#define HARM_FAULTY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
	PHASES = 64,
	PORTS = 40,
	SECONDS = 130,
	CONNECTIONS = 20000,
	REQUEST = 8192,
};

struct phase {
	char what[12];
	int number;
	double from;
};

struct port {
	char address[20];
	int number, listener, now, phases;
	struct phase phase[PHASES];
	long syns, connections, requests, by_second[SECONDS], in_second[SECONDS];
};

struct connection {
	struct port *port;
	unsigned generation;
	int length;
	bool started; // fake PostgreSQL: past its greeting
	char request[REQUEST];
};

extern struct port ports[PORTS];
extern int port_count;
extern struct connection *connections[CONNECTIONS];

static inline struct phase *phase_of(const struct port *port)
{
	return (struct phase *)&port->phase[port->now];
}

static inline bool is(const struct port *port, const char *what)
{
	return strcmp(phase_of(port)->what, what) == 0;
}

// Seconds since the beginning.
double now(void);

// The same draws in each run, so that bare and shim meet the same luck.
int percent(void);

void watch(int fd);
void drop(int fd);

#endif
