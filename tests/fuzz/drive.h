/* SPDX-License-Identifier: MIT */
/*
 * Drives the shim's own functions by a string of bytes, as a program's calls would, over a region
 * that anybody may have written to. Aborts where something is not in its range that must be,
 * whatever the region holds. Used by the fuzzer, and by a unit test while another thread writes
 * garbage.
 */
#ifndef RETRYBUDGET_TESTS_FUZZ_DRIVE_H
#define RETRYBUDGET_TESTS_FUZZ_DRIVE_H

#include "budget/budget_wait.h"
#include "sys/real.h"
#include "pace/pace.h"
#include "conn/attempt.h"
#include "conn/attempt_end.h"
#include "conn/settle.h"
#include "conn/feedback.h"
#include "region/state.h"
#include "sys/thread.h"
#include "conn/traffic.h"
#include "report/record.h"
#include "report/report.h"
#include "config/current.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const drive_names[] = { "bucket.test",        "window.test",
	                                   "adaptive.test",      "throttle.test",
	                                   "probabilistic.test", "concurrency.test",
	                                   "grpc.test",          "breaker.test" };

#define DRIVE_NAMES (sizeof(drive_names) / sizeof(*drive_names))

/* One section for each way to decide. Nothing waits: a run shall be short. */
static const char drive_config[] =
    "[retrybudget]\nreload = 0\n"
    "[log]\nsocket = /nowhere/log\ninterval = 1ms\nattempts = on\n"
    "[destination default]\nhold = 0\nmin = 0\nbase = 1ms\nprobe = 100ms\n"
    "retry_after_cap = 100ms\n"
    "[destination window]\nmatch = window.test, dns:window.test\nstrategy = window\n"
    "[destination adaptive]\nmatch = adaptive.test, dns:adaptive.test\nstrategy = adaptive\n"
    "refund = on\ninstances = 3\n"
    "[destination throttle]\nmatch = throttle.test, dns:throttle.test\nstrategy = throttle\n"
    "[destination probabilistic]\nmatch = probabilistic.test, dns:probabilistic.test\n"
    "strategy = probabilistic\nsample = 50%\n"
    "[destination concurrency]\nmatch = concurrency.test, dns:concurrency.test\n"
    "strategy = concurrency\nmax_attempts = 3\n"
    "[destination grpc]\nmatch = grpc.test, dns:grpc.test\npreset = grpc\njitter = decorrelated\n"
    "[destination breaker]\nmatch = breaker.test, dns:breaker.test\nbreaker = on\n"
    "breaker_failures = 2\nbreaker_volume = 3\nbreaker_open = 100ms\n";

struct drive {
	const uint8_t *at;
	size_t left;
};

static inline uint64_t drive_next(struct drive *drive, size_t bytes)
{
	uint64_t value = 0;

	for (; bytes > 0 && drive->left > 0; bytes--, drive->left--)
		value = value << 8 | *drive->at++;
	return value;
}

static inline void drive_must(bool holds, const char *what)
{
	if (holds)
		return;
	(void)fprintf(stderr, "drive: not so: %s\n", what);
	abort();
}

/* Settings as from a file, a region of its own, READY. Once. */
static inline void drive_start(void)
{
	char path[] = "/tmp/retrybudget-drive-XXXXXX";
	int fd = mkstemp(path);

	drive_must(fd >= 0 && write(fd, drive_config, strlen(drive_config)) ==
	                          (ssize_t)strlen(drive_config),
	           "a file for the configuration");
	close(fd);
	setenv("RETRYBUDGET_CONFIG", path, 1);
	config_start(false);
	unlink(path);
	drive_must(config_current()->policy_count == 8, "eight policies");
	drive_must(real_resolve(), "the real calls");
	thread_setup();
	shim_region = mmap(NULL, sizeof(*shim_region), PROT_READ | PROT_WRITE,
	                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	drive_must(shim_region != MAP_FAILED, "a region");
	shim_use(shim_region, 0);
	report_settings(&config_current()->log, shim_region);
	shim_state = STATE_READY;
}

static inline struct sockaddr_in drive_address(uint64_t choice)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)(choice >> 4 | 1024)) };

	to.sin_addr.s_addr = htonl(0x7f000001 + (uint32_t)(choice % DRIVE_NAMES));
	return to;
}

/* What must hold of an account, whatever its cells hold. */
static inline void drive_check(const struct attempt *try)
{
	int64_t now = monotonic(), limit, level = budget_level(&try->account, now, &limit);
	const struct policy *policy = try->account.policy;
	int64_t cost = budget_cost(policy, FAILURE_REFUSED);

	drive_must(level >= 0 && limit > 0 && level <= limit * 1000, "a level in its range");
	drive_must(budget_token_wait(&try->account, cost, now) <= policy->probe, "no lock-out");
	drive_must(
	    budget_due(&try->account, cost, now) <=
		(policy->probe > policy->retry_after_cap ? policy->probe : policy->retry_after_cap),
	    "due by the probe, or by what a server may ask for");
}

