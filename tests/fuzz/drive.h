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
#include "budget/streak.h"
#include "sys/real.h"
#include "pace/pace.h"
#include "conn/attempt.h"
#include "conn/attempt_end.h"
#include "conn/deferred.h"
#include "conn/settle.h"
#include "conn/feedback.h"
#include "conn/kept.h"
#include "dest/demand.h"
#include "dest/lineage.h"
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
	lineage_setup(true);
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

/* The first request of a connect that was let through to be judged by it. */
static inline void drive_deferred(int fd, struct socket_entry *entry, uint32_t fingerprint)
{
	struct attempt try;

	if (!deferred_waits(entry) || !deferred_begin(&try, fd, entry, fingerprint, 0))
		return;
	drive_check(&try);
	if (pace(&try))
		attempt_start_request(&try);
	else
		drive_must(try.told == 0 || failure_of(try.told, false),
		           "an error that the host knows");
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
		if (socket_find(fd))
			drive_deferred(fd, socket_find(fd), fingerprint);
		traffic_sent(fd, sizeof(request), 0, fingerprint);
		errno = ECONNRESET;
		traffic_received(fd, choice & 0x4000 ? -1 : 1, 1, 0, request);
	}
	attempt_end(fd);
	socket_forget(fd);
}

/* A slot in use; NULL: there is none. */
static inline struct destination *drive_slot(uint64_t choice)
{
	for (size_t i = 0; i < REGION_CHUNK; i++) {
		size_t at = (i + choice) % REGION_CHUNK;

		if (shim_region->first.keys[at] != 0)
			return &shim_region->first.destinations[at];
	}
	return NULL;
}

/* What only some attempts come by, once each. */
static inline void drive_parts(struct drive *drive, int fd)
{
	uint64_t choice = drive_next(drive, 3);
	struct destination *one = drive_slot(choice >> 8);
	const struct unanswered failure = { .owner = (int32_t)choice,
		                            .at = monotonic(),
		                            .number = (uint32_t)choice & 7,
		                            .seat = (uint8_t)choice };
	int64_t now = monotonic(), took = (int64_t)(choice & 0xff) * NS_PER_MS;
	uint64_t dice = choice + 1;
	struct account account;
	bool first;

	if (!one)
		return;
	destination_account(one, config_current(), &account);
	switch (choice % 8) {
	case 0: /* processes of a lineage, one after the other */
		(void)lineage_spins(one, now - took, now);
		lineage_failed(one, choice & 8 ? now - took : 0, now);
		lineage_held(one, now + took);
		lineage_answered(one);
		break;
	case 1: /* asked for something */
		demand_request_read(fd, choice & 8);
		(void)demand_datagram_read(fd, choice & 16);
		demand_answered(fd);
		demand_note_refusal(now);
		drive_must(demand_served(now) >= 0, "a number of requests");
		drive_must(demand_most_of(shim_region->served, now) >= 0, "a number of requests");
		break;
	case 2: /* many connections are lost at once */
		(void)spread_lost(&one->spread, took, now);
		drive_must((uint64_t)spread_delay(&one->spread, took, now, &dice) <= (uint64_t)took,
		           "a delay in its range");
		drive_must((uint64_t)spread_start(&one->starts, 3, took, now, &dice, &first) <=
		               (uint64_t)took,
		           "a delay in its range");
		break;
	case 3: /* a crowd */
		crowd_refused(&one->budget.crowd, choice & 8, now);
		drive_must(crowd_size(&one->budget.crowd, now) >= 1, "a crowd of one");
		break;
	case 4: /* a list that is full, and a destination that is back */
		failures_add(one, &failure);
		(void)failures_are_known(one);
		if (choice & 8)
			failures_forgive(one);
		break;
	case 5: /* of a failure that is seen late */
		(void)budget_failure(&account, choice & 8, now - took, now, &dice);
		budget_failed_before(&account, now - took, now);
		break;
	case 6:
		(void)budget_is_quiet(&account, now);
		(void)budget_has_rested(&account, now);
		budget_retry_after(&account, took, now);
		(void)allowance_defers(&account.budget->allowance, choice & 8,
		                       (int64_t)(choice & 0xff), now);
		break;
	default:
		(void)budget_success(&account, now);
	}
}

