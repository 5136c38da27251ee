// SPDX-License-Identifier: MIT
// What the servers say, each in the phase that its port is in.
#ifndef HARM_FAULTY_SAY_H
#define HARM_FAULTY_SAY_H

#include "faulty.h"

void say(int fd, const char *text, size_t length);

// The length of the first whole request in the buffer, or 0.
int whole(const struct connection *c);

// Answers that request.
void answer(int fd);

// Refuses in band; kind: as the phase `greet` counts them.
void greet(int fd, int kind);

void postgres(int fd);

// The same back, and at "quit" the end.
void line(int fd);

void socks(int fd);
void resolve(struct port *port);

#endif
