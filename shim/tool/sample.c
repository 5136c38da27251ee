/* SPDX-License-Identifier: MIT */
/* The texts that are made from the key table: the sample file, and the key list of the manual. */
#include "tool/sample.h"

#include "config/keys.h"
#include "config/value.h"

#include <string.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

static const char head[] =
    "; libretrybudget: the built-in defaults, each with what it is for. See retrybudget(5).\n"
    "; Times: 500us 250ms 30s 5m 1h. Shares: 10% or 0.1. Rates: 2/s 12/min 30/h.\n"
    "; A comment begins with ';', after a value with a blank and ';'. Try a change with\n"
    "; 'retrybudget check FILE'.\n";

static const char examples[] =
    "\n"
    "; A section of its own for some destinations starts from [destination default] and says what\n"
    "; is different. The most specific pattern wins, then the first in the file.\n"
    ";\n"
    "; [destination orders-db]\n"
    "; match = db.internal:5432, *.db.internal:5432\n"
    "; match = 10.1.0.0/16:5432, [2001:db8::]/32:5432\n"
    "; floor = 1/s\n"
    ";\n"
    "; [destination cache]\n"
    "; match = unix:/run/cache/*.sock\n"
    "; mode = off\n"
    ";\n"
    "; [destination lookups]\n"
    "; match = dns:*.internal\n"
    "; cap = 30s\n";

static const char *heading(enum section section)
{
	switch (section) {
	case SECTION_GENERAL:
		return "[retrybudget]";
	case SECTION_LOG:
		return "[log]";
	case SECTION_BUDGET:
		return "[budget]";
	case SECTION_FLEET:
		return "[fleet]";
	case SECTION_ADMISSION:
		return "[admission NAME]";
	default:
		return "[destination default]";
	}
}

static const char *about(enum section section)
{
	switch (section) {
	case SECTION_GENERAL:
		return "the program as a whole";
	case SECTION_LOG:
		return "where records go";
	case SECTION_BUDGET:
		return "process-wide: every destination draws on it";
	case SECTION_FLEET:
		return "one budget for many hosts, which retrybudgetd leases from Redis";
	case SECTION_ADMISSION:
		return "admission to a server: what comes faster than rate is answered at once";
	default:
		return "what every destination starts from";
	}
}

/* A section that only means something with an address: all of it is an example. */
static void print_admission(FILE *out)
{
	fprintf(out, ";\n; [admission web] ; %s\n", about(SECTION_ADMISSION));
	for (int i = 0; i < KEY_COUNT; i++) {
		const struct key *key = &config_keys[i];
		const char *value = key->initial ? key->initial : "enforce";

		if (key->section == SECTION_ADMISSION)
			fprintf(out, "; %-11s = %-10s ; %s\n", key->name,
			        key->type == TYPE_LISTENERS ? ":8080" : value, key->help);
	}
}

void print_sample(FILE *out)
{
	int section = -1;

	fputs(head, out);
	for (int i = 0; i < KEY_COUNT; i++) {
		const struct key *key = &config_keys[i];

		if (key->section == SECTION_ADMISSION)
			continue;
		if (key->section != section) {
			section = key->section;
			fprintf(out, "\n%s ; %s\n", heading(key->section), about(key->section));
		}
		if (key->initial)
			fprintf(out, "%-12s = %-10s ; %s\n", key->name, key->initial, key->help);
		else if (key->type != TYPE_PATTERNS)
			fprintf(out, "; %-10s = %-10s ; %s\n", key->name, "enforce", key->help);
	}
	fputs(examples, out);
	print_admission(out);
}

/* roff takes a leading dot or quote for a request, '-' for a hyphen and '\' for an escape. */
static void roff(const char *string, FILE *out)
{
	if (*string == '.' || *string == '\'')
		fputs("\\&", out);
	for (; *string; string++) {
		if (*string == '-' || *string == '\\')
			fputs(*string == '-' ? "\\-" : "\\e", out);
		else
			putc(*string, out);
	}
}

void print_man_keys(FILE *out)
{
	int section = -1;

	for (int i = 0; i < KEY_COUNT; i++) {
		const struct key *key = &config_keys[i];
		char buffer[256];
		struct text accepted;

		if (key->section != section) {
			section = key->section;
			fprintf(out, ".SS %s\n%c%s.\n", heading(key->section),
			        about(key->section)[0] - 'a' + 'A', about(key->section) + 1);
		}
		text_start(&accepted, buffer, sizeof(buffer));
		value_describe(key, &accepted);
		fprintf(out, ".TP\n.B %s", key->name);
		if (key->initial) {
			fputs(" = ", out);
			roff(key->initial, out);
		}
		putc('\n', out);
		roff(key->help, out);
		fputs(".\nAccepted: ", out);
		roff(buffer, out);
		fputs(".\n", out);
	}
}
