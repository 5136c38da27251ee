/* SPDX-License-Identifier: MIT */
/*
 * Runs probes: bare or under the shim, with a configuration and a log socket of their own. Used
 * by the Criterion driver only; LD_PRELOAD is set in the probe's environment and nowhere else.
 */
#ifndef RETRYBUDGET_TESTS_PROBE_RUN_H
#define RETRYBUDGET_TESTS_PROBE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines of a policy: after the second failure nothing goes any more, and whoever spins is held for
 * so long (spin_until_held() of probe.h). */
#define GATE_SHUT(hold)                                                                            \
	"base = 1h\ncap = 1h\njitter = none\nfloor = 0/s\nprobe = 1h\nhold = " hold "\n"

enum how {
	BARE,    /* no shim */
	OFF,     /* loaded, mode = off */
	OBSERVE, /* mode = observe */
	ENFORCE, /* mode = enforce */
	WAYS,
};

struct probe {
	const char *program;      /* name below build/probe */
	const char *arguments[6]; /* of the probe, NULL-terminated */
	const char *policy;       /* lines of [destination default] and sections after it */
	const char *general;      /* lines of [retrybudget] */
	const char *log; /* lines of [log]; NULL: syslog to the driver's socket, every attempt */
	const char *configuration; /* a file to name instead of one made of the two above */
	const char *preload;       /* LD_PRELOAD; NULL: the shim alone. %s stands for the shim */
	const char *wrapper[4];    /* a command in front of the probe, as strace, NULL-terminated */
	int seconds;               /* time limit; 0: 30 */
	bool chance; /* a draw may end a wait early: a run in part as bare is repeated */
	bool forged; /* it writes into the region of a share: records repeat what stands there */
};

struct result {
	bool exited;     /* by itself; else killed by a signal, or by us at the time limit */
	int code;        /* exit code, or the signal's number */
	int64_t ms;      /* how long it ran */
	char out[65536]; /* NUL-terminated, like the other two */
	char err[65536];
	char records[262144]; /* what came to the log socket, a line each */
	int record_count;
};

/* Runs a probe one way and collects everything it said. Criterion assertions fail the test where
 * the machinery itself does not work. */
void run_probe(const struct probe *probe, enum how how, struct result *result);

/* "build", or $RETRYBUDGET_BUILD. */
const char *build_directory(void);

/* The absolute path of a file in the build directory, in static storage. Four live at a time. */
const char *built(const char *name);

/* A temporary directory of this test; discard_scratch() (the suites' .fini) removes it. */
const char *scratch(void);
void discard_scratch(void);

/*
 * The usual test. Bare, off and observe must print `plain`, enforce must print `held` (NULL: the
 * same); every way must end with code 0 and say nothing on stderr. Skips the test, visibly, where
 * the probe says that this machine cannot run it. The result of enforce is left in static storage.
 */
const struct result *expect(const struct probe *probe, const char *plain, const char *held);

/*
 * Runs a probe. A machine that stops for a moment makes a length of time longer, and nothing else:
 * where that is all that is not as wanted, two more runs must be without fault. wanted: NULL = all.
 */
void run_to_say(const struct probe *probe, enum how how, struct result *result, const char *wanted);

/* The same for probes whose bare output is the standard: all ways must print what bare prints. */
const struct result *expect_same(const struct probe *probe);

/* How many records hold the text. */
int records_with(const struct result *result, const char *text);

/* Runs a shell command and returns its output in static storage; fails the test if it fails. */
const char *output_of(const char *command);

const char *way_name(enum how how);

#endif