static inline void drive_lookup(struct drive *drive)
{
	static const int codes[] = { 0, EAI_AGAIN, EAI_FAIL, EAI_NONAME, EAI_SYSTEM, EAI_MEMORY };
	uint64_t choice = drive_next(drive, 2);
	struct attempt try;

	if (!attempt_begin_query(&try, drive_names[choice % DRIVE_NAMES], AF_INET))
		return;
	drive_check(&try);
	if (!pace(&try)) {
		int code = attempt_refused_lookup(&try);

		drive_must(code == EAI_AGAIN || code == EAI_FAIL || code == EAI_NONAME,
		           "a code that the host knows");
		return;
	}
	attempt_settle_lookup(&try, codes[(choice >> 8) % 6]);
}

/* A connect that ends at once as the bytes say; then maybe a request and a reply. */
static inline void drive_connect(struct drive *drive, int fd)
{
	static const int errors[] = { 0,          ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH,
		                      ECONNRESET, EACCES,       EINTR,     EADDRNOTAVAIL };
	uint64_t choice = drive_next(drive, 2);
	int err = errors[drive_next(drive, 1) % 8];
	struct sockaddr_in to = drive_address(choice);
	char request[32] = "GET /";
	struct attempt try;
	uint32_t fingerprint;

	names_bind(names_note(drive_names[choice % DRIVE_NAMES]), (struct sockaddr *)&to,
	           sizeof(to), monotonic());
	if (!attempt_begin_connect(&try, fd, (struct sockaddr *)&to, sizeof(to)))
		return;
	if (!try.unjudged)
		drive_check(&try);
	if (!pace(&try)) {
		int result = attempt_refused(&try);

		drive_must(result == -1 && (errno == EINPROGRESS || failure_of(errno, false)),
		           "an error that the host knows");
		socket_forget(fd);
		return;
	}
	attempt_start(&try);
	errno = err;
	attempt_settle(&try, err == 0 ? 0 : -1);
	if (err == 0 && choice & 0x8000) {
		request[5] = (char)drive_next(drive, 1);
		fingerprint = traffic_look(fd, request, sizeof(request));
		traffic_sent(fd, sizeof(request), 0, fingerprint);
		errno = ECONNRESET;
		traffic_received(fd, choice & 0x4000 ? -1 : 1, 1, 0, request);
	}
	attempt_end(fd);
	socket_forget(fd);
}

/* A word of the region: of the slots in use, or anywhere. */
static inline cell64 *drive_word(uint64_t choice)
{
	cell64 *words = (cell64 *)shim_region;
	size_t of_slot = sizeof(struct destination) / sizeof(cell64);

	if (choice & 1)
		return &words[(choice >> 1) % (offsetof(struct region, first.destinations) / 8)];
	for (size_t i = 0; i < REGION_CHUNK; i++) {
		size_t at = (i + (choice >> 16)) % REGION_CHUNK;

		if (shim_region->first.keys[at] != 0)
			return (cell64 *)&shim_region->first.destinations[at] +
			       (choice >> 1) % of_slot;
	}
	return &words[(choice >> 1) % (sizeof(struct region) / sizeof(cell64))];
}

static inline int64_t drive_value(uint64_t kind, uint64_t bits)
{
	static const int64_t edges[] = { 0,         -1,        1,          INT64_MAX,
		                         INT64_MIN, INT32_MAX, UINT32_MAX, INT64_MAX - 1 };

	switch (kind % 4) {
	case 0:
		return edges[bits % 8];
	case 1:
		return monotonic() + (int64_t)(bits % 2000000) - 1000000;
	default:
		return (int64_t)(bits * UINT64_C(0x9e3779b97f4a7c15));
	}
}

static inline void drive_corrupt(uint64_t where, uint64_t kind, uint64_t bits)
{
	atomic_store_explicit(drive_word(where), drive_value(kind, bits), memory_order_relaxed);
}

/* Goes through all bytes. fd: a stream socket that blocks, and is not connected. */
static inline void drive_run(const uint8_t *bytes, size_t n, int fd)
{
	struct drive drive = { bytes, n };
	uint64_t where, kind;

	while (drive.left > 0) {
		switch (drive_next(&drive, 1) % 4) {
		case 0:
			drive_lookup(&drive);
			break;
		case 1:
			drive_connect(&drive, fd);
			break;
		default:
			where = drive_next(&drive, 4);
			kind = drive_next(&drive, 1);
			drive_corrupt(where, kind, drive_next(&drive, 4));
		}
	}
}

#endif
