/* SPDX-License-Identifier: MIT */
/*
 * `retrybudget run --inject`: the first connects of a program to a destination fail as asked, so
 * that somebody can try what the program itself does then. Never without that option.
 */
#ifndef RETRYBUDGET_HOOK_INJECT_H
#define RETRYBUDGET_HOOK_INJECT_H

#include "sys/inject_text.h"

/* Puts itself before the real connect, if the environment asks for it. Call from the constructor,
 * not in secure mode. */
void inject_prepare(void);

#endif
