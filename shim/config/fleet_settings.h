/* SPDX-License-Identifier: MIT */
/* What [fleet] says. The library looks at nothing of it but whether there is a server: it is
 * retrybudgetd that talks to them. */
#ifndef RETRYBUDGET_CONFIG_FLEET_SETTINGS_H
#define RETRYBUDGET_CONFIG_FLEET_SETTINGS_H

#include "config/scope.h"

#include <stdint.h>

struct fleet_settings {
	char redis[192]; /* see servers.h; empty: no fleet */
	char user[SHARE_NAME_MAX + 1];
	char password_file[108]; /* empty: none */
	char prefix[SHARE_NAME_MAX + 1];
	int64_t sync;  /* ns */
	int64_t lease; /* ns */
};

#endif
