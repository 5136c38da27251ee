/* SPDX-License-Identifier: MIT */
/* The [admission] sections of a file. Private to this room. */
#ifndef RETRYBUDGET_CONFIG_ADMISSION_SECTIONS_H
#define RETRYBUDGET_CONFIG_ADMISSION_SECTIONS_H

#include "config/reading.h"

/* One begins; label: as it stands in the file. What is wrong with it is told. */
void reading_enter_admission(struct reading *reading, const char *label);

/* It ends: one without an address to listen on is told. */
void reading_leave_admission(struct reading *reading);

/* One address of a listen line, of n bytes. */
void reading_take_listener(struct reading *reading, const char *string, size_t n);

#endif
