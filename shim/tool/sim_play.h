/* SPDX-License-Identifier: MIT */
/* What is asked of `retrybudget simulate SCENARIO`, and the answer. */
#ifndef RETRYBUDGET_TOOL_SIM_PLAY_H
#define RETRYBUDGET_TOOL_SIM_PLAY_H

#include "tool/sim_print.h"
#include "tool/sim_sweep.h"

struct sim_question {
	const char *scenario, *config, *label, *plot;
	int threads;
	bool json, steps, keys, region;
	int sweep_count;
	struct sim_sweep sweeps[SIM_SWEEPS];
	struct sim_settings settings; /* over the scenario's own, and over its variants' */
};

/* KEY=VALUE. False: told to err. */
bool sim_question_set(struct sim_question *question, const char *text, FILE *err);

/* KEY=VALUES. False: told to err. */
bool sim_question_sweep(struct sim_question *question, const char *text, FILE *err);

/* Returns the exit status. */
int sim_answer(const struct sim_question *question, FILE *out, FILE *err);

#endif
