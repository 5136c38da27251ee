/* SPDX-License-Identifier: MIT */
/* `retrybudget share ls|show --json`. */
#include "tool/share_json.h"

#ifdef WITHOUT_JANSSON
bool share_json_built(void)
{
	return false;
}

void share_json_begin(void)
{
}

void share_json_add(const struct share *share, const struct snapshot *snapshot,
                    const struct processes *processes, size_t attached, bool whole)
{
	(void)share;
	(void)snapshot;
	(void)processes;
	(void)attached;
	(void)whole;
}

bool share_json_end(size_t closed)
{
	(void)closed;
	return false;
}
#else

#include "tool/json_put.h"
#include "tool/share_users.h"
#include "tool/stat_json.h"

#include <jansson.h>
#include <stdio.h>

static bool written, failed;

bool share_json_built(void)
{
	return true;
}

void share_json_begin(void)
{
	written = failed = false;
	fputs("{\"shares\": [", stdout);
}

static void put_users(json_t *object, const struct share *share, const struct processes *processes,
                      size_t attached)
{
	json_t *pids = json_array();

	for (size_t i = 0; i < processes->count; i++)
		if (share_is_mapped(share, &processes->list[i]))
			json_array_append_new(pids, json_integer(processes->list[i].pid));
	put(object, "processes", (int64_t)attached);
	json_object_set_new(object, "pids", pids);
}

void share_json_add(const struct share *share, const struct snapshot *snapshot,
                    const struct processes *processes, size_t attached, bool whole)
{
	const char layout[] = { share->layout, '\0' };
	json_t *object = json_object(), *list = json_array();

	put_text(object, "owner", share->owner);
	put_text(object, "name", share->name);
	put_text(object, "path", share->path);
	put_text(object, "layout", layout);
	put(object, "network_namespace", (int64_t)share->network);
	json_object_set_new(object, "elsewhere", json_boolean(share->is_elsewhere));
	put_users(object, share, processes, attached);
	put_text(object, "state", snapshot_word(snapshot));
	if (snapshot->state == SNAPSHOT_GOOD) {
		put(object, "destination_count", snapshot->slot_count);
		stat_json_totals(object, snapshot->region);
		for (int i = 0; whole && i < snapshot->slot_count; i++)
			json_array_append_new(list,
			                      stat_json_destination(&snapshot->destinations[i]));
		if (whole)
			json_object_set(object, "destinations", list);
	} else {
		put_text(object, "message", share_sentence(snapshot));
	}
	fputs(written ? ",\n" : "\n", stdout);
	written = true;
	failed |= !object || json_dumpf(object, stdout, JSON_COMPACT) != 0;
	json_decref(list);
	json_decref(object);
}

bool share_json_end(size_t closed)
{
	printf("%s],\n\"unreadable\": %zu}\n", written ? "\n" : "", closed);
	return fflush(stdout) == 0 && !failed;
}
#endif
