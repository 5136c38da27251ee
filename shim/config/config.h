/* SPDX-License-Identifier: MIT */
/*
 * The configuration as the rest of the shim sees it. keys.def is the one table of every key; the
 * parser, `retrybudget check` and `show`, retrybudget(5) and the sample file all come from it.
 */
#ifndef RETRYBUDGET_CONFIG_CONFIG_H
#define RETRYBUDGET_CONFIG_CONFIG_H

#include "budget/admission.h"
#include "budget/policy.h"
#include "config/fleet_settings.h"
#include "config/log_settings.h"
#include "config/scope.h"

#include <netinet/in.h>

#define CONFIG_SYSTEM_FILE "/etc/retrybudget.ini" /* without $RETRYBUDGET_CONFIG */

#define CONFIG_POLICIES 64    /* [destination …] sections, the default one included */
#define CONFIG_PATTERNS 256   /* in all match lines together */
#define CONFIG_TEXT     16384 /* bytes of pattern text in all */
#define CONFIG_LABEL    64

#define CONFIG_ADMISSIONS 16 /* [admission …] sections */
#define CONFIG_LISTENERS  64 /* in all listen lines together */

enum deepbind {
	DEEPBIND_KEEP,
	DEEPBIND_STRIP,
};

struct general_settings {
	int32_t mode;     /* enum mode */
	int32_t deepbind; /* enum deepbind */
	int32_t scope;    /* enum scope */
	int64_t reload;   /* ns, 0 = never */
	char share[64];
};

/* One pattern of a match line, compiled; see pattern.h. */
struct pattern {
	int32_t kind;
	int32_t policy; /* index into policies */
	uint16_t port_low, port_high;
	uint8_t prefix;      /* bits of address that count */
	uint8_t address[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint32_t text;       /* offset of the glob in config.text */
};

/* One address of a listen line; see listen.h. */
struct listener {
	int32_t kind;
	int32_t admission; /* index into admissions */
	uint16_t port;
	uint8_t address[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint32_t text;       /* offset of the path in config.text */
};

/* What the lines of the file say; see modes.h. */
struct written_modes {
	int8_t general;
	int8_t policies[CONFIG_POLICIES]; /* MODE_AS_IN_FILE where they say nothing */
	int8_t admissions[CONFIG_ADMISSIONS];
};

struct config {
	uint32_t serial;      /* grows with every load, so that cached lookups notice */
	uint32_t fingerprint; /* of the bytes of the file; 0: none was read */
	struct general_settings general;
	struct log_settings log;
	struct bucket_rule process;
	struct fleet_settings fleet;
	int32_t policy_count, pattern_count, admission_count, listener_count;
	bool datagrams; /* some policy that is not off says udp = on */
	bool tls;       /* some policy that is not off says tls = on */
	uint32_t text_used;
	struct written_modes written;
	/* What is long comes last: the rest is one page of memory. */
	struct policy policies[CONFIG_POLICIES]; /* [0] is [destination default] */
	char labels[CONFIG_POLICIES][CONFIG_LABEL];
	struct pattern patterns[CONFIG_PATTERNS];
	char text[CONFIG_TEXT];
	struct admission_rule admissions[CONFIG_ADMISSIONS];
	char admission_labels[CONFIG_ADMISSIONS][CONFIG_LABEL];
	struct listener listeners[CONFIG_LISTENERS];
};

/* What a pattern is held against. Fields that do not apply are NULL or 0. */
struct target {
	const char *name;       /* host name asked for, a "unix:/path", or a "dns:name" */
	const uint8_t *address; /* 16 bytes, IPv4 mapped */
	uint16_t port;
};

/* Told once per bad line. line 0: the file as a whole. message names the remedy. */
typedef void config_complain(void *arg, const char *file, int line, const char *message);

#endif
