/* SPDX-License-Identifier: MIT */
/* Reading a file into a configuration: config_read(), and with more to choose and to learn
 * config_read_source(). */
#ifndef RETRYBUDGET_CONFIG_READ_H
#define RETRYBUDGET_CONFIG_READ_H

#include "config/file.h"
#include "config/keys.h"
#include "config/modes.h"

/*
 * Reads file over the defaults. Bad lines are complained about and skipped, the rest holds.
 * Returns 0 if every line was good, 1 if some were not, -1 if the file could not be used at all
 * (*config then holds the defaults, and complain was told why; missing_ok: a file that does not
 * exist is not complained about). No allocation, no stdio.
 */
int config_read(struct config *config, const char *file, bool missing_ok, config_complain *complain,
                void *arg);

/* Where each value comes from: the line it stands in, 0 for a default or an inherited one. */
struct origins {
	uint16_t common[KEY_COUNT];                       /* of the sections without label */
	uint16_t destination[CONFIG_POLICIES][KEY_COUNT]; /* [0] is [destination default] */
	uint16_t section[CONFIG_POLICIES];
	uint16_t pattern[CONFIG_PATTERNS];
	uint16_t admission[CONFIG_ADMISSIONS][KEY_COUNT];
	uint16_t listener[CONFIG_LISTENERS];
	/* Of a share: whether it was written as a plain number, 0.1 rather than 10%. */
	bool common_bare[KEY_COUNT], destination_bare[CONFIG_POLICIES][KEY_COUNT];
};

struct source {
	const char *file;
	bool missing_ok;         /* a file that does not exist is not complained about */
	bool owned_by_root;      /* refuse a file that anybody else could write */
	int32_t mode;            /* enum mode that was asked for, or MODE_AS_IN_FILE */
	struct origins *origins; /* filled if not NULL */
	const uint32_t *known;   /* fingerprint of a content that need not be read again, or NULL */
	const char *overrides;   /* lines over the file (overrides.h), or NULL */
	config_complain *complain;
	void *arg;
};

/* Handed on in the environment by `retrybudget run --set`, and by nobody else. */
#define OVERRIDES_VARIABLE "RETRYBUDGET_SET"

#define OVERRIDES      32      /* that count */
#define OVERRIDES_MAX  2048    /* bytes, a NUL included */
#define OVERRIDES_FILE "--set" /* what is complained about instead of the file */

enum reading_result {
	READING_FAILED = -1, /* the config holds the defaults, and the mode asked for */
	READING_GOOD,
	READING_FLAWED,   /* some lines were bad */
	READING_MISSING,  /* missing_ok, and there was none: as READING_FAILED */
	READING_THE_SAME, /* the content is the known one; the config was not touched */
};

/* Reads source into *config. *identity and *fingerprint (of the content) tell what was read; both
 * are 0 if nothing was. source->mode is a bound (modes.h). */
enum reading_result config_read_source(struct config *config, const struct source *source,
                                       struct identity *identity, uint32_t *fingerprint);

#endif
