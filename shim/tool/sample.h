/* SPDX-License-Identifier: MIT */
/* What is made from the key table. */
#ifndef RETRYBUDGET_TOOL_SAMPLE_H
#define RETRYBUDGET_TOOL_SAMPLE_H

#include <stdio.h>

/* conf/retrybudget.ini. */
void print_sample(FILE *out);

/* The keys of retrybudget(5), in roff. */
void print_man_keys(FILE *out);

#endif
