// SPDX-License-Identifier: MIT
// Every attempt at a port, counted by its SYN.
#ifndef HARM_FAULTY_SYNS_H
#define HARM_FAULTY_SYNS_H

// The socket that gets them; it is readable where some are to be counted.
int open_tap(void);
void count_syns(int tap);

#endif
