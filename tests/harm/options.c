// SPDX-License-Identifier: MIT
#include "options.h"

#include "work.h"

#include <stdlib.h>
#include <unistd.h>

static void set(const struct option *option, const char *value)
{
	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)option->to = true;
		break;
	case OPTION_INT:
		*(int *)option->to = atoi(value);
		break;
	case OPTION_LONG:
		*(long *)option->to = atol(value);
		break;
	case OPTION_REAL:
		*(double *)option->to = atof(value);
		break;
	case OPTION_TEXT:
		*(const char **)option->to = value;
		break;
	case OPTION_STORM:
		*(struct storm *)option->to = storm_of(value);
		break;
	}
}

bool read_options(const struct option *options, size_t count, int argc, char **argv)
{
	char letters[128] = "", *end = letters;
	for (size_t i = 0; i < count && end < letters + sizeof letters - 3; i++) {
		*end++ = options[i].letter;
		if (options[i].kind != OPTION_FLAG)
			*end++ = ':';
	}
	for (int letter; (letter = getopt(argc, argv, letters)) >= 0;) {
		size_t i = 0;
		while (i < count && options[i].letter != letter)
			i++;
		if (i == count)
			return false;
		set(&options[i], optarg);
	}
	return true;
}
