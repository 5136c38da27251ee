/* SPDX-License-Identifier: MIT */
/* The configuration of this process, and taking up a changed file. */
#ifndef RETRYBUDGET_CONFIG_CURRENT_H
#define RETRYBUDGET_CONFIG_CURRENT_H

#include "config/config.h"
#include "config/modes.h"
#include "sys/cell.h"

/* Loads what retrybudget(5) says: $RETRYBUDGET_CONFIG, else /etc/retrybudget.ini, then the other
 * two environment variables; none of the three when secure. Complaints are kept until
 * the log target is known (config/complaints.h). Call once, from the constructor. */
const struct config *config_start(bool secure);

/* True if RETRYBUDGET=off: no change of the file can take that back. */
bool config_asked_off(void);

/* True if the mode in force is what the file says: neither environment nor operator has asked for
 * another. */
bool config_has_mode_of_file(void);

/* The path of the file, whether it is there or not. */
const char *config_file(void);

/* The configuration in force; never NULL after config_start. */
extern HIDDEN _Atomic(const struct config *) config_in_force;
static inline const struct config *config_current(void)
{
	return LOAD_ACQUIRE(config_in_force);
}

/* Looks whether the file changed, at most once per `reload`, and loads it; async-signal-safe, no
 * allocation, one thread at a time, the others go on with the old one. A file that has gone or
 * cannot be read leaves the old one in force. now: ns. *looked: whether it looked, and there may be
 * complaints (config/complaints.h). Returns true if a new one is in force. */
bool config_refresh(int64_t now, bool *looked);

enum config_reply {
	CONFIG_LATER,  /* another thread loads, or the last change is a moment ago: ask again */
	CONFIG_TAKEN,  /* it holds */
	CONFIG_FLAWED, /* it holds, and some lines of the file were bad */
	CONFIG_ABSENT, /* there is no file, nor was there any: the built-in defaults hold still */
	CONFIG_UNREAD, /* the file is missing or cannot be used: what it said last holds still */
};

/* What the operator asks of a running process. mode: over what environment and file say, as the
 * bound of every mode in the file (modes.h), until the next time; MODE_AS_IN_FILE takes that back.
 * reload: reads the file too, changed or not. The same promises as config_refresh(). */
enum config_reply config_steer(int32_t mode, bool reload, int64_t now);

#endif
