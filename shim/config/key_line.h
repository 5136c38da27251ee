/* SPDX-License-Identifier: MIT */
/* A line with a key and its value. Private to this room. */
#ifndef RETRYBUDGET_CONFIG_KEY_LINE_H
#define RETRYBUDGET_CONFIG_KEY_LINE_H

#include "config/reading.h"

/* inih's handler; arg: the reading. What is wrong with the line is told. Always 1: to go on. */
int reading_take_key(void *arg, const char *section, const char *name, const char *value);

#endif
