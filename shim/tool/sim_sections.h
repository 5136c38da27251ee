/* SPDX-License-Identifier: MIT */
/* The sections of a scenario file: how they are headed, and that nothing stands there twice. */
#ifndef RETRYBUDGET_TOOL_SIM_SECTIONS_H
#define RETRYBUDGET_TOOL_SIM_SECTIONS_H

#include "tool/sim_scenario.h"

#define SIM_SEEN 64 /* what comes after so many is not compared with them */

struct sim_seen {
	int count;
	struct {
		char name[SIM_NAME];
		int line;
	} all[SIM_SEEN];
};

/* All-zero: nothing has been read. */
struct sim_sections {
	struct sim_seen sections, keys; /* keys: of the section that is read now */
	bool keys_repeat;               /* in it a key may stand twice */
};

/* A section begins: its word, its label ("": none), and what follows the bracket. False, with the
 * reason and the remedy added to why, if it cannot be headed so. */
bool sim_sections_begin(struct sim_sections *seen, const char *word, const char *label,
                        const char *behind, int line, struct text *why);

/* A key stands in it. False, and why: it does already. */
bool sim_sections_key(struct sim_sections *seen, const char *key, int line, struct text *why);

/* Adds that there is no such section, and which ones there are. */
void sim_sections_unknown(const char *section, struct text *why);

#endif
