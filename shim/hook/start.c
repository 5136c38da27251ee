/* SPDX-License-Identifier: MIT */
/* The constructor: the only place that allocates, reads the environment, and takes its time. */
#include "hook/hook.h"
#include "hook/load.h"

#include "config/config.h"
#include "report/callsite.h"
#include "track/state.h"
#include "track/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/auxv.h>

/* Tells a second copy of the library that there is a first (TRAPS A1.8). */
EXPORT const int retrybudget_abi = 1;

static bool is_second_copy(void)
{
	const void *first = dlsym(RTLD_DEFAULT, "retrybudget_abi");

	return first && first != &retrybudget_abi;
}

/* Off for good: nothing in the file asks for more, and nobody would notice if it came to. */
static bool nothing_to_do(const struct config *config)
{
	if (config_asked_off())
		return true;
	for (int i = 0; i < config->policy_count; i++)
		if (config->policies[i].mode != MODE_OFF)
			return false;
	return config->general.reload == 0;
}

static void start(void)
{
	const struct config *config;

	if (!real_resolve() || is_second_copy()) {
		shim_state = STATE_OFF;
		return;
	}
	config = config_start(getauxval(AT_SECURE) != 0);
	if (nothing_to_do(config)) {
		shim_state = STATE_OFF;
		return;
	}
	thread_setup();
	shim_region =
	    region_open((enum scope)config->general.scope, config->general.share, &shim_scope_note);
	if (!shim_region) {
		shim_state = STATE_OFF;
		return;
	}
#ifdef RTLD_DEEPBIND
	if (config->general.deepbind == DEEPBIND_STRIP)
		load_strip_deepbind();
#endif
	if (config->log.trace > 0)
		callsite_prepare();
	report_settings(&config->log, shim_region);
	shim_state = STATE_READY;
}

/* The order among libraries is not ours to choose: calls that come earlier pass through. */
__attribute__((constructor)) static void construct(void)
{
	int saved = errno;

	shim_state = STATE_RUNNING;
	start();
	errno = saved;
}
