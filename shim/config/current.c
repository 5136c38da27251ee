/* SPDX-License-Identifier: MIT */
/*
 * The configuration of this process, and how a changed file takes its place.
 *
 * Three slots: the one in force, the one before it, which other threads may still be reading, and a
 * spare one that the next load fills. All of it is static and stays untouched, and so costs no
 * memory, until a file needs it. There is no lock: the clock elects the thread that looks, and a
 * claim that its owner never gave back (a handler that jumped away) runs out.
 */
#include "config/current.h"

#include "config/complaints.h"
#include "config/modes.h"
#include "config/read.h"
#include "config/value_words.h"
#include "sys/forks.h"
#include "sys/real.h"
#include "sys/shelter.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS         3
#define CLAIM_EXPIRES (60 * NS_PER_S)
#define SETTLED_AFTER 2 /* s: a file younger than this may change again within its mtime's tick */
/* Between two changes of the mode: who reads a slot that a third one fills reads a mixture. */
#define STEER_PAUSE (250 * NS_PER_MS)

static struct config slots[SLOTS];
_Atomic(const struct config *) config_in_force;

static cell64 checked_at; /* ns */
static cell64 steered_at; /* ns, 0 = never */
static cell64 claimed_at; /* ns, 0 = nobody is loading */

/* Read from the environment in the constructor, the only place where getenv() is safe: a program
 * that calls setenv() in one thread moves the list under everybody else. Kept for every load. */
static struct {
	bool named; /* by the environment: a missing file is worth a complaint */
	bool secure;
	bool to_stderr;
	bool overridden; /* or the rest of it is never touched */
	int32_t mode;
	char path[PATH_MAX];
	char overrides[OVERRIDES_MAX];
} ask;

/* What config_steer() was told last: over the environment. Written under the claim. */
static int32_t steered = MODE_AS_IN_FILE;

/* What the configuration in force was read from. Written under the claim. */
static struct {
	struct identity identity;
	uint32_t fingerprint;
	bool unsettled;  /* to be read again although it looks unchanged */
	bool complained; /* about a file that is gone or cannot be used */
} seen;

static void complain(void *arg, const char *file, int line, const char *message)
{
	(void)arg;
	complaint_add(file, line, message);
}

/* A program that changes its directory must not change its configuration. */
static void keep_path(const char *path)
{
	size_t n = strlen(path), used = 0;

	if (path[0] != '/' && getcwd(ask.path, sizeof(ask.path) - 1)) {
		used = strlen(ask.path);
		ask.path[used++] = '/';
	}
	if (n >= sizeof(ask.path) - used) {
		complaint_add("environment", 0, "RETRYBUDGET_CONFIG is too long a path");
		return;
	}
	memcpy(ask.path + used, path, n + 1);
	ask.named = true;
}

/* In the constructor alone: later the program may be changing it in another thread. */
static void read_environment(void)
{
	const char *value = getenv("RETRYBUDGET_CONFIG");

	if (value && *value)
		keep_path(value);
	value = getenv("RETRYBUDGET");
	if (value && *value && !word_parse(TYPE_MODE, value, &ask.mode))
		complaint_add("environment", 0,
		              "RETRYBUDGET is not one of: enforce | observe | off");
	value = getenv(OVERRIDES_VARIABLE);
	if (value && *value && strlen(value) < sizeof(ask.overrides)) {
		memcpy(ask.overrides, value, strlen(value) + 1);
		ask.overridden = true;
	}
	value = getenv("RETRYBUDGET_LOG");
	if (value && strcmp(value, "stderr") == 0)
		ask.to_stderr = true;
	else if (value && *value)
		complaint_add("environment", 0, "RETRYBUDGET_LOG can only be: stderr");
}

static bool is_young(const struct identity *identity)
{
	struct timespec now;

	libc_own.clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec - identity->sec < SETTLED_AFTER;
}

static int32_t asked_mode(void)
{
	return steered == MODE_AS_IN_FILE ? ask.mode : steered;
}

/* Reads the file into a slot. known: a content that need not be read again, or NULL. */
static enum reading_result load(struct config *config, const uint32_t *known)
{
	struct source source = {
		.file = ask.path,
		.missing_ok = !ask.named,
		.owned_by_root = ask.secure || geteuid() == 0,
		.mode = asked_mode(),
		.known = known,
		.overrides = ask.overridden ? ask.overrides : NULL,
		.complain = complain,
	};
	struct identity identity;
	uint32_t fingerprint;
	enum reading_result result = config_read_source(config, &source, &identity, &fingerprint);

	if (result != READING_FAILED && result != READING_MISSING) {
		seen.identity = identity;
		seen.fingerprint = fingerprint;
		seen.unsettled = is_young(&identity);
		seen.complained = false;
	}
	if (result == READING_THE_SAME)
		return result;
	if (ask.to_stderr)
		config->log.target = LOG_TARGET_STDERR;
	config->fingerprint =
	    result == READING_FAILED || result == READING_MISSING ? 0 : fingerprint;
	return result;
}

