/* SPDX-License-Identifier: MIT */
/*
 * What went wrong while loading, kept until it can be reported: the log target is itself part of
 * what is being loaded. Fixed memory; what does not fit is counted.
 */
#ifndef RETRYBUDGET_CONFIG_COMPLAINTS_H
#define RETRYBUDGET_CONFIG_COMPLAINTS_H

/* Keeps a message. file must outlive it; line 0 is the file as a whole. One thread at a time. */
void complaint_add(const char *file, int line, const char *message);

/* How many there are, and forgetting those that came after: they have been told before. */
int complaints_count(void);
void complaints_forget(int count);

typedef void complaint_writer(void *arg, const char *file, int line, const char *message);

/* Hands them all over, once, and how many more there were; returns how many there were in all.
 * Async-signal-safe if the writer is. */
int complaints_take(complaint_writer *write, void *arg);

#endif
