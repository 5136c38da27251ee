/* SPDX-License-Identifier: MIT */
/* `retrybudget stat --json`: one object, of which each region is written as soon as it is read. */
#include "tool/stat_json.h"

#include "region/sites.h"
#include "report/record.h"
#include "tool/stat.h"
#include "tool/stat_facts.h"
#include "tool/stat_lease.h"

#ifdef WITHOUT_JANSSON
const struct printer stat_json = { 0 };
#else

#include "tool/json_put.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static size_t written;

/* Ticks after boot as seconds of the epoch. */
static int64_t epoch_of(int64_t ticks)
{
	struct timespec now, since_boot;
	int64_t each = sysconf(_SC_CLK_TCK);

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &since_boot);
	return now.tv_sec - since_boot.tv_sec + ticks / (each > 0 ? each : 100);
}

static json_t *kinds(const cell64 counts[2])
{
	json_t *object = json_object();

	put(object, "first", LOAD(counts[0]));
	put(object, "retry", LOAD(counts[1]));
	return object;
}

static json_t *times_json(const struct times *times)
{
	json_t *object = json_object(), *counts = json_array();

	for (int i = 0; i < REGION_TIMES; i++)
		json_array_append_new(counts, json_integer(LOAD(times->counts[i])));
	json_object_set_new(object, "sum_ms",
	                    json_real((double)LOAD(times->sum) / (double)NS_PER_MS));
	json_object_set_new(object, "counts", counts);
	return object;
}

static void put_tally(json_t *object, const struct tally *tally)
{
	static const char *const statuses[STATUS_PLACES] = { "429", "500", "502",
		                                             "503", "504", "other" };
	json_t *failures = json_object(), *codes = json_object(), *breaker = json_object();

	put(object, "attempts", LOAD(tally->attempts));
	put(object, "retries", LOAD(tally->retries));
	put(object, "successes", LOAD(tally->successes));
	put(object, "held", LOAD(tally->held));
	put(object, "refused", LOAD(tally->refused));
	put(object, "probes", LOAD(tally->probes));
	put(object, "mistaken", LOAD(tally->mistaken));
	put(object, "avoided", LOAD(tally->avoided));
	put(object, "parked", LOAD(tally->parked));
	put(object, "exhausted", LOAD(tally->exhausted));
	put(object, "evicted", LOAD(tally->evicted));
	json_object_set_new(object, "answered", kinds(tally->answered));
	json_object_set_new(object, "failed", kinds(tally->failed));
	for (int i = FAILURE_NONE + 1; i < FAILURE_COUNT; i++)
		put(failures, failure_name((enum failure)i), LOAD(tally->failures[i]));
	json_object_set_new(object, "failures", failures);
	for (int i = 0; i < STATUS_PLACES; i++)
		put(codes, statuses[i], LOAD(tally->statuses[i]));
	json_object_set_new(object, "statuses", codes);
	put(breaker, "opened", LOAD(tally->breaker[0]));
	put(breaker, "half_opened", LOAD(tally->breaker[1]));
	put(breaker, "closed", LOAD(tally->breaker[2]));
	json_object_set_new(object, "breaker", breaker);
	json_object_set_new(object, "waits", times_json(&tally->waits));
	json_object_set_new(object, "delays", times_json(&tally->delays));
	json_object_set_new(object, "recoveries", times_json(&tally->recoveries));
}

static void put_tokens(json_t *object, const struct bucket *bucket)
{
	int64_t tokens, capacity;
	bool known = stat_tokens(bucket, &tokens, &capacity);

	json_object_set_new(object, "tokens",
	                    known ? json_real((double)tokens / 1000) : json_null());
	json_object_set_new(object, "capacity",
	                    known ? json_real((double)capacity / 1000) : json_null());
}

static void put_lease(json_t *object, const struct destination *one)
{
	const struct lease *lease = &one->budget.lease;
	json_t *its = json_object();
	struct lease_view view;
	int64_t now;

	if (!stat_is_leased(one)) {
		json_object_set_new(object, "lease", json_null());
		json_decref(its);
		return;
	}
	now = stat_lease(one, &view);
	json_object_set_new(its, "lives", json_boolean(view.lives));
	put_thousandths(its, "tokens", view.left);
	put_thousandths(its, "amount", view.amount);
	put(its, "probes", view.probes);
	put(its, "generation", view.generation);
	put(its, "members", view.members);
	json_object_set_new(its, "seconds",
	                    json_real(view.lives ? (double)(view.until - now) / NS_PER_S : 0));
	json_object_set_new(its, "news_seconds",
	                    view.news_at > 0 ? json_real((double)(now - view.news_at) / NS_PER_S)
	                                     : json_null());
	put(its, "hosts_waiting", view.waiting);
	put_thousandths(its, "spent", greater(LOAD(lease->spent), 0));
	put(its, "probed", greater(LOAD(lease->probed), 0));
	json_object_set_new(object, "lease", its);
}

