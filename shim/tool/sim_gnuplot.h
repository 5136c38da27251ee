/* SPDX-License-Identifier: MIT */
/* gnuplot: a pipe to it, and what it is told of every picture. */
#ifndef RETRYBUDGET_TOOL_SIM_GNUPLOT_H
#define RETRYBUDGET_TOOL_SIM_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* A pipe to gnuplot; NULL: told to err. */
FILE *sim_gnuplot_start(const char *path, FILE *err);

/* Waits until it has drawn path. False: told to err. */
bool sim_gnuplot_finish(FILE *to, const char *path, FILE *err);

/* So many panels, each below the other, into path: SVG, or PNG or text by its name. */
void sim_gnuplot_layout(int panels, const char *path, FILE *to);

/* A text from elsewhere as a string of gnuplot. */
void sim_gnuplot_quoted(const char *text, FILE *to);

/* The title of the next panels: a name from elsewhere, and words of ours behind it. */
void sim_gnuplot_title(const char *name, const char *more, FILE *to);

#endif
