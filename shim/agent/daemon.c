/* SPDX-License-Identifier: MIT */
/*
 * retrybudgetd: what the library counts in all programs of this machine, for Prometheus and for
 * people; and, where the file has a section [fleet], this machine's part of a fleet's budget. No
 * program under the library waits for it, or is worse off when it ends.
 */
#include "agent/collect.h"
#include "agent/fleet.h"
#include "agent/fleet_start.h"
#include "agent/notify.h"
#include "agent/serve.h"
#include "agent/textfile.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ADDRESS "127.0.0.1"
#define DEFAULT_PORT    9465
#define DEFAULT_MOST    1000
#define DEFAULT_ROUND   10 /* s */

static const char usage[] =
    "usage: retrybudgetd [--listen ADDRESS:PORT] [--textfile DIR] [--interval SECONDS]\n"
    "                    [--max-destinations N] [--config FILE] [--host NAME] [--once]\n"
    "\n"
    "Serves what libretrybudget counts in the programs of this machine: metrics for\n"
    "Prometheus at /metrics, a status page at /, on 127.0.0.1:9465.\n"
    "\n"
    "  --listen ADDRESS:PORT   where; 127.0.0.1 or ::1 alone (an IPv6 address in brackets)\n"
    "  --textfile DIR          also writes DIR/retrybudget.prom for node_exporter\n"
    "  --interval SECONDS      between two rounds over all processes (10)\n"
    "  --max-destinations N    series that are kept apart, the rest is `other` (1000)\n"
    "  --config FILE           whose [fleet] says which budget is shared (/etc/retrybudget.ini)\n"
    "  --host NAME             who this machine is to the fleet (its name and machine-id)\n"
    "  --once                  one round to standard output, or to the textfile, and out\n"
    "  --help, --version\n"
    "\n"
    "Programs of other users can be read by root, or with CAP_SYS_PTRACE.\n";

struct options {
	char address[64];
	int port;
	const char *textfile;
	double interval;
	long most;
	const char *config, *host; /* NULL: the usual ones */
	bool once;
};

struct daemon_state {
	struct totals totals;
	struct round round;
	const struct options *options;
};

static bool wrong(const char *option, const char *value, const char *wanted)
{
	fprintf(stderr, "retrybudgetd: %s %s: it takes %s\n", option, value, wanted);
	return false;
}

static bool parse_listen(const char *value, struct options *options)
{
	const char *colon = strrchr(value, ':');
	size_t n = colon ? (size_t)(colon - value) : 0;
	char *end;
	long port;

	if (!colon || n == 0 || n >= sizeof(options->address))
		return wrong("--listen", value, "ADDRESS:PORT, as 127.0.0.1:9465 or [::1]:9465");
	errno = 0;
	port = strtol(colon + 1, &end, 10);
	if (errno || *end || end == colon + 1 || port < 1 || port > 65535)
		return wrong("--listen", value, "a port from 1 to 65535 behind the last colon");
	if (value[0] == '[' && value[n - 1] == ']') {
		value++;
		n -= 2;
	}
	memcpy(options->address, value, n);
	options->address[n] = '\0';
	options->port = (int)port;
	if (strcmp(options->address, "127.0.0.1") != 0 && strcmp(options->address, "::1") != 0)
		return wrong("--listen", value,
		             "a loopback address, for it asks nobody who he is; put a proxy that "
		             "does before it to be read from elsewhere");
	return true;
}

static bool parse_number(const char *option, const char *value, double least, double most,
                         double *number)
{
	char *end, wanted[64];

	errno = 0;
	*number = strtod(value, &end);
	if (!errno && end != value && !*end && *number >= least && *number <= most)
		return true;
	snprintf(wanted, sizeof(wanted), "a number from %.9g to %.9g", least, most);
	return wrong(option, value, wanted);
}

#define GO_ON (-1)

/* Takes what stands behind one option. Returns what to exit with, or GO_ON. */
static int take_option(int letter, const char *value, struct options *options)
{
	bool good = true;
	double number;

	switch (letter) {
	case 'l':
		good = parse_listen(value, options);
		break;
	case 't':
		options->textfile = value;
		break;
	case 'i':
		good = parse_number("--interval", value, 0.1, 3600, &options->interval);
		break;
	case 'm':
		good = parse_number("--max-destinations", value, 1, 100000, &number);
		if (good)
			options->most = (long)number;
		break;
	case 'c':
		options->config = value;
		break;
	case 'H':
		good = *value != '\0' && strlen(value) < FLEET_HOST;
		if (!good)
			wrong("--host", value, "a name of up to 63 bytes");
		options->host = value;
		break;
	case 'o':
		options->once = true;
		break;
	case 'h':
		fputs(usage, stdout);
		return 0;
	case 'V':
		puts("retrybudgetd " VERSION);
		return 0;
	default:
		good = false;
	}
	return good ? GO_ON : 2;
}

