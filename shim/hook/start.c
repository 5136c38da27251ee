/* SPDX-License-Identifier: MIT */
/* The constructor: the only place that allocates, reads the environment, and takes its time. And
 * the destructor, which takes nothing down. */
#include "config/config.h"
#include "config/current.h"
#include "config/scope.h"
#include "conn/attempt_end.h"
#include "dest/lineage.h"
#include "hook/hook.h"
#include "hook/inject.h"
#include "hook/load.h"
#include "hook/tls.h"
#include "region/identity.h"
#include "region/state.h"
#include "report/callsite.h"
#include "report/record.h"
#include "report/report.h"
#include "sys/fault.h"
#include "sys/forks.h"
#include "sys/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* The first of all code (AT_START in the Makefile): it begins where 64 KiB do, for a page that is
 * touched brings the 64 KiB around it. */
__asm__(".pushsection .text.unlikely, \"ax\"\n.p2align 16\n.popsection");

/* Tells a second copy of the library that there is a first (HAZARDS 8). By the exported name each
 * copy means that of the first. */
static const int own_abi = 1;
EXPORT extern const int retrybudget_abi __attribute__((alias("own_abi")));

static bool is_second_copy(void)
{
	const void *first = dlsym(RTLD_DEFAULT, "retrybudget_abi");

	return first && first != &own_abi;
}

/* Off for good: nothing in the file asks for more, and nobody would notice if it came to. */
static bool nothing_to_do(const struct config *config)
{
	if (config_asked_off())
		return true;
	for (int i = 0; i < config->policy_count; i++)
		if (config->policies[i].mode != MODE_OFF)
			return false;
	for (int i = 0; i < config->admission_count; i++)
		if (config->admissions[i].mode != MODE_OFF)
			return false;
	return config->general.reload == 0;
}

#ifdef RTLD_DEEPBIND
static void before_load(void)
{
	thread_reads_unknown();
	tls_prepare();
}
#endif

static void start(void)
{
	bool secure = getauxval(AT_SECURE) != 0, knows_forks;
	const struct config *config;
	struct region *region;
	enum scope scope;

	if (!real_resolve() || is_second_copy()) {
		shim_state = STATE_OFF;
		return;
	}
	config = config_start(secure);
	if (!secure)
		region_hand(getenv(REGION_VARIABLE)); /* in the constructor alone */
	if (nothing_to_do(config)) {
		shim_state = STATE_OFF;
		return;
	}
	knows_forks = thread_setup();
	/* Whoever may start a set-uid program could use up what its owner's programs share. */
	scope = secure ? SCOPE_PROCESS : (enum scope)config->general.scope;
	region = region_open(scope, config->general.share, &shim_scope_note);
	if (!region) {
		shim_state = STATE_OFF;
		return;
	}
	shim_use(region, thread_process());
	identity_write(shim_region, shim_scope_note ? SCOPE_PROCESS : scope, config);
	if (scope != SCOPE_PROCESS && !shim_scope_note)
		lineage_setup(strcmp(config->general.share, SHARE_DEFAULT) != 0);
#ifdef RTLD_DEEPBIND
	if (config->general.deepbind == DEEPBIND_STRIP)
		load_strip_deepbind();
	load_call_first(before_load);
#endif
	if (config->log.trace > 0)
		callsite_prepare();
	report_settings(&config->log, shim_region);
	tls_start();
	forks_prepare();
	shim_place_children();
	if (!secure)
		inject_prepare();
	if (!knows_forks)
		fault_count();
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

/* Code that uses sockets may run after this (HAZARDS 23), and in other threads beside it. */
__attribute__((destructor)) static void leave(void)
{
	if (shim_ready())
		attempts_left_open();
}