/* A word of the region: of the slots in use, or anywhere but in the others. */
static inline cell64 *drive_word(uint64_t choice)
{
	cell64 *words = (cell64 *)shim_region;
	size_t of_slot = sizeof(struct destination) / sizeof(cell64);
	size_t before = offsetof(struct region, first.destinations) / sizeof(cell64);
	size_t behind = offsetof(struct region, admissions) / sizeof(cell64);
	struct destination *one = choice & 1 ? NULL : drive_slot(choice >> 16);
	size_t at = choice >> 1;

	if (one)
		return (cell64 *)one + at % of_slot;
	at %= before + sizeof(struct region) / sizeof(cell64) - behind;
	return &words[at < before ? at : behind + at - before];
}

/* Words of one slot by which time is told, or a count kept. */
static inline cell64 *drive_moment(struct destination *one, uint64_t choice)
{
	cell64 *const cells[] = {
		&one->budget.streak,
		&one->budget.began_at,
		&one->budget.failed_at,
		&one->budget.admitted_at,
		&one->budget.wanted_at,
		&one->budget.crowd,
		&one->budget.alone_at,
		&one->budget.due_at,
		&one->budget.drawn_at,
		&one->budget.last_delay,
		&one->budget.delay_before,
		&one->budget.not_before,
		&one->budget.retry_after,
		&one->budget.ramp.step,
		&one->budget.ramp.counts,
		&one->budget.breaker.state,
		&one->budget.allowance.answered_at,
		&one->budget.allowance.failed_at,
		&one->budget.allowance.failed,
		&one->budget.allowance.usual,
		&one->budget.allowance.before,
		&one->kin[choice % REGION_KIN],
		&one->kin_rows[choice % REGION_KIN_ROWS],
		&one->failures[choice % REGION_FAILURES],
		&one->details[choice % REGION_FAILURES],
		&one->unclaimed,
		&one->unclaimed_at,
		&one->starts,
		&one->deferred_now,
		&one->spread.counted,
		&one->spread.usual,
		&one->spread.began,
		&one->spread.left,
		&one->refused_now,
		&one->parked_now,
		&one->pause,
		&one->answer_time,
		&one->failing_time,
		&one->last_unmet,
		&shim_region->refused_in,
		&shim_region->served[choice & 1],
		&shim_region->parents[choice % REGION_PARENTS],
	};

	return cells[(choice >> 16) % (sizeof(cells) / sizeof(*cells))];
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

/* kind: half of all words are of those by which time is told. */
static inline void drive_corrupt(uint64_t where, uint64_t kind, uint64_t bits)
{
	struct destination *one = kind & 0x80 ? drive_slot(where >> 16) : NULL;
	cell64 *word = one ? drive_moment(one, where ^ bits >> 32) : drive_word(where);

	atomic_store_explicit(word, drive_value(kind, bits), memory_order_relaxed);
}

/* Goes through all bytes. fd: a stream socket that blocks, and is not connected. */
static inline void drive_run(const uint8_t *bytes, size_t n, int fd)
{
	struct drive drive = { bytes, n };
	uint64_t where, kind;

	while (drive.left > 0) {
		switch (drive_next(&drive, 1) % 8) {
		case 0:
		case 4:
			drive_lookup(&drive);
			break;
		case 1:
		case 5:
			drive_connect(&drive, fd);
			break;
		case 6:
			drive_parts(&drive, fd);
			break;
		default:
			where = drive_next(&drive, 4);
			kind = drive_next(&drive, 1);
			drive_corrupt(where, kind, drive_next(&drive, 4));
		}
	}
}

#endif
