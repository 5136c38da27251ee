/* SPDX-License-Identifier: MIT */
/* The answer to a connection that may not come in. */
#ifndef RETRYBUDGET_ADMISSION_REJECT_H
#define RETRYBUDGET_ADMISSION_REJECT_H

#include "budget/admission.h"
#include "sys/shelter.h"

/*
 * Answers as the rule says and closes the descriptor, which nobody but us knows of: call it in a
 * shelter, or a handler may carry it away half-way. listener: where the program would wait now for
 * the next one, so that there is time for the request to arrive, 20 ms or until somebody else does;
 * -1: the program has no time. errno is left alone. Async-signal-safe.
 */
void reject(int peer, const struct admission_rule *rule, int listener);

/* True if a signal waits for the end of the shelter whose handler would have ended a blocking
 * accept with EINTR (signal(7)). errno is left alone. Async-signal-safe. */
bool reject_interrupted(const struct shelter *shelter);

#endif
