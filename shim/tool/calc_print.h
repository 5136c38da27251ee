/* SPDX-License-Identifier: MIT */
/* The answers of retrybudget calc: the formula, one example worked out, a table, a verdict. */
#ifndef RETRYBUDGET_TOOL_CALC_PRINT_H
#define RETRYBUDGET_TOOL_CALC_PRINT_H

#include "tool/calc_values.h"

void calc_print(enum calc_formula formula, const struct calc_question *question, FILE *out);

#endif
