// SPDX-License-Identifier: MIT
// Options of one letter each, and where their values go.
#ifndef HARM_OPTIONS_H
#define HARM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
	OPTION_FLAG, // bool, without a value
	OPTION_INT,
	OPTION_LONG,
	OPTION_REAL,  // double
	OPTION_TEXT,  // const char *
	OPTION_STORM, // struct storm
};

struct option {
	char letter;
	enum option_kind kind;
	void *to;
};

// Reads those of a command line; optind then is the first argument that is none. False: one is not
// known.
bool read_options(const struct option *options, size_t count, int argc, char **argv);

#endif
