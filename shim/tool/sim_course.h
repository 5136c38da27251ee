/* SPDX-License-Identifier: MIT */
/* The course of a try of a simulation. Inside the simulator only; times in ns. */
#ifndef RETRYBUDGET_TOOL_SIM_COURSE_H
#define RETRYBUDGET_TOOL_SIM_COURSE_H

#include "tool/sim_world.h"

/* The try of this call leaves the program. */
void sim_course_go(struct sim_world *world, uint32_t call, int64_t now);

/* It ends at that moment, by FAILURE_NONE: well. */
void sim_course_end(struct sim_world *world, uint32_t call, int64_t at, enum failure failure);

/* It has failed, or so it was told: what the program does then. */
void sim_course_fail(struct sim_world *world, uint32_t call, int64_t now);

/* It goes on at that moment, unless its process has ended by then. */
void sim_course_goes_on(struct sim_world *world, uint32_t call, enum sim_what what, int64_t at,
                        int64_t now);

/* A request has been answered, or given up. */
void sim_course_finish(struct sim_world *world, uint32_t call, bool good, int64_t now);

#endif