/* Returns what to exit with, or GO_ON. */
static int parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "textfile", required_argument, NULL, 't' },
		{ "interval", required_argument, NULL, 'i' },
		{ "max-destinations", required_argument, NULL, 'm' },
		{ "config", required_argument, NULL, 'c' },
		{ "host", required_argument, NULL, 'H' },
		{ "once", no_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int letter, code = GO_ON;

	while (code == GO_ON && (letter = getopt_long(argc, argv, "", known, NULL)) != -1)
		code = take_option(letter, optarg, options);
	if (code == GO_ON && optind < argc) {
		fprintf(stderr, "retrybudgetd: %s: no such argument; --help tells them\n",
		        argv[optind]);
		code = 2;
	}
	return code;
}

static bool one_round(struct daemon_state *state)
{
	if (!collect(&state->totals, &state->round)) {
		fprintf(stderr, "retrybudgetd: cannot look at processes: %s\n", strerror(errno));
		return false;
	}
	return !state->options->textfile ||
	       textfile_write(state->options->textfile, &state->totals, &state->round);
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)one_round(arg);
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
	(void)number;
	(void)what;
	event_base_loopbreak(arg);
}

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	notify("WATCHDOG=1");
}

/* NULL: nobody watches, or there is no memory, which the watcher will notice. */
static struct event *be_watched(struct event_base *base)
{
	int64_t us = notify_watchdog() / 2;
	struct timeval time = { us / 1000000, us % 1000000 };
	struct event *timer = us > 0 ? event_new(base, -1, EV_PERSIST, on_watchdog, NULL) : NULL;

	if (timer)
		(void)event_add(timer, &time);
	return timer;
}

static int run(struct daemon_state *state)
{
	const struct options *options = state->options;
	static struct fleet fleet;
	struct served served = {
		.totals = &state->totals, .round = &state->round, .fleet = &fleet, .oldest = 1
	};
	struct event_base *base = event_base_new();
	struct timeval interval = { .tv_sec = (time_t)options->interval };
	struct event *timer, *terminate, *interrupt, *watchdog;
	int status = 1;
	bool has_fleet;

	if (!base)
		return 1;
	interval.tv_usec = (suseconds_t)((options->interval - (double)interval.tv_sec) * 1000000);
	timer = event_new(base, -1, EV_PERSIST, on_time, state);
	terminate = evsignal_new(base, SIGTERM, on_signal, base);
	interrupt = evsignal_new(base, SIGINT, on_signal, base);
	watchdog = be_watched(base);
	if (timer && terminate && interrupt && event_add(timer, &interval) == 0 &&
	    event_add(terminate, NULL) == 0 && event_add(interrupt, NULL) == 0 &&
	    fleet_start(&fleet, base, options->config, options->host, &has_fleet) &&
	    serve_start(base, options->address, options->port, &served)) {
		(void)one_round(state);
		notify(has_fleet ? "READY=1\nSTATUS=with a fleet" : "READY=1");
		status = event_base_dispatch(base) < 0 ? 1 : 0;
	}
	fleet_end(&fleet);
	if (watchdog)
		event_free(watchdog);
	if (timer)
		event_free(timer);
	if (terminate)
		event_free(terminate);
	if (interrupt)
		event_free(interrupt);
	event_base_free(base);
	return status;
}

int main(int argc, char **argv)
{
	struct options options = { .address = DEFAULT_ADDRESS,
		                   .port = DEFAULT_PORT,
		                   .interval = DEFAULT_ROUND,
		                   .most = DEFAULT_MOST };
	static struct daemon_state state;
	int status = parse(argc, argv, &options);

	if (status >= 0)
		return status;
	state.options = &options;
	(void)signal(SIGPIPE, SIG_IGN);
	if (!totals_start(&state.totals, (size_t)options.most)) {
		fputs("retrybudgetd: no memory for --max-destinations\n", stderr);
		return 1;
	}
	if (options.interval > TOTALS_POINT)
		state.totals.point = options.interval;
	if (!options.once) {
		status = run(&state);
	} else {
		status = one_round(&state) ? 0 : 1;
		if (status == 0 && !options.textfile) {
			exposition_write(&state.totals, &state.round, stdout);
			if (fflush(stdout) != 0 || ferror(stdout)) {
				fputs("retrybudgetd: cannot write to standard output\n", stderr);
				status = 1;
			}
		}
	}
	totals_end(&state.totals);
	return status;
}