static void put_sites(json_t *object, const struct destination *one)
{
	json_t *list = json_array();

	for (int i = 0; i < REGION_SITES; i++) {
		const char *site = site_get(one, i);

		if (site)
			json_array_append_new(list, json_string(family_text(site, REGION_SITE)));
	}
	json_object_set_new(object, "sites", list);
}

struct json_t *stat_json_destination(const struct destination *one)
{
	json_t *object = json_object();
	int64_t last = LOAD(one->last_failure), streak = LOAD(one->budget.streak);

	put_text(object, "name", family_text(one->name, REGION_NAME));
	put_text(object, "policy", family_text(one->policy, REGION_LABEL));
	put_tally(object, &one->tally);
	put_tokens(object, &one->budget.bucket);
	put_lease(object, one);
	put_sites(object, one);
	put(object, "streak", greater(streak, 0));
	put_text(object, "last_failure",
	         last > 0 && last < FAILURE_COUNT ? failure_name((enum failure)last) : NULL);
	return object;
}

void stat_json_totals(struct json_t *object, const struct region *region)
{
	json_t *totals = json_object();

	put_tally(totals, &region->tally);
	put_tokens(totals, &region->process);
	json_object_set_new(object, "totals", totals);
}

static void put_region(json_t *object, const struct family *family)
{
	const struct snapshot *snapshot = family->snapshot;
	const struct region *region = snapshot->region;
	const struct region_identity *identity = &region->identity;
	json_t *maker = json_object(), *list = json_array();
	int64_t hash = LOAD(identity->config_hash);
	size_t pending;

	put_text(object, "version", family_text(identity->version, REGION_VERSION));
	put_text(object, "mode", stat_mode(LOAD(identity->mode)));
	put_text(object, "set", stat_set(family, &pending));
	put(object, "set_pending", (int64_t)pending);
	put_text(object, "scope", stat_scope(LOAD(identity->scope)));
	put_text(object, "config", family_text(identity->config, REGION_PATH));
	if (hash) {
		char text[16];

		(void)snprintf(text, sizeof(text), "%08" PRIx32, (uint32_t)hash);
		put_text(object, "config_hash", text);
	} else {
		put_text(object, "config_hash", NULL);
	}
	put(maker, "pid", LOAD(identity->pid));
	put(maker, "started", epoch_of(LOAD(identity->started)));
	put_text(maker, "program", family_text(identity->program, REGION_PROGRAM));
	json_object_set_new(object, "maker", maker);
	put(object, "lost_records", LOAD(region->lost_records));
	put(object, "faults", LOAD(region->faults));
	stat_json_totals(object, region);
	for (int i = 0; i < snapshot->slot_count; i++)
		json_array_append_new(list, stat_json_destination(&snapshot->destinations[i]));
	json_object_set_new(object, "destinations", list);
}

static void begin(void)
{
	written = 0;
	fputs("{\"regions\": [", stdout);
}

static void print_family(const struct family *family)
{
	const struct snapshot *snapshot = family->snapshot;
	json_t *object = json_object(), *pids = json_array();

	for (size_t i = 0; i < family->count; i++)
		json_array_append_new(pids, json_integer(family->members[i].pid));
	json_object_set_new(object, "pids", pids);
	put_text(object, "program", family_program(family));
	put(object, "user", family->members[0].user);
	put_text(object, "state", snapshot_word(snapshot));
	if (snapshot->state == SNAPSHOT_GOOD)
		put_region(object, family);
	else
		put_text(object, "message", snapshot_sentence(snapshot));
	fputs(written++ ? ",\n" : "\n", stdout);
	json_dumpf(object, stdout, JSON_COMPACT);
	json_decref(object);
}

static void end(size_t unreadable)
{
	printf("%s],\n\"unreadable\": %zu}\n", written ? "\n" : "", unreadable);
}

const struct printer stat_json = { begin, print_family, end };
#endif
