/* SPDX-License-Identifier: MIT */
/*
 * The key table (keys.def) as data, and how the text of a value becomes a field and back. Parsed by
 * hand: strtod and friends follow the program's locale. Async-signal-safe, no allocation.
 */
#ifndef RETRYBUDGET_CONFIG_KEYS_H
#define RETRYBUDGET_CONFIG_KEYS_H

#include "config/config.h"
#include "sys/text.h"

enum section {
	SECTION_GENERAL,
	SECTION_LOG,
	SECTION_BUDGET,
	SECTION_FLEET,
	SECTION_DESTINATION, /* from here on: sections with a label */
	SECTION_ADMISSION,
	SECTION_COUNT,
};

/* The struct that the keys of a section fill. */
#define STRUCT_GENERAL     struct general_settings
#define STRUCT_LOG         struct log_settings
#define STRUCT_BUDGET      struct bucket_rule
#define STRUCT_FLEET       struct fleet_settings
#define STRUCT_DESTINATION struct policy
#define STRUCT_ADMISSION   struct admission_rule

/* How the text of a value is read, and the unit of the field (budget/policy.h). */
enum value_type {
	TYPE_TOKENS,    /* 10, 0.5 -> mt */
	TYPE_GAIN,      /* 10% or 0.1 of a token -> mt */
	TYPE_RATE,      /* 2/s, 12/min, 30/h -> mt per second */
	TYPE_SHARE,     /* 10% or 0.1 -> ppm */
	TYPE_TIME,      /* 5us 250ms 30s 5m 1h -> ns; 0 needs no unit */
	TYPE_FACTOR,    /* 1.5 -> thousandths */
	TYPE_COUNT,     /* a whole number */
	TYPE_NAME,      /* a share name */
	TYPE_PATH,      /* an absolute path that fits a unix socket address */
	TYPE_FILE,      /* likewise, or none */
	TYPE_SERVERS,   /* none, or addresses of servers; see servers.h */
	TYPE_CODES,     /* 429, 503 -> packed as in budget/policy.h */
	TYPE_PATTERNS,  /* see pattern.h; kept in the config, not in a field */
	TYPE_LISTENERS, /* see listen.h; likewise */
	TYPE_WORDS,     /* from here on: a choice of words */
	TYPE_MODE = TYPE_WORDS,
	TYPE_DEEPBIND,
	TYPE_SCOPE,
	TYPE_TARGET,
	TYPE_FACILITY,
	TYPE_SWITCH,
	TYPE_PRESET,
	TYPE_STRATEGY,
	TYPE_CHARGE,
	TYPE_RATIO_OF,
	TYPE_RESERVE,
	TYPE_JITTER,
	TYPE_NONBLOCKING,
	TYPE_UDP_DENY,
	TYPE_REPLY_ERRNO,
	TYPE_REPLY,
	TYPE_HTTP_DENY,
	TYPE_ERRNO,
};

/* The place of each key in the table: KEY_DESTINATION_floor and so on. */
enum key_index {
#define KEY(section, name, type, field, min, max, initial, help) KEY_##section##_##name,
#define PATTERNS(section, name, help)                            KEY_##section##_##name,
#define LISTENERS(section, name, help)                           KEY_##section##_##name,
#include "config/keys.def"
	KEY_COUNT,
};

struct key {
	const char *name;
	const char *initial; /* NULL: none, or worked out by the parser */
	const char *help;
	int64_t min, max;      /* in the unit of the field */
	uint16_t offset, size; /* of the field in the section's struct */
	uint8_t section, type;
};

extern const struct key config_keys[KEY_COUNT];

/* "retrybudget", "log", "budget", "fleet", "destination", "admission". */
const char *section_name(enum section section);

/* The struct that holds the keys of a section; of those with a label the index-th one. */
void *section_fields(struct config *config, enum section section, int index);

/* Fills the struct of a section from the table. */
void section_defaults(struct config *config, enum section section, int index);

/* Fills *config with the built-in defaults. */
void config_defaults(struct config *config);

/* The key of that name in a section; NULL if there is none. */
const struct key *key_find(enum section section, const char *name);

/* The number of single-character edits between two names, at most 64 characters of each. Case is
 * none. */
int edit_distance(const char *a, const char *b);

/* The key with the name nearest to a wrong one, in this section rather than in another one. */
const struct key *nearest_key(enum section section, const char *name);

/* The section with the name nearest to a wrong one; NULL: it is like none. */
const char *nearest_section(const char *name);

#endif
