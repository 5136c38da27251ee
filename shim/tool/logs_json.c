/* SPDX-License-Identifier: MIT */
/* The same as JSON: all sums as one object, or each record as a line. */
#include "tool/logs_json.h"

#include "tool/logs_findings.h"
#include "tool/logs_site.h"
#include "tool/logs_time.h"

#ifdef WITHOUT_JANSSON

bool log_json_sums(FILE *out, const struct log_sums *sums, unsigned tables, const char *directory)
{
	(void)out;
	(void)sums;
	(void)tables;
	(void)directory;
	return false;
}

bool log_json_entry(FILE *out, const struct log_entry *entry)
{
	(void)out;
	(void)entry;
	return false;
}

#else

#include "tool/json_put.h"

static void put_known(json_t *object, const char *key, const char *text)
{
	if (text[0])
		put_text(object, key, text);
}

/* In seconds since 1970. */
static void put_time(json_t *object, const char *key, int64_t when)
{
	if (when > 0)
		json_object_set_new(object, key, json_real((double)when / (double)US_PER_S));
}

static void put_row(json_t *object, const struct log_row *row)
{
	put(object, "records", row->records);
	put(object, "attempts", row->attempts);
	put(object, "throttled", row->throttled);
	put(object, "would_throttle", row->would);
	put(object, "refused", row->refused);
	put(object, "parked", row->parked);
	put(object, "held", row->held);
	put(object, "waited_ms", row->waited_ms);
	put(object, "exhausted", row->exhausted);
	put(object, "recovered", row->recovered);
}

static json_t *table_json(const struct log_rows *table, const char *key)
{
	json_t *array = json_array();

	for (size_t i = 0; i < table->count; i++) {
		json_t *object = json_object();

		put_known(object, key, table->rows[i]->key);
		put_row(object, table->rows[i]);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *loop_json(const struct log_loop *loop, const char *directory)
{
	struct log_finding findings[LOG_FINDINGS];
	size_t count = log_findings(loop, findings);
	json_t *object = json_object(), *array = json_array();

	put_known(object, "program", loop->program);
	put_known(object, "destination", loop->destination);
	put_known(object, "class", loop->class);
	put_known(object, "site", loop->site);
	put_known(object, "function", log_site_name(loop->site, directory));
	put(object, "retries_in_a_row", loop->in_a_row);
	if (loop->tries > 0)
		json_object_set_new(object, "ms_per_try",
		                    json_real((double)loop->own_ms / (double)loop->tries));
	put_row(object, &loop->row);
	for (size_t i = 0; i < count; i++) {
		json_t *finding = json_object();

		put_known(finding, "name", findings[i].name);
		put_known(finding, "text", findings[i].text);
		json_array_append_new(array, finding);
	}
	json_object_set_new(object, "findings", array);
	return object;
}

static bool write_out(FILE *out, json_t *object)
{
	bool good = object && json_dumpf(object, out, JSON_COMPACT) == 0 && putc('\n', out) != EOF;

	json_decref(object);
	return good;
}

bool log_json_sums(FILE *out, const struct log_sums *sums, unsigned tables, const char *directory)
{
	json_t *object = json_object(), *loops = json_array();
	static const char *const names[LOG_TABLES] = { "destinations", "programs", "sites",
		                                       "hours" };

	put(object, "records", sums->records);
	put(object, "other_lines", sums->not_understood);
	put_time(object, "from", sums->first);
	put_time(object, "to", sums->last);
	for (int i = 0; i < LOG_TABLES; i++)
		if (tables & 1U << i)
			json_object_set_new(object, names[i],
			                    table_json(&sums->tables[i], log_table_names[i]));
	for (size_t i = 0; i < sums->loop_count; i++)
		json_array_append_new(loops, loop_json(sums->loops[i], directory));
	json_object_set_new(object, "loops", loops);
	return write_out(out, object);
}

bool log_json_entry(FILE *out, const struct log_entry *entry)
{
	json_t *object = json_object();

	put_time(object, "time", entry->when);
	put(object, "pid", entry->pid);
	put_known(object, "event", entry->event);
	put_known(object, "program", entry->program);
	put_known(object, "destination", entry->destination);
	put_known(object, "policy", entry->policy);
	put_known(object, "class", entry->class);
	put_known(object, "why", entry->why);
	put_known(object, "error", entry->error);
	put_known(object, "site", entry->site);
	put(object, "retry", entry->retry);
	put(object, "attempts", entry->attempts);
	put(object, "throttled", entry->throttled);
	put(object, "refused", entry->refused);
	put(object, "parked", entry->parked);
	put(object, "held", entry->held);
	put(object, "waited_ms", entry->waited_ms);
	put(object, "since_ms", entry->since_ms);
	return write_out(out, object);
}

#endif