const struct config *config_start(bool secure)
{
	ask.secure = secure;
	ask.named = ask.to_stderr = ask.overridden = false;
	ask.mode = steered = MODE_AS_IN_FILE;
	memset(&seen, 0, sizeof(seen));
	atomic_store(&claimed_at, 0);
	atomic_store(&steered_at, 0);
	atomic_store(&checked_at, monotonic());
	if (!secure)
		read_environment();
	if (!ask.named)
		memcpy(ask.path, CONFIG_SYSTEM_FILE, sizeof(CONFIG_SYSTEM_FILE));
	seen.complained = load(&slots[0], NULL) == READING_FAILED;
	slots[0].serial = 1;
	atomic_store(&config_in_force, &slots[0]);
	return &slots[0];
}

const char *config_file(void)
{
	return ask.path;
}

bool config_has_mode_of_file(void)
{
	return asked_mode() == MODE_AS_IN_FILE;
}

bool config_asked_off(void)
{
	return ask.mode == MODE_OFF;
}

/* Elects one thread per interval, by the time. */
static bool is_due(const struct config *config, int64_t now)
{
	int64_t last = LOAD(checked_at);

	if (config->general.reload == 0 || (now >= last && now - last < config->general.reload))
		return false;
	return atomic_compare_exchange_strong(&checked_at, &last, now) && now >= last;
}

static bool claim(int64_t now)
{
	int64_t since = atomic_load(&claimed_at);

	if (since != 0 && now - since < CLAIM_EXPIRES)
		return false;
	return atomic_compare_exchange_strong(&claimed_at, &since, now ? now : 1);
}

static struct config *spare_of(const struct config *old)
{
	return &slots[(old - slots + 1) % SLOTS];
}

static void put_in_force(struct config *spare, const struct config *old)
{
	spare->serial = old->serial + 1;
	STORE_RELEASE(config_in_force, spare);
}

/* Loads a changed file into the spare slot. Returns true if it is in force now. */
static bool look(const struct config *old)
{
	struct config *spare = spare_of(old);
	struct identity identity;
	uint32_t known = seen.fingerprint;
	bool was_read = seen.identity.ino != 0, muted = seen.complained;
	enum reading_result result;
	int before;

	if (!file_identify(ask.path, &identity)) {
		if (was_read && !muted)
			complaint_add(
			    ask.path, 0,
			    "has gone; what it said last stays in force until it is back");
		seen.complained = seen.complained || was_read;
		return false;
	}
	if (identity_equal(&identity, &seen.identity) && !seen.unsettled && !muted)
		return false;
	before = complaints_count();
	result = load(spare, was_read ? &known : NULL);
	if (result == READING_FAILED) {
		seen.complained = true;
		if (muted)
			complaints_forget(before);
	}
	if (result != READING_GOOD && result != READING_FLAWED)
		return false;
	put_in_force(spare, old);
	return true;
}

bool config_refresh(int64_t now, bool *looked)
{
	const struct config *config = config_current();
	struct shelter shelter;
	forks_held held;
	bool loaded;

	*looked = false;
	if (!config || !is_due(config, now))
		return false;
	/* Neither the open file nor the claim may be left behind by a handler that jumps. */
	shelter_enter(&shelter);
	if (!claim(now)) {
		shelter_leave(&shelter);
		return false;
	}
	loaded = forks_hold(&held) && look(config_current());
	forks_let(held);
	atomic_store(&claimed_at, 0);
	*looked = true;
	shelter_leave(&shelter);
	return loaded;
}

/* Whatever becomes of the file, the mode is taken. */
static enum config_reply change(const struct config *old, bool reload)
{
	struct config *spare = spare_of(old);
	enum reading_result result = reload ? load(spare, NULL) : READING_THE_SAME;
	bool was_read = result == READING_GOOD || result == READING_FLAWED;

	if (!was_read) {
		*spare = *old;
		modes_settle(spare, asked_mode());
	}
	put_in_force(spare, old);
	if (!reload || result == READING_GOOD)
		return CONFIG_TAKEN;
	if (result == READING_MISSING && old->fingerprint == 0)
		return CONFIG_ABSENT;
	return was_read ? CONFIG_FLAWED : CONFIG_UNREAD;
}

enum config_reply config_steer(int32_t mode, bool reload, int64_t now)
{
	const struct config *config = config_current();
	int64_t last = LOAD(steered_at);
	enum config_reply reply = CONFIG_LATER;
	struct shelter shelter;
	forks_held held;

	if (!config || (last != 0 && now >= last && now - last < STEER_PAUSE))
		return CONFIG_LATER;
	shelter_enter(&shelter);
	if (!claim(now)) {
		shelter_leave(&shelter);
		return CONFIG_LATER;
	}
	if (forks_hold(&held)) {
		steered = mode;
		reply = change(config_current(), reload);
		STORE(steered_at, now ? now : 1);
	}
	forks_let(held);
	atomic_store(&claimed_at, 0);
	shelter_leave(&shelter);
	return reply;
}
