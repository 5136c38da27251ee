/* SPDX-License-Identifier: MIT */
/* What is to fail, as text: "db.internal:5432=refused:2,hang:1", one destination a line. */
#ifndef RETRYBUDGET_SYS_INJECT_TEXT_H
#define RETRYBUDGET_SYS_INJECT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Set by the command alone. */
#define INJECT_VARIABLE "RETRYBUDGET_INJECT"

#define INJECT_LINES 8
#define INJECT_STEPS 4
#define INJECT_NAME  288
#define INJECT_MOST  1000000 /* of one step */

enum inject_kind {
	INJECT_NOTHING,
	INJECT_REFUSED,     /* ECONNREFUSED */
	INJECT_UNREACHABLE, /* EHOSTUNREACH */
	INJECT_HANG,        /* nobody answers */
};

struct inject_plan {
	char name[INJECT_NAME]; /* "host:port", "host" for any port, "unix:/path" */
	struct {
		enum inject_kind kind;
		int32_t count;
	} steps[INJECT_STEPS]; /* ended by INJECT_NOTHING, or full */
};

/* Reads a line, up to '\n' or its end. NULL, or what is wrong with it, in words. Pure. */
const char *inject_parse(const char *line, struct inject_plan *plan);

/* What becomes of the attempt with this number, from 0. */
enum inject_kind inject_step(const struct inject_plan *plan, int32_t number);

/* True if the plan is for a destination of this name. */
bool inject_means(const struct inject_plan *plan, const char *name);

#endif
